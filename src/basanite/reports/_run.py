"""Runs, read and counted, as the sections of a page take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ._scale import Range, Scale, known, ranges, scale_of
from ._section import Section
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
    card: Section | None = None
    """What is known of the judge's agreement with people; None: the judge is not validated."""

    @property
    def model(self) -> str | None:
        """Name of the model that judged; None for a judge without one."""
        if text_at(self.manifest, "judge", "model", "kind") == "none":
            return None
        return text_at(self.manifest, "judge", "model", "name")

    @property
    def title(self) -> str:
        """Judge, its mode or form, and model in a few words."""
        judge = self.summary.judge or "unknown judge"
        kinds = [text_at(self.manifest, "judge", "options", name) for name in ("mode", "form")]
        return " · ".join(part for part in (judge, *kinds, self.model) if part)

    @property
    def is_baseline(self) -> bool:
        """Whether the run's judge is the baseline itself."""
        return self.summary.is_baseline

    @property
    def rating_range(self) -> Range | None:
        """The scale that the judge rates on; None where its manifest names none."""
        judge = self.manifest.get("judge")
        options = judge.get("options") if isinstance(judge, dict) else None
        scale = options.get("scale") if isinstance(options, dict) else None
        if not isinstance(scale, dict):
            return None
        low, high = scale.get("low"), scale.get("high")
        if not isinstance(low, int | float) or not isinstance(high, int | float) or low >= high:
            return None
        return float(low), float(high)

    @property
    def input_sha256(self) -> str | None:
        """Hash of the input file."""
        return text_at(self.manifest, "input", "sha256")


def read_runs(
    views: Sequence[RunView], *, cards: Mapping[str, Section] | None = None
) -> list[ReadRun]:
    """Read and count each run once, for several pages or plots of the same runs.

    Args:
        views: the runs, such as `RunFolder`s, in the order they are shown.
        cards: judge cards by `fingerprint_digest` of the judge that they were made for; each is
            shown beside the scores of that judge, in place of "judge not validated".
    """
    return [_read(number, view, cards or {}) for number, view in enumerate(views)]


def _read(number: int, view: RunView, cards: Mapping[str, Section]) -> ReadRun:
    numbers = tally(view)
    summary = summary_of(numbers, view)
    return ReadRun(
        letter=_LETTERS[number] if number < len(_LETTERS) else f"R{number + 1}",
        view=view,
        manifest=manifest_json(view),
        tally=numbers,
        summary=summary,
        card=cards.get(summary.fingerprint),
    )


def score_scale(runs: Sequence[ReadRun], score: str) -> Scale:
    """Give the scale of one score over all items of all runs."""
    values = [x for run in runs for x in known(run.tally.scores.get(score))]
    found = {run.rating_range for run in runs if score in run.summary.scores} - {None}
    declared = [of_run for of_run in found if of_run is not None]
    if not declared:
        return scale_of(score, values)
    widest = min(low for low, _ in declared), max(high for _, high in declared)
    return scale_of(score, values, widest)


def score_ranges(run: ReadRun, score: str) -> frozenset[Range | None]:
    """Give the ranges on which one run's values of a score could lie."""
    return ranges(score, known(run.tally.scores.get(score)), run.rating_range)


def shown_scores(runs: Sequence[ReadRun]) -> list[str]:
    """Name the scores that some item of some run has, or should have; primary ones first."""
    names = [run.summary.primary for run in runs]
    for run in runs:
        names += [name for name, score in run.summary.scores.items() if not score.is_left_out]
    return list(dict.fromkeys(names))
