"""The files of a CodeMatcher evaluation: insights, the lists that came back, and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...errors import InputError
from ._codematcher import FilePool, plain_path

GOLD, RETRIEVED = "gt_files", "rt_files"
"""Keys of the published files: paths joined by semicolons."""
CODE = frozenset({".py", ".r", ".rmd", ".pl", ".ipynb"})
"""Suffixes of what the published describer takes for code."""


def gold_files(parsed: object) -> dict[str, list[str]]:
    """Read which files belong to each insight.

    Args:
        parsed: JSON of insight to an object with `gt_files`, or to paths: a list, or a text
            with semicolons between them.

    Raises:
        InputError: the shape is another one; `where` is the insight.
    """
    return _lists(parsed, GOLD)


def retrieved_files(
    parsed: object, gold: Mapping[str, list[str]] | None = None
) -> dict[str, list[str]]:
    """Read which paths came back for each insight, best first.

    Args:
        parsed: as for `gold_files`, under `rt_files`.
        gold: what belongs to the insights; where the entries name it too, it must be the same.

    Raises:
        InputError: the shape is another one, or the two files disagree.
    """
    found = _lists(parsed, RETRIEVED)
    assert isinstance(parsed, Mapping)
    for id_, entry in parsed.items():
        if gold is None or id_ not in gold or not isinstance(entry, Mapping) or GOLD not in entry:
            continue
        if set(_paths(entry[GOLD], id_, GOLD)) != set(gold[id_]):
            raise InputError(
                "its gt_files are others than those of the insight",
                where=id_,
                todo="Give the insights that the lists were made for.",
            )
    return found


def script_pool(path: Path, parsed: object = None) -> FilePool:
    """Give all files that a matcher could choose from.

    Args:
        path: a folder, whose files of code count with their paths in it; or a JSON file.
        parsed: that file's content: a list of paths, or an object whose keys they are.

    Raises:
        InputError: there are none.
    """
    if path.is_dir():
        found = {
            file.relative_to(path).as_posix()
            for file in path.rglob("*")
            if file.is_file() and file.suffix.lower() in CODE
        }
    elif isinstance(parsed, Mapping | list) and all(isinstance(one, str) for one in parsed):
        found = {plain_path(one) for one in parsed}
    else:
        raise InputError("is no list of paths, and no object with paths as keys", where=str(path))
    if not found:
        raise InputError("holds no files of code", where=str(path))
    return FilePool(frozenset(found), str(path))


def _lists(parsed: object, key: str) -> dict[str, list[str]]:
    if not isinstance(parsed, Mapping) or not parsed:
        raise InputError("must be an object of insights", todo=f"Give insight to {key}.")
    found: dict[str, list[str]] = {}
    for id_, entry in parsed.items():
        value = entry
        if isinstance(entry, Mapping):
            if key not in entry:
                raise InputError(f"has no {key}", where=str(id_), todo="Give its paths.")
            value = entry[key]
        found[str(id_)] = _paths(value, str(id_), key)
    return found


def _paths(value: object, where: str, key: str) -> list[str]:
    if isinstance(value, str):
        # A semicolon at the end, or nothing at all, names no path.
        return [path for part in value.split(";") if (path := plain_path(part))]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [plain_path(one) for one in value]
    raise InputError(f"{key} is no text and no list of texts", where=where)
