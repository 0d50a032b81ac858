"""Files of answers: looked through once for faults of the whole, then streamed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from ..errors import InputError
from ..schema import Answer, InvalidRow
from ._manifest import InputInfo
from ._readers import READERS, Notes
from ._rows import parse_row

Format = Literal["jsonl", "csv", "parquet", "ragchecker"]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of answers that was looked through: it can be read, and its ids are unique."""

    path: Path
    """As it was given."""
    format: Format
    sha256: str
    rows: int
    """Rows that are not blank, invalid ones included."""
    invalid: int
    """Those of them that can't be judged."""
    warnings: tuple[str, ...]
    """What a person should be told, such as columns that are not read."""

    @classmethod
    def scan(cls, path: str | Path) -> InputFile:
        """Look a whole file through; memory holds a hash of each id, and one row.

        Args:
            path: JSONL, CSV or Parquet with the columns `id, question, answer, truth` and
                perhaps `contexts, task, agent, trial, human, answer_claims, truth_claims,
                truth_facts, options`; or RAGChecker's JSON. The suffix says which.

        Raises:
            InputError: the file can't be used as a whole: it is missing, a folder, empty, of
                an unknown kind, without a single readable row, or two rows share an id.
            MissingExtra: Parquet without pyarrow installed.
        """
        path = Path(path)
        check_file(path, READERS)
        name, read = READERS[path.suffix.lower()]
        notes = Notes()
        ids = _Ids()
        rows = invalid = readable = 0
        first_problem = ""
        for raw in read(path, notes):
            row = parse_row(raw)
            rows += 1
            readable += raw.record is not None
            if isinstance(row, InvalidRow):
                invalid += 1
                first_problem = first_problem or row.message
            ids.add(row.id, raw.number)
        if rows == 0:
            raise InputError("holds no rows", where=str(path), todo="Give it some.")
        if readable == 0:
            raise InputError(
                f"holds no row that can be read ({first_problem.rstrip('.')})",
                where=str(path),
                todo="JSONL is one JSON object per line." if name == "jsonl" else None,
            )
        ids.check(path)
        return cls(
            path=path,
            format=cast("Format", name),
            sha256=_sha256(path),
            rows=rows,
            invalid=invalid,
            warnings=_warnings(notes),
        )

    @property
    def info(self) -> InputInfo:
        """What the manifest keeps of it."""
        return InputInfo(path=str(self.path), sha256=self.sha256, rows=self.rows)

    def answers(self) -> Iterator[tuple[int, Answer | InvalidRow]]:
        """Give each row that is not blank, once, with its number; can be called again."""
        _, read = READERS[self.path.suffix.lower()]
        for raw in read(self.path, Notes()):
            yield raw.number, parse_row(raw)


def read_answers(path: str | Path) -> Iterator[tuple[int, Answer | InvalidRow]]:
    """Look a file through, then give its rows with their numbers.

    Raises:
        InputError: the file can't be used as a whole; see `InputFile.scan`.
        MissingExtra: Parquet without pyarrow installed.
    """
    return InputFile.scan(path).answers()


class _Ids:
    """Finds ids that stand twice; holds 16 bytes of each."""

    def __init__(self) -> None:
        self._rows: dict[bytes, int] = {}
        self._doubled: list[tuple[str, int, int]] = []
        self._count = 0

    def add(self, id_: str, row: int) -> None:
        name = hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first = self._rows.setdefault(name, row)
        if first != row:
            self._count += 1
            if len(self._doubled) < 3:
                self._doubled.append((id_, first, row))

    def check(self, path: Path) -> None:
        if not self._doubled:
            return
        said = ", ".join(f"{id_!r} (rows {one} and {two})" for id_, one, two in self._doubled)
        more = self._count - len(self._doubled)
        raise InputError(
            f"ids stand twice: {said}{f' and {more} more' if more else ''}",
            where=str(path),
            todo="Give each row an id of its own.",
        )


def check_file(path: Path, suffixes: Collection[str]) -> None:
    """Refuse what can't be read as a file of rows.

    Raises:
        InputError: it is missing, a folder, empty, of another kind, or may not be read.
    """
    if path.is_dir():
        raise InputError("is a folder", where=str(path), todo="Name a file in it.")
    if not path.exists():
        raise InputError("does not exist", where=str(path), todo="Check the path.")
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"has the unknown suffix {path.suffix!r}",
            where=str(path),
            todo=f"Give one of {', '.join(suffixes)}.",
        )
    if not path.is_file():
        raise InputError(
            "is no regular file, and a file is read twice",
            where=str(path),
            todo="Save it as a file first.",
        )
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError("is empty", where=str(path), todo="Give it some rows.")
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror})", where=str(path), todo="Check its permissions."
        ) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _warnings(notes: Notes) -> tuple[str, ...]:
    if not notes.unknown:
        return ()
    names = ", ".join(sorted(notes.unknown))
    return (f"columns that are not known and not read: {names[:500]}",)
