"""One run, read and counted, as the sections of a page take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ._summary import Summary, summary_of
from ._tally import Tally, tally
from ._view import RunView, manifest_json, text_at

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run with all that the page says of it; texts of items are read again when written."""

    letter: str
    """`A`, `B`, …: what the run is called within the page."""
    view: RunView
    manifest: dict[str, JsonValue]
    tally: Tally
    summary: Summary

    @property
    def model(self) -> str | None:
        """Name of the model that judged; None for a judge without one."""
        if text_at(self.manifest, "judge", "model", "kind") == "none":
            return None
        return text_at(self.manifest, "judge", "model", "name")

    @property
    def title(self) -> str:
        """Judge and model in a few words."""
        judge = self.summary.judge or "unknown judge"
        form = text_at(self.manifest, "judge", "options", "form")
        return " · ".join(part for part in (judge, form, self.model) if part)

    @property
    def is_baseline(self) -> bool:
        """Whether the run's judge is the baseline itself."""
        return self.summary.is_baseline

    @property
    def input_sha256(self) -> str | None:
        """Hash of the input file."""
        return text_at(self.manifest, "input", "sha256")


def read_runs(views: Sequence[RunView]) -> list[ReadRun]:
    """Read and count each run."""
    return [_read(number, view) for number, view in enumerate(views)]


def _read(number: int, view: RunView) -> ReadRun:
    numbers = tally(view)
    return ReadRun(
        letter=_LETTERS[number] if number < len(_LETTERS) else f"R{number + 1}",
        view=view,
        manifest=manifest_json(view),
        tally=numbers,
        summary=summary_of(numbers, view),
    )
