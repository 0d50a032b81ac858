"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError, StorageError

PREFIX = ".basanite-"
SUFFIX = ".tmp"


def is_leftover(path: Path) -> bool:
    """Whether a file is one that `atomic_file` was writing when its process was killed."""
    return path.name.startswith(PREFIX) and path.name.endswith(SUFFIX)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write that takes the path's place at the end, if nothing was raised.

    Raises:
        InputError: the path is a folder, or its folder does not exist.
        StorageError: it can't be written.
    """
    if path.is_dir():
        raise InputError("is a folder", where=str(path), todo="Name a file.")
    if not path.parent.is_dir():
        raise InputError("the folder does not exist", where=str(path.parent), todo="Make it.")
    temporary = path.parent / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(
            f"can't be written ({error.strerror or error})",
            where=str(path),
            todo="Check the free space (df -h) and the permissions of its folder.",
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def output_file(path: str | Path) -> Iterator[BinaryIO]:
    """Give a file to write: standard output for `-`, else what `atomic_file` gives."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with atomic_file(Path(path)) as file:
            yield file


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole file, or leave what was there.

    Raises:
        InputError: the path is a folder, or its folder does not exist.
        StorageError: it can't be written.
    """
    with atomic_file(path) as file:
        file.write(content)
