"""What an agent is told about its plan."""

from __future__ import annotations

ASK = (
    "Before you begin: write down your plan and nothing else. Say step by step what you will look "
    "at, with which data and comparisons, and how you will check what you conclude. Call no tools "
    "and give no answer yet."
)


def carry_out(plan: str) -> str:
    """The words with which the agent begins, once its plan stands."""
    return f"Your plan has been reviewed. Carry it out now, and then give your answer.\n\n{plan}"
