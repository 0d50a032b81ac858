"""What people read of a run: its summary in numbers, and one self-contained page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._summary import Summary, summarise
from ._view import RunView

if TYPE_CHECKING:
    from ._comparison import Comparison, Comparisons, NotCompared, compare_runs
    from ._page import write_report
    from ._plots import is_plot, write_plots
    from ._run import ReadRun, read_runs
    from ._section import Section
    from ._sections import SectionMaker, default_sections

__all__ = [
    "Comparison",
    "Comparisons",
    "NotCompared",
    "ReadRun",
    "RunView",
    "Section",
    "SectionMaker",
    "Summary",
    "compare_runs",
    "default_sections",
    "is_plot",
    "read_runs",
    "summarise",
    "write_plots",
    "write_report",
]

_LAZY = {
    "Comparison": "_comparison",
    "Comparisons": "_comparison",
    "NotCompared": "_comparison",
    "ReadRun": "_run",
    "Section": "_section",
    "SectionMaker": "_sections",
    "compare_runs": "_comparison",
    "default_sections": "_sections",
    "is_plot": "_plots",
    "read_runs": "_run",
    "write_plots": "_plots",
    "write_report": "_page",
}


def __getattr__(name: str) -> object:
    # jinja2 is loaded only by those who make a page.
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
