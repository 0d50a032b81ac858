"""The judge of multiple choice: sets of letters, and never a guess."""

from __future__ import annotations

from typing import Any

import pytest

from basanite.errors import RowError, UnscoredReason
from basanite.judges import CHOICE_SCORES, ChoiceJudge, ChoiceKey, Judge
from basanite.schema import Judgment
from support.choices import choice_answer


async def judged(**fields: Any) -> Judgment:
    return await ChoiceJudge().judge(choice_answer(**fields))


def values(judgment: Judgment) -> list[float | None]:
    return [judgment.scores[name].value for name in CHOICE_SCORES]


async def test_letters_become_scores() -> None:
    found = await judged(answer="The answers are B, C and D.", truth="A,B")
    assert found.primary == "accuracy"
    assert values(found) == [0, 0.5, pytest.approx(1 / 3), 0.4]
    assert found.choice is not None
    assert (found.choice.chosen, found.choice.right) == (("B", "C", "D"), ("A", "B"))
    assert found.choice.options == 4
    assert found.message is None
    assert found.final


@pytest.mark.parametrize(
    ("answer", "truth", "value"), [("none", "none", 1), ("none", "B", 0), ("B", "none", 0)]
)
async def test_empty_sets_have_scores(answer: str, truth: str, value: float) -> None:
    assert values(await judged(answer=answer, truth=truth)) == [value] * 4


@pytest.mark.parametrize(
    ("fields", "reason", "said"),
    [
        ({"answer": "B cells grow"}, UnscoredReason.AMBIGUOUS_CHOICE, "states no letters"),
        ({"answer": "Answer: E"}, UnscoredReason.AMBIGUOUS_CHOICE, "not among the options"),
        ({"answer": " "}, UnscoredReason.EMPTY_ANSWER, "white space"),
        ({"truth": "B or C"}, UnscoredReason.INVALID_ROW, "'q0': the truth can't be used"),
        ({"truth": "E"}, UnscoredReason.INVALID_ROW, "not among the options"),
        ({"options": None}, UnscoredReason.INVALID_ROW, "'q0': has no options"),
    ],
)
async def test_what_has_no_score_says_why(
    fields: dict[str, object], reason: UnscoredReason, said: str
) -> None:
    found = await judged(**fields)
    assert {score.unscored_reason for score in found.scores.values()} == {reason}
    assert found.choice is None
    assert said in (found.message or "")
    assert found.final


def test_a_key_names_the_row() -> None:
    with pytest.raises(RowError, match="row with id 'q7'"):
        ChoiceKey.of(choice_answer(7, truth="the second one"))


def test_it_is_a_judge_with_a_stable_fingerprint() -> None:
    judge = ChoiceJudge()
    assert isinstance(judge, Judge)
    assert judge.score_names == CHOICE_SCORES
    assert judge.fingerprint == ChoiceJudge().fingerprint
