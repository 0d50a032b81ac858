"""A run is a folder: `manifest.json`, `ledger.sqlite` and `summary.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from ..errors import InputError, StorageError
from ..schema import Answer, InvalidRow, Judgment, Model
from ._address import Address
from ._closing import Closing
from ._files import is_leftover, write_atomically
from ._ledger import Ledger
from ._lock import FolderLock
from ._manifest import Manifest
from ._record import Record
from ._same import check_same

MANIFEST = "manifest.json"
LEDGER = "ledger.sqlite"
SUMMARY = "summary.json"

_ATTEMPTS_AT_ONCE = 200

M = TypeVar("M", bound=Model)


def answer_record(run: str, row: Answer | InvalidRow) -> Record:
    """Give the record of kind `answer` that keeps a row of the input with its run."""
    return Record(run, "answer", row.id, row.model_dump(mode="json"))


class RunFolder(Closing):
    """One run on disk. Make it with `create`, `open` or `resume`, and close it."""

    def __init__(
        self, path: Path, manifest: Manifest, ledger: Ledger, lock: FolderLock | None = None
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.ledger = ledger
        self._lock = lock

    @property
    def run(self) -> str:
        """Id of the run in the ledger."""
        return self.manifest.run

    @classmethod
    def create(
        cls,
        path: str | Path,
        manifest: Manifest,
        ledger_url: str | None = None,
        fsync: bool = False,
    ) -> RunFolder:
        """Make a new run in a folder that is empty or not there yet.

        Args:
            path: the folder.
            manifest: what the run is; its `ledger` is set here.
            ledger_url: a ledger elsewhere; None keeps it in the folder.
            fsync: see `Ledger.open`.

        Raises:
            InputError: the folder is not empty, or is a file.
            StorageError: it can't be written.
        """
        path = Path(path)
        _make_empty_folder(path)
        lock = FolderLock(path)
        try:
            _make_empty_folder(path)  # again: another process may have been quicker
            ledger = Ledger.open(ledger_url or path / LEDGER, fsync=fsync)
        except BaseException:
            lock.release()
            raise
        try:
            if ledger_url is None and ledger.runs():
                raise InputError(
                    "the folder holds the ledger of a run whose manifest.json is gone",
                    where=str(path),
                    todo="Restore the manifest, or name another folder.",
                )
            shown = _address(ledger_url, ledger) if ledger_url else None
            manifest = manifest.model_copy(update={"ledger": shown})
            write_atomically(path / MANIFEST, _json_bytes(manifest.model_dump(mode="json")))
        except BaseException:
            ledger.close()
            lock.release()
            raise
        return cls(path, manifest, ledger, lock)

    @classmethod
    def open(
        cls, path: str | Path, *, ledger_url: str | None = None, fsync: bool = False
    ) -> RunFolder:
        """Open a run that is there, in order to read it; its folder may be read-only.

        Args:
            path: the folder.
            ledger_url: where the ledger is, if its URL needs a password (the manifest keeps
                none; libpq's own `PGPASSWORD` and `~/.pgpass` work too).
            fsync: see `Ledger.open`.

        Raises:
            InputError: it is no run, or its manifest can't be read.
            StorageError: its ledger is not there, can't be opened, or holds nothing of the run.
        """
        path = Path(path)
        own = path / LEDGER
        emptied = own.exists() and not own.stat().st_size
        folder = cls._opened(path, ledger_url, fsync, read_only=True)
        found = folder.manifest.ledger is not None or _holds(folder.ledger, folder.run)
        # A run that has only just started holds nothing either, but its ledger has tables.
        if not found and (emptied or folder.ledger.runs()):
            folder.close()
            raise StorageError(
                "the ledger holds nothing of this run", where=str(own), todo="Restore it."
            )
        return folder

    @classmethod
    def _opened(
        cls, path: Path, ledger_url: str | None, fsync: bool, *, read_only: bool = False
    ) -> RunFolder:
        manifest = _read_manifest(path)
        url = ledger_url or manifest.ledger
        if url is None and not (path / LEDGER).exists():
            raise StorageError(
                "the run's ledger is gone", where=str(path / LEDGER), todo="Restore it."
            )
        address = Address.parse(url) if url is not None else None
        if address is not None and address.is_sqlite and not address.path.exists():
            raise StorageError(
                "the run's ledger is gone", where=str(address.path), todo="Restore it."
            )
        ledger = Ledger.open(url or path / LEDGER, fsync=fsync, read_only=read_only)
        return cls(path, manifest, ledger)

    @classmethod
    def resume(
        cls,
        path: str | Path,
        manifest: Manifest,
        ledger_url: str | None = None,
        fsync: bool = False,
    ) -> RunFolder:
        """Open a run in order to go on with it, or make it where nothing was begun.

        Args:
            path: the folder.
            manifest: what is about to be run; it must agree with the run that is there.
            ledger_url: see `create` and `open`.
            fsync: see `Ledger.open`.

        Raises:
            InputError: it is another judge, model or input than the run's (the text names the
                keys of the manifest that differ), or no run at all, or another process judges
                into the folder now.
            StorageError: it can't be read or written.
        """
        if not is_begun(path):
            return cls.create(path, manifest, ledger_url, fsync)
        lock = FolderLock(Path(path))
        try:
            folder = cls._opened(Path(path), ledger_url, fsync)
            folder._lock = lock
        except BaseException:
            lock.release()
            raise
        try:
            check_same(folder.manifest, manifest, str(folder.path))
        except InputError:
            folder.close()
            raise
        return folder

    def judgments(self) -> Iterator[Judgment]:
        """Give each item's judgment; where it has none, the latest failed attempt at one.

        They come in the order in which they were done; `items_in_order` gives that of the input.
        """
        return map(read_judgment, self.results())

    def results(self) -> Iterator[Record]:
        """Give the records of `judgments`."""
        yield from self.ledger.records(self.run, "judgment")
        attempts = self.ledger.records(self.run, "attempt")
        while batch := list(islice(attempts, _ATTEMPTS_AT_ONCE)):
            yield from self._latest_undone(batch)

    def answers(self) -> Iterator[Answer | InvalidRow]:
        """Give the rows of the input that were kept with the run, in order."""
        for record in self.ledger.records(self.run, "answer"):
            yield _answer(record)

    def answer(self, key: str) -> Answer | InvalidRow | None:
        """Give one row of the input by its id."""
        record = self.ledger.get(self.run, "answer", key)
        return None if record is None else _answer(record)

    def write_summary(self, summary: Mapping[str, object]) -> None:
        """Write `summary.json`, whole or not at all.

        Raises:
            StorageError: it can't be written.
        """
        write_atomically(self.path / SUMMARY, _json_bytes(summary))

    def close(self) -> None:
        """Close the ledger; closing twice is no error."""
        self.ledger.close()
        if self._lock is not None:
            self._lock.release()

    def _latest_undone(self, attempts: list[Record]) -> Iterator[Record]:
        """Leave out attempts at items that were judged since, or tried once more."""
        following = {}
        items = {}
        for record in attempts:
            item, _, number = record.key.rpartition("#")
            items[record.key] = item
            following[record.key] = f"{item}#{int(number) + 1}"
        judged = self.ledger.existing(self.run, "judgment", sorted(set(items.values())))
        later = self.ledger.existing(self.run, "attempt", sorted(following.values()))
        for record in attempts:
            if items[record.key] not in judged and following[record.key] not in later:
                yield record


def is_begun(path: str | Path) -> bool:
    """Whether a folder holds anything, so that a new run can't be made in it.

    What a run that was killed at its birth leaves behind does not count.
    """
    folder = Path(path)
    if not folder.is_dir():
        return folder.exists()
    if (folder / MANIFEST).exists():
        return True
    # The ledger is made before the manifest, and gets its first record after it.
    born = (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal")
    return any(entry.name not in born and not is_leftover(entry) for entry in folder.iterdir())


def is_run_file(path: Path) -> bool:
    """Whether a path is one of the files that make up a run."""
    own = {MANIFEST, SUMMARY} | {LEDGER + end for end in ("", "-wal", "-shm", "-journal")}
    return path.name in own and (path.parent / MANIFEST).exists()


def _holds(ledger: Ledger, run: str) -> bool:
    kinds = ("answer", "judgment", "attempt")
    return any(next(ledger.records(run, kind), None) is not None for kind in kinds)


def _address(url: str, ledger: Ledger) -> str:
    """Give a ledger's address as it can be found from any folder, without a password."""
    address = Address.parse(url)
    return str(address.path.absolute()) if address.is_sqlite else ledger.url


def _make_empty_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise InputError("is a file; a run is a folder", where=str(path), todo="Name another.")
    if is_begun(path):
        raise InputError(
            "the folder is not empty",
            where=str(path),
            todo="Name another, or go on with the run in it (--resume).",
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the folder can't be made ({error.strerror})",
            where=str(path),
            todo="Check the path, its permissions and the free space.",
        ) from error


def _read_manifest(path: Path) -> Manifest:
    file = path / MANIFEST
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        what = "is no run: it holds no manifest.json" if path.exists() else "does not exist"
        raise InputError(what, where=str(path), todo="Name the folder of a run.") from None
    except OSError as error:
        raise StorageError(
            f"can't be read ({error.strerror})", where=str(file), todo="Check its permissions."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            f"is no manifest that this version can read ({field}: {first['msg']})",
            where=str(file),
            todo="Open the run with the version of basanite that made it.",
        ) from error


def read_judgment(record: Record) -> Judgment:
    """Read the body of a record of kind `judgment` or `attempt`.

    Raises:
        StorageError: it is none that this version can read.
    """
    return _read(record, Judgment)


def _answer(record: Record) -> Answer | InvalidRow:
    # Only an invalid row has a message, and neither form allows unknown keys.
    if "message" in record.body:
        return _read(record, InvalidRow)
    return _read(record, Answer)


def _read(record: Record, model: type[M]) -> M:
    try:
        return model.model_validate(record.body)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise StorageError(
            f"the ledger's record can't be read as {model.__name__} ({field}: {first['msg']})",
            where=f"{record.kind} {record.key}",
            todo="Open the run with the version of basanite that made it.",
        ) from error


def _json_bytes(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode("ascii")
