"""Reads what an h5ad file holds, in chunks, and gives it as plain values.

Self-contained: h5py, numpy and the standard library. It runs in a child with limits, or as a script
in a sandbox (`python _anndata_read.py FILE`, JSON on stdout), never in the process that wants to
know. The file is hostile. So links out of the file are named and not followed, data that lies in
other files is not read, no filter is loaded from disk, and every loop has an end that the file
can't move. Reads both the format of today and that of anndata before 0.7, in which `obs` is one
array of records.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from typing import Any

# Before h5py is loaded: a file may name a filter, and the library would load code for it.
os.environ["HDF5_PLUGIN_PRELOAD"] = "::"

import h5py
import numpy as np

ROWS = 1_000_000
"""Most rows of a column that are looked at."""
VALUES = 20_000_000
"""Most values of a matrix that are looked at."""
CHUNK = 1_000_000
COLUMNS = 200
CATEGORIES = 20
KEYS = 100
DEPTH = 4
NAME = 200
"""Most characters of a name or value."""
ITEMS = 4096
"""Most bytes of one element."""
_MATRIX_FORMATS = ("csr_matrix", "csc_matrix", "csr", "csc")

DAMAGED = (KeyError, OSError, OverflowError, RuntimeError, TypeError, ValueError)
"""What h5py raises on files that are not as they should be."""

Plain = dict[str, Any]


def summarise(path: str) -> Plain:
    """Give what the file holds.

    Raises:
        ValueError: the file is no h5ad file.
        OSError: it is no HDF5 file, or a damaged one.
    """
    with h5py.File(path, "r") as file:
        obs, var = member(file, "obs"), member(file, "var")
        if obs is None or var is None:
            raise ValueError("it has no obs or no var, so it is no h5ad file")
        raw = member(file, "raw")
        return {
            "n_obs": _length(obs),
            "n_vars": _length(var),
            "x": matrix(member(file, "X")),
            "obs": frame(obs, file),
            "var": frame(var, file),
            "layers": arrays(member(file, "layers")),
            "obsm": arrays(member(file, "obsm")),
            "varm": arrays(member(file, "varm")),
            "obsp": arrays(member(file, "obsp")),
            "varp": arrays(member(file, "varp")),
            "uns": nested(member(file, "uns"), DEPTH),
            "raw": _raw(raw, file),
        }


def _raw(raw: Any, file: h5py.File) -> Plain | None:
    """Give `raw`: a group, or members called `raw.X` and `raw.var` in old files."""
    group = isinstance(raw, h5py.Group)
    x = member(raw, "X") if group else member(file, "raw.X")
    var = member(raw, "var") if group else member(file, "raw.var")
    if x is None or var is None:
        return None
    return {"n_vars": _length(var), "x": matrix(x), "var": frame(var, file)}


def member(group: Any, name: str) -> Any:
    """Give a member that lies in this file itself; None for one that is not there or elsewhere."""
    if not isinstance(group, h5py.Group) or name not in group:
        return None
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        return None
    found = group.get(name)
    return found if isinstance(found, h5py.Group | h5py.Dataset) else None


def members(group: Any, most: int = KEYS) -> Iterator[tuple[str, Any]]:
    """Give names and members; a member that can't be had is None."""
    for number, name in enumerate(group if isinstance(group, h5py.Group) else ()):
        if number == most:
            return
        yield name, member(group, name)


def text(value: object) -> str:
    """Give a value as a text of bounded length."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    return str(value).encode("utf-8", "backslashreplace").decode()[:NAME]


def number(value: Any) -> float | int | None:
    """Give a finite number; None for all else."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool | int):
        return int(plain)
    return plain if isinstance(plain, float) and math.isfinite(plain) else None


def attribute(node: Any, name: str) -> Any:
    """Give a small attribute; None where it is missing, large or odd."""
    try:
        found = node.attrs.get_id(name)
        if math.prod(found.shape) * found.dtype.itemsize > ITEMS * COLUMNS:
            return None
        value = node.attrs[name]
    except DAMAGED:
        return None
    return [] if isinstance(value, h5py.Empty) else value


def readable(node: Any) -> bool:
    """Whether a dataset's values lie in this file, in elements of a usual size."""
    return (
        isinstance(node, h5py.Dataset)
        and node.shape is not None
        and not node.is_virtual
        and node.external is None
        and node.dtype.itemsize <= ITEMS
    )


def rows(node: Any, most: int) -> Any:
    """Give the first values of a dataset of one dimension."""
    return np.asarray(node[: min(most, node.shape[0])])


def _length(node: Any) -> int:
    if isinstance(node, h5py.Dataset):
        return int(node.shape[0]) if node.shape else 0
    index = member(node, text(attribute(node, "_index") or "_index"))
    if index is None:
        index = next((one for _, one in members(node) if isinstance(one, h5py.Dataset)), None)
    return int(index.shape[0]) if index is not None and index.shape else 0


def frame(node: Any, file: h5py.File) -> Plain:
    """Give the columns of `obs` or `var`."""
    if isinstance(node, h5py.Dataset):
        return _records(node, file)
    index = text(attribute(node, "_index") or "_index")
    order = attribute(node, "column-order")
    listed = None if order is None else [text(name) for name in np.asarray(order).ravel()]
    names = [name for name, _ in members(node, COLUMNS + 2)] if listed is None else listed
    names = [name for name in names if name not in {index, "__categories"}]
    old = member(node, "__categories")
    columns = []
    for name in names[:COLUMNS]:
        found = member(node, name)
        labels = member(old, name)
        columns.append({"name": text(name), **_guarded(found, labels)})
    first = member(node, index)
    names_of_rows = [text(one) for one in rows(first, 3)] if _is_line(first) else []
    return {"columns": columns, "n_columns": len(names), "index": names_of_rows}


def _records(node: Any, file: h5py.File) -> Plain:
    """Give the columns of an array of records, whose categories lie in `uns`."""
    if not readable(node) or not node.dtype.names or len(node.shape) != 1:
        return {"columns": [], "n_columns": 0, "index": []}
    taken = rows(node, ROWS)
    uns = member(file, "uns")
    names = [name for name in node.dtype.names if name not in {"index", "_index"}]
    columns = []
    for name in names[:COLUMNS]:
        labels = member(uns, f"{name}_categories")
        if _is_line(labels) and taken.dtype[name].kind in "iu":
            found = categorical(taken[name], labels)
        else:
            found = values(taken[name])
        columns.append({"name": text(name), **found})
    key = next((name for name in ("index", "_index") if name in node.dtype.names), None)
    first = [] if key is None else [text(one) for one in taken[key][:3]]
    return {"columns": columns, "n_columns": len(names), "index": first}


def _is_line(node: Any) -> bool:
    return readable(node) and len(node.shape) == 1


def column(node: Any, old_categories: Any) -> Plain:
    """Give one column: categories, numbers or texts."""
    if isinstance(node, h5py.Group):
        codes, labels = member(node, "codes"), member(node, "categories")
        if _is_line(codes) and _is_line(labels):
            return categorical(rows(codes, ROWS), labels)
        data, mask = member(node, "values"), member(node, "mask")
        if _is_line(data) and _is_line(mask):
            return values(rows(data, ROWS), rows(mask, ROWS).astype(bool))
    if not _is_line(node):
        return {"kind": "unread"}
    if _is_line(old_categories) and node.dtype.kind in "iu":
        return categorical(rows(node, ROWS), old_categories)
    return values(rows(node, ROWS))


def categorical(codes: Any, labels: Any) -> Plain:
    """Give the categories, the most frequent first, with how many rows have each."""
    count = int(labels.shape[0])
    known = codes[(codes >= 0) & (codes < count)]
    found, times = np.unique(known, return_counts=True)
    order = np.argsort(-times, kind="stable")[:CATEGORIES]
    # Pairs: a hostile file may give two categories one name.
    shown = [[text(labels[int(found[at])]), int(times[at])] for at in order]
    return {
        "kind": "categorical",
        "dtype": "category",
        "missing": int(codes.size - known.size),
        "n_unique": count,
        "categories": shown,
        "rows": int(codes.size),
    }


def values(taken: Any, mask: Any = None) -> Plain:
    """Give the range of numbers, or examples of texts."""
    found: Plain = {"dtype": _dtype(taken.dtype), "rows": int(taken.size)}
    gone = np.zeros(taken.shape, bool) if mask is None else mask
    if taken.dtype.kind in "biuf" and taken.ndim == 1:
        if taken.dtype.kind == "f":
            gone = gone | np.isnan(taken)
        kept = taken[~gone]
        finite = kept[np.isfinite(kept)]
        found["missing"] = int(gone.sum())
        if taken.dtype.kind == "b":
            return found | {"kind": "boolean", "n_true": int(kept.sum())}
        low, high = (finite.min(), finite.max()) if finite.size else (None, None)
        return found | {"kind": "numeric", "low": number(low), "high": number(high)}
    if taken.dtype.kind in "OSU" and taken.ndim == 1:
        distinct = {text(one) for one in taken.tolist()}
        some = [text(one) for one in taken[:3]]
        return found | {"kind": "text", "n_unique": len(distinct), "examples": some}
    return found | {"kind": "other"}


def _dtype(dtype: Any) -> str:
    return "string" if dtype.kind in "OSU" else text(dtype)


def matrix(node: Any) -> Plain | None:
    """Give a matrix's shape, type, and what its values are like."""
    if node is None:
        return None
    found = _shape(node)
    data = member(node, "data") if isinstance(node, h5py.Group) else node
    if not readable(data) or data.dtype.kind not in "biuf" or not found["shape"]:
        return found
    total = math.prod(found["shape"])
    stored = math.prod(data.shape)
    state = _scan(data)
    sparse = found["storage"] != "dense"
    if sparse and state["seen"] and stored < total:
        # What is not stored is 0.
        state["low"], state["high"] = min(state["low"], 0), max(state["high"], 0)
    seen_share = state["seen"] / stored if stored else 1.0
    base = total * seen_share
    return found | {
        "dtype": _dtype(data.dtype),
        "nonzero": min(1.0, state["nonzero"] / base) if base else None,
        "low": number(state["low"]),
        "high": number(state["high"]),
        "integers": state["integers"] if state["seen"] else None,
        "not_finite": state["not_finite"],
        "scanned": seen_share,
    }


def _shape(node: Any) -> Plain:
    if isinstance(node, h5py.Dataset):
        shape = [int(size) for size in node.shape or ()]
        return {"storage": "dense", "shape": shape, "dtype": _dtype(node.dtype)}
    kind = attribute(node, "encoding-type") or attribute(node, "h5sparse_format")
    kind = text(kind) if kind is not None else "group"
    if kind in _MATRIX_FORMATS:
        given = attribute(node, "shape")
        given = attribute(node, "h5sparse_shape") if given is None else given
        sizes = [] if given is None else np.asarray(given).ravel()[:2].tolist()
        data = member(node, "data")
        return {
            "storage": kind[:3],
            "shape": [size for size in sizes if isinstance(size, int) and size >= 0],
            "dtype": "" if data is None or isinstance(data, h5py.Group) else _dtype(data.dtype),
        }
    if kind == "dataframe":
        return {"storage": kind, "shape": [_length(node)], "dtype": ""}
    return {"storage": kind, "shape": [], "dtype": ""}


def _scan(data: Any) -> Plain:
    state: Plain = {
        "seen": 0, "nonzero": 0, "low": math.inf, "high": -math.inf,
        "integers": True, "not_finite": 0,
    }  # fmt: skip
    for block in _blocks(data):
        finite = block[np.isfinite(block)]
        state["seen"] += block.size
        state["not_finite"] += block.size - finite.size
        state["nonzero"] += int(np.count_nonzero(block))
        if finite.size:
            state["low"] = min(state["low"], finite.min().item())
            state["high"] = max(state["high"], finite.max().item())
            state["integers"] = state["integers"] and bool((finite == np.rint(finite)).all())
    return state


def _blocks(data: Any) -> Iterator[Any]:
    """Give the first values of a dataset, some rows at a time."""
    if not data.shape or not math.prod(data.shape):
        return
    per_row = math.prod(data.shape[1:])
    if per_row > VALUES or _chunk_bytes(data) > CHUNK * 64:
        return  # not even one row, or one chunk, is of a bearable size
    step = max(1, CHUNK // per_row)
    last = min(data.shape[0], max(1, VALUES // per_row))
    for start in range(0, last, step):
        yield np.asarray(data[start : min(start + step, last)]).ravel()


def _chunk_bytes(data: Any) -> int:
    return math.prod(data.chunks) * data.dtype.itemsize if data.chunks else 0


def arrays(node: Any) -> list[Plain]:
    """Give names, shapes and types of the arrays of a group, or of the fields of records."""
    if isinstance(node, h5py.Dataset) and node.dtype.names:
        length = int(node.shape[0]) if node.shape else 0
        fields = [(name, node.dtype[name]) for name in node.dtype.names[:KEYS]]
        return [
            {
                "name": text(name),
                "storage": "dense",
                "shape": [length, *map(int, field.shape)],
                "dtype": _dtype(field.base),
            }
            for name, field in fields
        ]
    nothing: Plain = {"storage": "unread", "shape": [], "dtype": ""}
    return [
        {"name": text(name), **(nothing if found is None else _shape(found))}
        for name, found in members(node)
    ]


def nested(node: Any, depth: int, budget: list[int] | None = None) -> list[Plain]:
    """Give the keys of `uns` and what lies below, with an end: groups may hold themselves."""
    budget = [KEYS * 5] if budget is None else budget
    keys = []
    for name, found in members(node):
        if budget[0] <= 0:
            break
        budget[0] -= 1
        entry: Plain = {"name": text(name), "members": [], "n_members": 0, "kind": "elsewhere"}
        if isinstance(found, h5py.Group):
            entry |= {"kind": "group", "n_members": len(found)}
            kind = attribute(found, "encoding-type") or attribute(found, "h5sparse_format")
            if kind is not None and text(kind) not in {"dict", ""}:
                entry["kind"] = text(kind)
            elif depth > 1:
                entry["members"] = nested(found, depth - 1, budget)
        elif found is not None:
            entry |= {"kind": "array" if found.shape else "scalar", **_value(found)}
        keys.append(entry)
    return keys


def _value(node: Any) -> Plain:
    found = {"shape": [int(size) for size in node.shape or ()], "dtype": _dtype(node.dtype)}
    if readable(node) and node.dtype.names is None and math.prod(node.shape) == 1:
        found["value"] = text(np.asarray(node[()]).ravel()[0])
    return found


def _guarded(node: Any, old_categories: Any) -> Plain:
    """Give one column; a damaged one must not hide the others."""
    try:
        return column(node, old_categories)
    except DAMAGED as error:
        return {"kind": "unread", "why": text(error)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(summarise(sys.argv[1]), allow_nan=False) + "\n")
