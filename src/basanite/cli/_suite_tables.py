"""Tables of the suites' commands, and how a number and its interval stand in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ..stats import Estimate


def titled_table(title: str, first: str | None = None) -> Table:
    """Give a table under a title; titles come from files as well.

    Args:
        title: what stands above it.
        first: the first column's head, whose cells are names; None for no column yet.
    """
    # Text keeps square brackets what they are.
    table = _plain(Text(title))
    if first is not None:
        table.add_column(first, overflow="fold")
    return table


def headed_table(*heads: str) -> Table:
    """Give a table of names, on the left, and numbers."""
    table = _plain(None)
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left", overflow="fold")
    return table


def number(value: float | None, places: int = 3) -> str:
    """Write a number with fixed decimals; `-` for none."""
    return "-" if value is None else f"{value:.{places}f}"


def with_interval(found: Estimate, places: int = 3) -> str:
    """Write a number, and its interval in brackets where there is one."""
    value = number(found.value, places)
    if found.low is None or found.high is None:
        return value
    return f"{value} ({found.low:.{places}f} to {found.high:.{places}f})"


def _plain(title: Text | None) -> Table:
    return Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
