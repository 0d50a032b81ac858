"""What people read of a run: its summary in numbers, and one self-contained page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy
from ._summary import Summary, summarise
from ._view import RunView

if TYPE_CHECKING:
    from ._board import Board, BoardCell, BoardRow
    from ._board_compare import compare_board
    from ._board_numbers import AgentNumbers, BoardCost, BoardNumbers, board_numbers
    from ._board_sections import (
        board_plots,
        board_sections,
        leaderboard_section,
        write_board_report,
    )
    from ._comparison import Comparison, Comparisons, NotCompared, compare_runs
    from ._page import write_report
    from ._plots import is_plot, write_plots
    from ._run import ReadRun, read_runs
    from ._section import Section
    from ._sections import SectionMaker, default_sections
    from ._surface import (
        Curve,
        FactorRow,
        Reversal,
        SurfaceReport,
        surface_plots,
        surface_sections,
        write_surface_report,
    )

__all__ = [
    "AgentNumbers",
    "Board",
    "BoardCell",
    "BoardCost",
    "BoardNumbers",
    "BoardRow",
    "Comparison",
    "Comparisons",
    "Curve",
    "FactorRow",
    "NotCompared",
    "ReadRun",
    "Reversal",
    "RunView",
    "Section",
    "SectionMaker",
    "Summary",
    "SurfaceReport",
    "board_numbers",
    "board_plots",
    "board_sections",
    "compare_board",
    "compare_runs",
    "default_sections",
    "is_plot",
    "leaderboard_section",
    "read_runs",
    "summarise",
    "surface_plots",
    "surface_sections",
    "write_board_report",
    "write_plots",
    "write_report",
    "write_surface_report",
]

# jinja2 is loaded only by those who make a page.
_HOMES = {
    "write_surface_report": "_surface",
    "surface_sections": "_surface",
    "surface_plots": "_surface",
    "SurfaceReport": "_surface",
    "Reversal": "_surface",
    "FactorRow": "_surface",
    "Curve": "_surface",
    "AgentNumbers": "_board_numbers",
    "Board": "_board",
    "BoardCell": "_board",
    "BoardCost": "_board_numbers",
    "BoardNumbers": "_board_numbers",
    "BoardRow": "_board",
    "Comparison": "_comparison",
    "Comparisons": "_comparison",
    "NotCompared": "_comparison",
    "ReadRun": "_run",
    "Section": "_section",
    "SectionMaker": "_sections",
    "board_numbers": "_board_numbers",
    "board_plots": "_board_sections",
    "board_sections": "_board_sections",
    "compare_board": "_board_compare",
    "compare_runs": "_comparison",
    "default_sections": "_sections",
    "is_plot": "_plots",
    "leaderboard_section": "_board_sections",
    "read_runs": "_run",
    "write_board_report": "_board_sections",
    "write_plots": "_plots",
    "write_report": "_page",
}


__getattr__ = lazy(__name__, _HOMES)
