"""One process judges into a folder at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..errors import InputError


class FolderLock:
    """Held from making to `release`, or to the end of the process, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            InputError: another process holds it.
        """
        self._file: int | None = None
        if sys.platform == "win32":
            return  # no flock there
        import fcntl

        file = os.open(folder, os.O_RDONLY)  # the folder itself: no file that stays behind
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise InputError(
                "another process judges into this folder now",
                where=str(folder),
                todo="Wait for its end, or name another folder.",
            ) from None
        except OSError:
            pass  # a file system without locks, such as some network shares
        self._file = file

    def release(self) -> None:
        """Give the lock up; twice is no error."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
