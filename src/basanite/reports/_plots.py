"""The report's plots as single files, for use in a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ._comparison_section import difference_plots
from ._distribution_section import distribution_plots
from ._figure import MADE_BY, Figure
from ._run import ReadRun
from ._sections_groups import agent_plots
from ._sections_scores import score_plot


def write_plots(runs: Sequence[ReadRun], folder: Path) -> list[Path]:
    """Write each plot of a report as an SVG file: black on white, with axes and titles.

    Files are named after what they show: `scores.svg`, `distribution-SCORE.svg`,
    `agents-RUN-SCORE.svg` and `differences-SCORE.svg`. Fonts are not embedded; each text names
    usual ones, and any program may replace them.

    Args:
        runs: what `read_runs` gives.
        folder: where they are written; it is made where it does not exist.

    Returns:
        The files, in the order of the page.

    Raises:
        InputError: the folder is a file.
        OSError: a file can't be written.
    """
    return write_figures(report_plots(runs), folder)


def write_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Write figures as SVG files into a folder, which is made where it does not exist.

    Raises:
        InputError: the folder is a file.
        OSError: a file can't be written.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "plots need a folder, and this is a file", where=str(folder), todo="Name a folder."
        )
    folder.mkdir(exist_ok=True)
    made: list[Path] = []
    for figure in figures:
        path = _free(folder, figure, made)
        path.write_text(figure.file_text(), encoding="utf-8", newline="\n")
        made.append(path)
    return made


def report_plots(runs: Sequence[ReadRun]) -> list[Figure]:
    """Draw all that a report on these runs shows."""
    return [
        score_plot(runs),
        *distribution_plots(runs),
        *difference_plots(runs),
        *agent_plots(runs),
    ]


def is_plot(file: Path) -> bool:
    """Whether a file is a plot that was written before."""
    with file.open("rb") as opened:
        return MADE_BY.encode() in opened.read(200)


def _free(folder: Path, figure: Figure, taken: Sequence[Path]) -> Path:
    """Give a path that no other plot has; scores may have any name."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", figure.name).strip(".-")[:100] or "plot"
    path, number = folder / f"{plain}.svg", 1
    while path in taken:
        number += 1
        path = folder / f"{plain}-{number}.svg"
    return path
