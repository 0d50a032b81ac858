"""What an episode has on disk: one JSON file, one host at a time, bound to one reference."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TypedDict

from ...errors import InputError, StorageError
from ...store import unique_names
from ._reference import Reference

_SCHEMA = "basanite.whatworked.episode/1"


class Measurement(TypedDict):
    """One run of the workflow."""

    mask: str
    value: float
    cost: float


@dataclass
class EpisodeState:
    """All that happened in an episode; no utility that was not measured."""

    task: str
    reference_sha256: str
    budget: float
    view: str
    seed: int
    measurements: list[Measurement] = field(default_factory=list)
    """Each run, in order; anchors first, at no cost."""
    receipts: int = 0
    calculate_calls: int = 0
    calculate_cpu_s: float = 0.0
    submission: dict[str, object] | None = None
    schema: str = _SCHEMA

    @property
    def spent(self) -> float:
        """Sum of what the measurements cost."""
        return sum(one["cost"] for one in self.measurements)

    @property
    def left(self) -> float:
        """What of the budget is not spent; 0 where only rounding exceeds it."""
        return max(0.0, self.budget - self.spent)


class StateFile:
    """The file and its lock, held from opening to `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._lock: IO[bytes] = Path(f"{path}.lock").open("ab")  # noqa: SIM115 - held on to
        except FileNotFoundError:
            raise InputError(
                "the folder does not exist", where=str(path.parent), todo="Make it."
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise InputError(
                "another host has this episode open", where=str(path), todo="End it first."
            ) from None

    def close(self) -> None:
        """Let another host have it."""
        self._lock.close()

    def read(self, reference: Reference) -> EpisodeState | None:
        """Give what is there, or None.

        Raises:
            InputError: it is damaged, or of another reference.
        """
        return read_state(self.path, reference) if self.path.exists() else None

    def write(self, state: EpisodeState) -> None:
        """Put a state in the file's place, whole and on the disk, or not at all."""
        beside = Path(f"{self.path}.new")
        try:
            with beside.open("w", encoding="utf-8") as stream:
                json.dump(asdict(state), stream, indent=1, allow_nan=False)
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink()
            raise StorageError(
                f"the episode can't be written: {error}", where=str(self.path)
            ) from error


def read_state(path: Path, reference: Reference) -> EpisodeState:
    """Read an episode of a reference.

    Raises:
        InputError: it is missing or damaged, or of another reference than this one.
    """
    try:
        body = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique_names)
        if body.get("schema") != _SCHEMA:
            raise InputError(
                f"is no episode: its schema is {body.get('schema')!r}", where=str(path)
            )
        state = EpisodeState(**body)
    except FileNotFoundError:
        raise InputError("there is no such episode", where=str(path)) from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"is no episode: {error}", where=str(path)) from None
    if state.reference_sha256 != reference.sha256:
        raise InputError(
            f"the episode is of another reference than {reference.name!r} as it is now",
            where=str(path),
            todo="Name the reference that it was begun with; an episode can't change its truth.",
        )
    return state
