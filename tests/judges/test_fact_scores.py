"""The rating computed from the labels of facts, and the scores beside it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import UnscoredReason
from basanite.judges import (
    FACT_SCORES,
    FactOutcomes,
    complete_rating,
    fact_scores,
    literal_rating,
)
from basanite.schema import FactLabel, Label
from support.reference import reference

P, H, M, I = (  # noqa: E741 - the letters of the table in the module
    FactLabel.PRESENT,
    FactLabel.PARTIAL,
    FactLabel.MISSING,
    FactLabel.INCORRECT,
)
BY_WORTH = (I, M, H, P)

some_labels = st.lists(st.sampled_from(BY_WORTH), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("labels", "literal", "complete"),
    [
        ([P], 5, 5),
        ([P, P, P], 5, 5),
        ([P, P, M], 4, 4),
        ([P, M], 3, 3),
        ([P, P, I], 3, 3),
        ([P, H, H, H], 3, 3),
        ([H], 2, 2),
        ([H, M, M], 2, 2),
        ([M, M], 1, 1),
        ([I, M], 1, 1),
        # Where the rubric has a gap: mostly wrong, with something right or half right.
        ([P, I, I, M], 3, 3),
        ([P, I, I], 3, 1),
        ([H, I, I], 2, 1),
    ],
)
def test_both_rules(labels: list[FactLabel], literal: int, complete: int) -> None:
    assert literal_rating(labels) == literal
    assert complete_rating(labels) == complete


def test_a_contradiction_beside_the_facts_lowers_the_complete_rule_only() -> None:
    assert complete_rating([P, P], conflicts=1) == 3
    assert complete_rating([P, P, M], conflicts=1) == 3
    assert complete_rating([H], conflicts=2) == 2
    scores = fact_scores(FactOutcomes(truth=[P, P], answer=[Label.ENTAILED, Label.CONTRADICTED]))
    assert (scores["rating"].value, scores["rating_literal"].value) == (3, 5)


@given(some_labels)
def test_every_multiset_has_a_rating_whatever_its_order(labels: list[FactLabel]) -> None:
    for rule in (literal_rating, complete_rating):
        assert rule(labels) in {1, 2, 3, 4, 5}
        assert rule(labels) == rule(sorted(labels))


@given(some_labels, st.data())
def test_a_better_label_never_lowers_a_rating(labels: list[FactLabel], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(labels) - 1))
    better = data.draw(st.sampled_from(BY_WORTH[BY_WORTH.index(labels[place]) :]))
    raised = [*labels[:place], better, *labels[place + 1 :]]
    conflicts = data.draw(st.integers(0, 3))
    assert literal_rating(raised) >= literal_rating(labels)
    assert complete_rating(raised, conflicts) >= complete_rating(labels, conflicts)


@given(some_labels, st.integers(0, 5))
def test_conflicts_never_raise_a_rating(labels: list[FactLabel], conflicts: int) -> None:
    assert complete_rating(labels, conflicts + 1) <= complete_rating(labels, conflicts)


@given(some_labels)
def test_shares_sum_to_one(labels: list[FactLabel]) -> None:
    scores = fact_scores(FactOutcomes(truth=labels, answer=[Label.NEUTRAL]))
    shares = [scores[label.value].value or 0.0 for label in FactLabel]
    assert sum(shares) == pytest.approx(1)
    coverage = scores["coverage"].value
    assert coverage == pytest.approx((labels.count(P) + labels.count(H) / 2) / len(labels))


def test_further_findings_cost_nothing() -> None:
    few = fact_scores(FactOutcomes(truth=[P, P], answer=[Label.ENTAILED]))
    many = fact_scores(FactOutcomes(truth=[P, P], answer=[Label.ENTAILED, *[Label.NEUTRAL] * 9]))
    assert few["rating"] == many["rating"]
    assert (few["further"].value, many["further"].value) == (0, 0.9)


def test_a_missing_verdict_leaves_unscored_what_needs_it() -> None:
    cut = UnscoredReason.REPLY_CUT
    of_truth = fact_scores(FactOutcomes(truth=[P, cut], answer=[Label.NEUTRAL]))
    assert {name for name in FACT_SCORES if of_truth[name].value is None} == {
        name for name in FACT_SCORES if name not in {"further", "conflicting"}
    }
    assert of_truth["rating"].unscored_reason is cut
    of_answer = fact_scores(FactOutcomes(truth=[P], answer=[Label.NEUTRAL, cut]))
    assert of_answer["rating"].unscored_reason is cut
    assert of_answer["rating_literal"].value == 5
    assert of_answer["further"].unscored_reason is cut


def test_an_answer_without_findings_contradicts_nothing() -> None:
    scores = fact_scores(FactOutcomes(truth=[M, M], answer=[]))
    assert scores["rating"].value == 1
    assert scores["further"].unscored_reason is UnscoredReason.NO_CLAIMS


def test_a_truth_without_facts_has_no_rating() -> None:
    scores = fact_scores(FactOutcomes(truth=[], answer=[Label.NEUTRAL]))
    assert scores["rating"].unscored_reason is UnscoredReason.NO_CLAIMS
    for rule in (literal_rating, complete_rating):
        with pytest.raises(ValueError, match="without facts"):
            rule([])


def test_agreement_with_published_ratings() -> None:
    """37 answers whose facts a judge labelled and which it rated: both rules on its own labels.

    The literal rule's figures are those of an analysis of the same labels elsewhere (22, 34).
    """
    rows = json.loads(reference("heureka/judge_fact_labels.json").read_text(encoding="utf-8"))
    assert len(rows) == 37
    agreed = {}
    for rule in (literal_rating, complete_rating):
        apart = [
            abs(rule([FactLabel(label.lower()) for label in row["labels"]]) - row["rating"])
            for row in rows
        ]
        agreed[rule.__name__] = (apart.count(0), sum(one <= 1 for one in apart))
    assert agreed == {"literal_rating": (22, 34), "complete_rating": (25, 35)}
