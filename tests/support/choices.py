"""Multiple-choice rows for tests."""

from __future__ import annotations

from basanite.schema import Answer

OPTIONS = {
    "A": "alpha macrophages",
    "B": "T and B cells",
    "C": "VCAN⁺ (gamma) macrophages",
    "D": "Six",
}


def choice_row(number: int, **fields: object) -> dict[str, object]:
    """One valid row as a file has it; right is B."""
    given: dict[str, object] = {
        "id": f"q{number}",
        "question": f"Which cells expand in sample {number}?",
        "options": dict(OPTIONS),
        "truth": "B",
        "answer": "B",
        "task": f"sample {number // 2}",
    }
    return given | fields


def choice_answer(number: int = 0, **fields: object) -> Answer:
    """One valid row as a judge gets it."""
    return Answer.model_validate(choice_row(number, **fields))
