"""Made-up question files in HeurekaBench's forms, and results on them."""

from __future__ import annotations

from typing import Any

from basanite.suites.heureka import QuestionSet, question_set

RAW_OPEN = """**Question1:** Which cells grow?

**Answer1:** Cells of kind *b* grow: 2) by half, and A) twice as fast.

**Question3:** And which fall?
With all their kinds?

**Answer3:** None of them."""

RAW_CHOICE = """**Question1:** Which two?
A) alpha

B)beta
  and more
C) gamma

**Answer1:**A,C


**Question2:** Which one?
A) up
B) down
**Answer2:** B"""


def entry(**questions: str) -> dict[str, Any]:
    """One insight as a file has it."""
    return {
        "summary": "Something grows.",
        "how": "It was counted.",
        "relevant": '"It grows (Fig. 1)."',
        "data": {"data/one.h5ad": "all cells"},
        **questions,
    }


def open_file() -> dict[str, Any]:
    """Two papers, three insights, four open questions."""
    one = "**Question1:** What changes?\n\n**Answer1:** The share of p cells."
    return {
        "paper1": {"insight #1": entry(oe_question=RAW_OPEN), "insight #4": entry(oe_question=one)},
        "paper2": {"insight #5": entry(oe_question=one) | {"doi": ["10.1/x"]}},
    }


def choice_file() -> dict[str, Any]:
    """Three papers with two multiple-choice questions each."""
    return {f"paper{n}": {"insight #1": entry(mcq_question=RAW_CHOICE)} for n in (1, 2, 3)}


def open_questions() -> QuestionSet:
    """The questions of `open_file`."""
    return question_set(open_file())


def choice_questions() -> QuestionSet:
    """The questions of `choice_file`."""
    return question_set(choice_file())
