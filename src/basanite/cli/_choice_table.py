"""The table of multiple-choice baselines, as `judge choice` and `metrics choice` print it."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

Figures = Mapping[str, float | None]

_COLUMNS = ("accuracy", "recall", "precision", "f1")


def choice_table(rows: Mapping[str, Figures], n: int, *, title: str = "baselines") -> Table:
    """Make a table of mean scores in percent.

    Args:
        rows: what chooses, and its means as shares.
        n: number of questions that they are over.
        title: what the rows are.
    """
    table = Table(title=f"{title}, percent of {n} questions", title_justify="left")
    table.add_column("chooses")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for who, figures in rows.items():
        table.add_row(who.replace("_", " "), *(percent(figures[name]) for name in _COLUMNS))
    return table


def percent(share: float | None) -> str:
    """Write a share as a percentage with one digit; `-` for none."""
    return "-" if share is None else f"{100 * share:.1f}"
