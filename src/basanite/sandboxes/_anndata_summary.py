"""What an h5ad file holds, as models and as lines for a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from ..errors import InputError
from ..schema import Model

_LINE = 400

Name = Annotated[str, Field(max_length=200)]
Sizes = Annotated[tuple[int, ...], Field(max_length=32)]
Count = Annotated[int, Field(ge=0)]


class AnnDataColumn(Model):
    """A column of `obs` or `var`. What does not apply to its kind is None or empty."""

    name: Name
    kind: Literal["categorical", "numeric", "boolean", "text", "other", "unread"]
    """`unread`: damaged, or of a form that is not read; `why` may say more."""
    dtype: Name = ""
    rows: Count | None = None
    """How many rows were looked at: the first million at most."""
    missing: Count | None = None
    """How many of these have no value."""
    n_unique: Count | None = None
    """Number of categories, or of different texts."""
    categories: Annotated[tuple[tuple[Name, Count], ...], Field(max_length=20)] = ()
    """The most frequent categories, with how many rows have each."""
    low: float | int | None = None
    high: float | int | None = None
    """Least and largest finite value."""
    n_true: Count | None = None
    examples: Annotated[tuple[Name, ...], Field(max_length=3)] = ()
    """The first texts."""
    why: Name = ""


class AnnDataFrame(Model):
    """`obs` or `var`: the columns, and the names of the first rows."""

    columns: Annotated[tuple[AnnDataColumn, ...], Field(max_length=200)]
    n_columns: Count
    """How many there are, listed or not."""
    index: Annotated[tuple[Name, ...], Field(max_length=3)]


class AnnDataMatrix(Model):
    """A matrix: cells x genes."""

    storage: Name
    """`dense`, `csr`, `csc`, or another encoding's name."""
    shape: Sizes
    dtype: Name
    nonzero: float | None = Field(default=None, ge=0, le=1)
    """Share of values that are not 0."""
    low: float | int | None = None
    high: float | int | None = None
    """Least and largest finite value."""
    integers: bool | None = None
    """Whether all values are whole numbers, as counts are."""
    not_finite: Count | None = None
    """How many values are NaN or infinite."""
    scanned: float = Field(default=0.0, ge=0, le=1)
    """Share of the stored values that the four facts above rest on; the first ones."""


class AnnDataArray(Model):
    """A key of `layers`, `obsm`, `varm`, `obsp` or `varp`."""

    name: Name
    storage: Name
    shape: Sizes
    dtype: Name


class AnnDataKey(Model):
    """A key of `uns`, with what lies below it."""

    name: Name
    kind: Name
    """`group`, `array`, `scalar`, an encoding's name, or `elsewhere` for a link out of the file."""
    shape: Sizes = ()
    dtype: Name = ""
    value: Name | None = None
    """Of a single value."""
    members: Annotated[tuple[AnnDataKey, ...], Field(max_length=100)] = ()
    n_members: Count = 0


class AnnDataRaw(Model):
    """`raw`: the matrix before genes were chosen."""

    n_vars: Count
    x: AnnDataMatrix
    var: AnnDataFrame


_Arrays = Annotated[tuple[AnnDataArray, ...], Field(max_length=100)]


class AnnDataSummary(Model):
    """What an h5ad file holds. Names and values in it are the file's: treat them as hostile."""

    n_obs: Count
    """Number of cells."""
    n_vars: Count
    """Number of genes."""
    x: AnnDataMatrix | None
    obs: AnnDataFrame
    var: AnnDataFrame
    layers: _Arrays
    obsm: _Arrays
    varm: _Arrays
    obsp: _Arrays
    varp: _Arrays
    uns: Annotated[tuple[AnnDataKey, ...], Field(max_length=100)]
    raw: AnnDataRaw | None

    @classmethod
    def from_json(cls, text: str, *, where: str) -> Self:
        """Read what the reader printed in a sandbox.

        Raises:
            InputError: it is something else, as hostile code in there could print anything.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(
                f"what was read of the file is no summary: {place}: {first['msg']}", where=where
            ) from None

    def to_text(self, *, max_chars: int = 8000) -> str:
        """Give the summary as lines for a prompt; what can't be printed is escaped."""
        lines = list(self._lines())
        text = "\n".join(lines)
        if len(text) <= max_chars:
            return text
        kept: list[str] = []
        room = max_chars - 40
        for line in lines:
            room -= len(line) + 1
            if room < 0:
                break
            kept.append(line)
        return "\n".join([*kept, f"… {len(lines) - len(kept)} more lines"])

    def _lines(self) -> Iterator[str]:
        yield f"AnnData: {self.n_obs} cells (obs) x {self.n_vars} genes (var)"
        yield "X: " + ("none" if self.x is None else _matrix(self.x))
        yield from _frame("obs", self.obs)
        yield from _frame("var", self.var)
        for name in ("layers", "obsm", "varm", "obsp", "varp"):
            found: tuple[AnnDataArray, ...] = getattr(self, name)
            if found:
                yield f"{name}:"
                yield from (f"  {shown(one.name)}: {_array(one)}" for one in found)
        if self.raw is not None:
            yield f"raw: {self.raw.n_vars} genes; X {_matrix(self.raw.x)}"
            yield from _frame("raw.var", self.raw.var)
        if self.uns:
            yield "uns:"
            yield from _keys(self.uns, "  ")


def shown(text: str, most: int = 80) -> str:
    """Give a text on one line: control, direction and other unprintable characters escaped."""
    plain = "".join(
        one if one.isprintable() and one != "\\" else one.encode("unicode_escape").decode()
        for one in text
    )
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _number(value: float | int | None) -> str:
    return "?" if value is None else f"{value:.6g}"


def _range(low: float | int | None, high: float | int | None) -> str:
    return f"{_number(low)} to {_number(high)}"


def _sizes(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "?"


def _matrix(matrix: AnnDataMatrix) -> str:
    parts = [f"{_sizes(matrix.shape)} {shown(matrix.dtype)}, {shown(matrix.storage)}"]
    if matrix.integers is None:
        return parts[0] + ", values not looked at"
    if matrix.nonzero is not None:
        parts.append(f"{matrix.nonzero:.1%} not 0")
    parts.append(f"values {_range(matrix.low, matrix.high)}")
    parts.append("whole numbers" if matrix.integers else "not whole numbers")
    if matrix.not_finite:
        parts.append(f"{matrix.not_finite} NaN or infinite")
    if matrix.scanned < 1:
        parts.append(f"seen from the first {matrix.scanned:.1%}")
    return ", ".join(parts)


def _array(array: AnnDataArray) -> str:
    return f"{_sizes(array.shape)} {shown(array.dtype)} ({shown(array.storage)})"


def _frame(name: str, frame: AnnDataFrame) -> Iterator[str]:
    first = ", ".join(shown(one, 40) for one in frame.index)
    yield f"{name}: {frame.n_columns} columns" + (f"; rows are named {first}, …" if first else "")
    yield from (f"  {shown(one.name)}: {_column(one)}" for one in frame.columns)
    if frame.n_columns > len(frame.columns):
        yield f"  … {frame.n_columns - len(frame.columns)} more columns"


def _column(column: AnnDataColumn) -> str:
    said: str = column.kind
    if column.kind == "categorical":
        said = f"{column.n_unique} categories"
        some = ", ".join(f"{shown(name, 40)} ({count})" for name, count in column.categories)
        more = (column.n_unique or 0) > len(column.categories)
        said += (f": {some}" if some else "") + (", …" if more else "")
    elif column.kind == "numeric":
        said = f"{shown(column.dtype)}, {_range(column.low, column.high)}"
    elif column.kind == "boolean":
        said = f"bool, {column.n_true} true"
    elif column.kind == "text":
        some = ", ".join(shown(one, 40) for one in column.examples)
        said = f"text, {column.n_unique} different, such as {some}"
    return said[:_LINE] + (f"; {column.missing} missing" if column.missing else "")


def _keys(keys: tuple[AnnDataKey, ...], indent: str) -> Iterator[str]:
    for key in keys:
        if key.value is not None:
            said = shown(key.value)
        elif key.kind in {"array", "scalar"}:
            said = f"{_sizes(key.shape)} {shown(key.dtype)}"
        else:
            said = f"{shown(key.kind)} of {key.n_members}" if key.n_members else shown(key.kind)
        yield f"{indent}{shown(key.name)}: {said}"
        yield from _keys(key.members, indent + "  ")


__all__ = [
    "AnnDataArray",
    "AnnDataColumn",
    "AnnDataFrame",
    "AnnDataKey",
    "AnnDataMatrix",
    "AnnDataRaw",
    "AnnDataSummary",
    "shown",
]
