"""The section on multiple choice: a judge's scores beside answers without any thought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..judges import CHOICE_SCORES
from ..stats import Estimate
from ._choice import ChoiceFigures
from ._render import render
from ._run import ReadRun
from ._section import Section

_LABELS = {
    "longest_option": "the longest option",
    "all_letters": "all letters",
    "random_letter": "one letter at random (expected)",
    "random_set": "a set at random, not empty (expected)",
}


@dataclass(frozen=True, slots=True)
class ChoiceBlock:
    """One run of multiple choice."""

    run: ReadRun
    scores: Mapping[str, Estimate]
    figures: ChoiceFigures
    rows: Sequence[tuple[str, Mapping[str, float | None]]]
    """What each baseline does, in words, and its mean scores."""
    published: Mapping[str, float | None]
    """The published figures by name without its prefix."""


def choice(runs: Sequence[ReadRun]) -> Section | None:
    """Show the scores of each run of multiple choice beside its baselines; None without such."""
    blocks = [block for run in runs if (block := _block(run)) is not None]
    if not blocks:
        return None
    return Section(
        "choice", "Multiple choice", render("choice.html.j2", blocks=blocks, names=CHOICE_SCORES)
    )


def _block(run: ReadRun) -> ChoiceBlock | None:
    figures = run.summary.choice
    if figures is None:
        return None
    scores = run.summary.scores
    return ChoiceBlock(
        run=run,
        scores={name: scores[name].mean for name in CHOICE_SCORES if name in scores},
        figures=figures,
        rows=[(_label(name), means) for name, means in figures.baselines.items()],
        published={
            name.removeprefix("published_").replace("_", " "): value
            for name, value in figures.published.items()
        },
    )


def _label(name: str) -> str:
    letter = name.removeprefix("always_")
    return _LABELS.get(name, f"always {letter}")
