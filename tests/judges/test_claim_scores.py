"""Scores of the claims judge: equal to the published ones where defined, a reason elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import UnscoredReason
from basanite.judges import (
    CLAIM_SCORES,
    ClaimOutcomes,
    Outcome,
    claim_scores,
    ragchecker_metrics,
    unscored,
)
from basanite.schema import Label, Score

E, N, C = Label.ENTAILED, Label.NEUTRAL, Label.CONTRADICTED
PUBLISHED = {E: "Entailment", N: "Neutral", C: "Contradiction"}


def value(scores: dict[str, Score], name: str) -> float | UnscoredReason | None:
    score = scores[name]
    return score.value if score.unscored_reason is None else score.unscored_reason


@st.composite
def outcomes(draw: st.DrawFn, least: int = 1) -> ClaimOutcomes:
    n, m, k = (draw(st.integers(least, 5)) for _ in range(3))

    def row(size: int) -> list[Label]:
        return draw(st.lists(st.sampled_from([E, N, C]), min_size=size, max_size=size))

    return ClaimOutcomes(row(n), row(m), [row(k) for _ in range(n)], [row(k) for _ in range(m)])


def published(x: ClaimOutcomes) -> dict[str, float]:
    def flat(labels: object) -> list[str]:
        return [PUBLISHED[label] for label in labels]  # type: ignore[attr-defined]

    return ragchecker_metrics(
        flat(x.answer),
        flat(x.truth),
        [flat(row) for row in x.truth_contexts],
        [flat(row) for row in x.answer_contexts],
    )


@given(outcomes())
def test_equal_to_the_published_definition_where_every_denominator_is_there(
    x: ClaimOutcomes,
) -> None:
    ours = claim_scores(x)
    theirs = published(x)
    assert list(ours) == list(CLAIM_SCORES)
    for name in CLAIM_SCORES:
        if name == "context_utilization" and theirs["claim_recall"] == 0:
            assert ours[name].unscored_reason is UnscoredReason.UNDEFINED
        else:
            assert ours[name].value == pytest.approx(theirs[name]), name


@given(outcomes(least=0))
def test_a_number_is_never_made_of_nothing(x: ClaimOutcomes) -> None:
    ours = claim_scores(x)
    for name, score in ours.items():
        assert (score.value is None) != (score.unscored_reason is None), name
        assert score.value is None or 0 <= score.value <= 1
    if not x.answer:
        assert value(ours, "precision") is UnscoredReason.NO_CLAIMS
        assert value(ours, "faithfulness") is UnscoredReason.NO_CLAIMS
    if not x.truth:
        assert value(ours, "recall") is UnscoredReason.NO_CLAIMS


def test_an_answer_that_states_nothing_does_not_escape_the_mean() -> None:
    scores = claim_scores(ClaimOutcomes(answer=[], truth=[N, C]))
    assert value(scores, "f1") == 0.0
    assert value(scores, "recall") == 0.0
    assert value(scores, "precision") is UnscoredReason.NO_CLAIMS


@pytest.mark.parametrize(
    ("answer", "truth", "f1"),
    [
        ([], [E, N], UnscoredReason.NO_CLAIMS),
        ([], [], UnscoredReason.NO_CLAIMS),
        ([N], [], UnscoredReason.NO_CLAIMS),
        ([N], [C], 0.0),
        ([E, N], [E, E], 2 * 0.5 * 1 / 1.5),
        ([E, UnscoredReason.IDS_MISSING], [E], UnscoredReason.IDS_MISSING),
        ([E], [UnscoredReason.TIMEOUT], UnscoredReason.TIMEOUT),
        (UnscoredReason.REPLY_CUT, [N], UnscoredReason.REPLY_CUT),
        (UnscoredReason.HTTP_ERROR, [N], UnscoredReason.HTTP_ERROR),
    ],
)
def test_f1(
    answer: list[Outcome] | UnscoredReason,
    truth: list[Outcome],
    f1: float | UnscoredReason,
) -> None:
    assert value(claim_scores(ClaimOutcomes(answer, truth)), "f1") == f1


def test_without_contexts_only_three_scores_have_values() -> None:
    scores = claim_scores(ClaimOutcomes([E, N], [E]))
    with_values = {name for name, score in scores.items() if score.value is not None}
    assert with_values == {"precision", "recall", "f1"}
    others = {value(scores, name) for name in CLAIM_SCORES if name not in with_values}
    assert others == {UnscoredReason.NO_CONTEXTS}


def test_an_empty_list_of_contexts_is_no_context() -> None:
    scores = claim_scores(ClaimOutcomes([E], [E], [[]], [[]]))
    assert value(scores, "faithfulness") is UnscoredReason.NO_CONTEXTS
    assert value(scores, "claim_recall") is UnscoredReason.NO_CONTEXTS


def test_a_missing_verdict_takes_only_the_scores_that_need_it() -> None:
    lost = UnscoredReason.REPLY_INVALID
    scores = claim_scores(ClaimOutcomes([E, C], [E], [[E], [lost]], [[E]]))
    assert value(scores, "f1") == pytest.approx(2 / 3)
    assert value(scores, "claim_recall") == 1.0
    for name in ("faithfulness", "hallucination", "self_knowledge"):
        assert value(scores, name) is lost


def test_one_direction_leaves_the_other_out() -> None:
    left_out = UnscoredReason.NOT_REQUESTED
    scores = claim_scores(ClaimOutcomes([E, N], left_out, [[E], [N]], left_out))
    assert value(scores, "precision") == 0.5
    assert value(scores, "faithfulness") == 0.5
    for name in ("recall", "f1", "claim_recall", "noise_sensitivity_in_relevant"):
        assert value(scores, name) is left_out


def test_unscored_gives_all_names_one_reason() -> None:
    scores = unscored(UnscoredReason.EMPTY_ANSWER)
    assert set(scores) == set(CLAIM_SCORES)
    assert {value(scores, name) for name in scores} == {UnscoredReason.EMPTY_ANSWER}
