"""What may come of a call by `run_limited`."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from ..errors import InputError

T = TypeVar("T")
LimitName = Literal["memory", "cpu", "wall", "result"]


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """The call gave a value that fits what was asked for."""

    value: T
    held: tuple[str, ...]
    """What was held beside time: `memory`, `cpu`, `file_size`, `open_files`, and where this
    machine can, `files` (none is written), `network`, `processes` (no new ones)."""


@dataclass(frozen=True, slots=True)
class LimitHit:
    """The call met a limit and was ended."""

    limit: LimitName

    def __str__(self) -> str:
        return f"it met its limit of {_WORDS[self.limit]}"


@dataclass(frozen=True, slots=True)
class Raised:
    """The call raised an exception; its words may stem from the hostile input."""

    type: str
    message: str

    def __str__(self) -> str:
        return f"it raised {self.type}: {self.message}"


@dataclass(frozen=True, slots=True)
class Crashed:
    """The child ended without an answer: a crash of native code, most often."""

    signal: int | None
    """None where it ended by itself, with `exit_code`."""
    exit_code: int | None = None
    said: str = field(default="", repr=False)
    """The end of its stderr."""

    def __str__(self) -> str:
        if self.signal is None:
            return f"its process ended with exit code {self.exit_code} and no answer"
        return f"its process was ended by {_signal_name(self.signal)}"


@dataclass(frozen=True, slots=True)
class Invalid:
    """The call gave something else than what was asked for."""

    why: str

    def __str__(self) -> str:
        return f"it gave something else than was asked for: {self.why}"


Outcome = Returned[T] | LimitHit | Raised | Crashed | Invalid

_WORDS = {
    "memory": "memory",
    "cpu": "CPU time",
    "wall": "time",
    "result": "the size of a result",
}


def value_of(outcome: Outcome[T], *, where: str) -> T:
    """Give the value of a call.

    Args:
        outcome: what `run_limited` gave.
        where: the file that was read, for the message.

    Raises:
        InputError: there is none; the text says why.
    """
    if isinstance(outcome, Returned):
        return outcome.value
    raise InputError(
        f"the file can't be read: {outcome}",
        where=where,
        todo="Check that the file is whole; raise the limits if it is known to be good.",
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


__all__ = ["Crashed", "Invalid", "LimitHit", "Outcome", "Raised", "Returned", "value_of"]
