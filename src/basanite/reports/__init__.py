"""What people read of a run: its summary in numbers, and one self-contained page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._summary import Summary, summarise
from ._view import RunView

if TYPE_CHECKING:
    from ._page import write_report
    from ._section import Section

__all__ = ["RunView", "Section", "Summary", "summarise", "write_report"]

_LAZY = {"Section": "_section", "write_report": "_page"}


def __getattr__(name: str) -> object:
    # jinja2 is loaded only by those who make a page.
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
