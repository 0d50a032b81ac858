"""The names that each public door exports, as one text that a test holds still.

After a change that is meant, refresh the text and look at its diff:

    python tests/support/exports.py
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

PINNED = Path(__file__).parents[1] / "house" / "exported_names.txt"


def doors() -> list[str]:
    """Give each public module's name: packages and single modules without an underscore."""
    import basanite

    walked = pkgutil.walk_packages(basanite.__path__, "basanite.")
    return sorted({"basanite", *(one.name for one in walked if "._" not in one.name)})


def exported(door: str) -> list[str]:
    """Give the names in a door's `__all__`, each of which must really be there."""
    module = importlib.import_module(door)
    names = [str(name) for name in module.__all__]
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{door} promises names that it doesn't have: {missing}"
    return names


def as_text() -> str:
    """Give the whole pinned text: a line for each door, its names indented below."""
    lines = []
    for door in doors():
        lines.append(door)
        lines += [f"    {name}" for name in sorted(exported(door))]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PINNED.write_text(as_text(), encoding="utf-8")
    print(f"wrote {PINNED}")
