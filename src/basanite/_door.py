"""How a room's door gives its names: each is loaded by its first use, not by the import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy(door: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Give a module's `__getattr__` (PEP 562).

    Args:
        door: the module's `__name__`.
        homes: by each public name, the module below the door that has it.
    """

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{home}", door), name)
        # The next use finds it without a call.
        setattr(sys.modules[door], name, value)
        return value

    return load
