"""Folders that are there whole or not at all, as far as a folder can be."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import InputError, StorageError
from ._files import PREFIX, SUFFIX


@contextmanager
def whole_folder(path: Path, *, is_ours: Callable[[Path], bool], force: bool) -> Iterator[Path]:
    """Give an empty folder to fill that takes the path's place at the end, if nothing was raised.

    Between the two renames at the end there is a moment in which nothing has the path's name.

    Args:
        path: the folder to make; an empty one may be there.
        is_ours: whether a folder that is there holds what is written here, and nothing else.
        force: put the new folder in the place of one that is ours.

    Raises:
        InputError: the path is a file, its folder does not exist, or what is there must stay.
        StorageError: it can't be written.
    """
    path = path.resolve()  # a link stays, and what it leads to is replaced
    _check(path, is_ours, force=force)
    new = _beside(path)
    try:
        new.mkdir()
        yield new
        for file in new.rglob("*"):
            _sync(file)
        _check(path, is_ours, force=force)  # again: writing may have taken long
        _put_in_place(new, path)
    except OSError as error:
        raise StorageError(
            f"can't be written ({error.strerror or error})",
            where=str(path),
            todo="Check the free space (df -h) and the permissions of its folder.",
        ) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _check(path: Path, is_ours: Callable[[Path], bool], *, force: bool) -> None:
    if not path.parent.is_dir():
        raise InputError("the folder does not exist", where=str(path.parent), todo="Make it.")
    if not path.exists():
        return
    if not path.is_dir():
        raise InputError("is a file", where=str(path), todo="Name a folder.")
    if next(path.iterdir(), None) is None:
        return
    if not is_ours(path):
        raise InputError(
            "the folder holds something other than an earlier export",
            where=str(path),
            todo="Name another; --force only replaces what an export wrote.",
        )
    if not force:
        raise InputError(
            "an earlier export is there", where=str(path), todo="Name another, or give --force."
        )


def _put_in_place(new: Path, path: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    old = _beside(path)
    path.rename(old)
    try:
        new.rename(path)
    except OSError:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _beside(path: Path) -> Path:
    return path.parent / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
