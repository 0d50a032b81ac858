"""What an agent did, step by step, and its form in a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import InputError


@dataclass(frozen=True, slots=True)
class Step:
    """One message or action of an agent.

    Raises:
        InputError: its kind or its text is no text.
    """

    kind: str
    """Who speaks: `user`, `agent`, `tool`, `system`, or a name of the agent's own."""
    text: str

    def __post_init__(self) -> None:
        for name, value in (("kind", self.kind), ("text", self.text)):
            if not isinstance(value, str):
                raise InputError(
                    f"the {name} of a step is a {type(value).__name__}",
                    todo="Give texts, such as Step('tool', 'measured 2.0')",
                )


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step, or several in a row, as the critic sees them."""

    first: int
    """Number of the first step, from 1."""
    last: int
    kind: str
    text: str
    summarised: bool = False

    def __str__(self) -> str:
        numbers = str(self.first) if self.first == self.last else f"{self.first} to {self.last}"
        mark = ", summarised" if self.summarised else ""
        return f"[{numbers}, {self.kind}{mark}]\n{self.text}"


def written(steps: Iterable[ShownStep]) -> str:
    """All steps in one text, each under its number and kind."""
    return "\n\n".join(map(str, steps))
