"""Take files out of a work folder that hostile code has filled.

The walk starts from a descriptor of the folder and never follows a link, opens nothing but
regular files, and stops at its limits. The processes that it follows are dead; what others in
the same sandbox change meanwhile can spoil a copy, never lead out of the folder. What is taken is
bytes: nothing is unpacked, decoded or imported here.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ._result import Artifact, Rejected
from ._spec import MIB, Limits

MAX_DEPTH = 32
_MAX_VISITED = 200_000
_MAX_REJECTED = 1_000
_BLOCK = 1 << 20
_CACHES = frozenset({"__pycache__"})
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(slots=True)
class Collected:
    """What was taken, what was not, and whether that is all there was."""

    artifacts: list[Artifact] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    complete: bool = True


def collect(work: Path, destination: Path, limits: Limits) -> Collected:
    """Copy the regular files of a work folder.

    Args:
        work: the folder, by a path that this process controls.
        destination: a folder of this process; files get plain numbers as names there, so that
            no hostile name touches this machine's file system.
        limits: number and size of what is taken.
    """
    destination.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walk = _Walk(destination, limits)
    try:
        walk.folder(root, (), 0)
    finally:
        os.close(root)
    return walk.found


class _Walk:
    def __init__(self, destination: Path, limits: Limits) -> None:
        self.found = Collected()
        self._destination = destination
        self._limits = limits
        self._left = limits.artifacts_mb * MIB
        self._visited = 0

    def folder(self, descriptor: int, above: tuple[str, ...], depth: int) -> None:
        for name in sorted(self._names(descriptor)):
            path = (*above, name)
            try:
                found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                self._entry(descriptor, name, path, found, depth)
            except OSError as error:
                self._reject(path, f"can't be read ({error.strerror})")

    def _names(self, descriptor: int) -> Iterator[str]:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                self._visited += 1
                if self._visited > _MAX_VISITED:
                    self.found.complete = False
                    return
                yield entry.name

    def _entry(
        self, parent: int, name: str, path: tuple[str, ...], found: os.stat_result, depth: int
    ) -> None:
        reason = bad_name(name)
        if reason:
            self._reject(path, reason)
        elif stat.S_ISDIR(found.st_mode):
            self._enter(parent, name, path, found, depth)
        elif stat.S_ISREG(found.st_mode):
            self._file(parent, name, path, found)
        else:
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no regular file")
            self._reject(path, f"{kind}: only regular files are taken")

    def _enter(
        self, parent: int, name: str, path: tuple[str, ...], found: os.stat_result, depth: int
    ) -> None:
        if name.startswith(".") or name in _CACHES:
            # Caches of numba, fontconfig and others: they would fill the list.
            self._reject(path, "a hidden folder or a cache")
            return
        if depth + 1 >= MAX_DEPTH:
            self._reject(path, f"deeper than {MAX_DEPTH} folders")
            return
        descriptor = _open(parent, name, found, os.O_DIRECTORY)
        try:
            self.folder(descriptor, path, depth + 1)
        finally:
            os.close(descriptor)

    def _file(self, parent: int, name: str, path: tuple[str, ...], found: os.stat_result) -> None:
        number = len(self.found.artifacts)
        if number >= self._limits.artifacts:
            self._reject(path, f"more than {self._limits.artifacts} files")
        elif found.st_size > self._left:
            self._reject(path, f"the files together exceed {self._limits.artifacts_mb} MB")
        else:
            descriptor = _open(parent, name, found, os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb", buffering=0) as source:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    self._reject(path, "no regular file any more")
                    return
                target = self._destination / str(number)
                size, digest = _copy(source.fileno(), target, self._left)
            self._left -= size
            self.found.artifacts.append(
                Artifact(path="/".join(path), size=size, sha256=digest, file=target)
            )

    def _reject(self, path: tuple[str, ...], reason: str) -> None:
        if len(self.found.rejected) >= _MAX_REJECTED:
            self.found.complete = False
            return
        self.found.rejected.append(Rejected(path=printable("/".join(path)), reason=reason))


def _open(parent: int, name: str, found: os.stat_result, flags: int) -> int:
    needed = stat.S_IRUSR | (stat.S_IXUSR if flags & os.O_DIRECTORY else 0)
    if found.st_mode & needed != needed:
        _grant(parent, name)
    flags |= os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, dir_fd=parent)


def _grant(parent: int, name: str) -> None:
    """Give this user, the owner, a right back that code has taken away.

    By a descriptor: another execution may still run and put a link in the name's place.
    """
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(os.fstat(handle).st_mode | stat.S_IRWXU)
    finally:
        os.close(handle)


def _copy(source: int, target: Path, limit: int) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as file:
        while block := os.read(source, _BLOCK):
            size += len(block)
            if size > limit:
                raise OSError(errno.EFBIG, "it grew while it was read")
            digest.update(block)
            file.write(block)
    return size, digest.hexdigest()


def bad_name(name: str) -> str | None:
    """Say what makes a file name unfit to be passed on, if anything."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    for character in name:
        # Cc, Cf, Cs, Co, Cn: control and format characters, among them those that turn text around.
        if unicodedata.category(character).startswith("C"):
            return "its name holds a control character"
    return None


def printable(text: str) -> str:
    """Give text of unknown origin with all that can't be printed escaped."""
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        for character in text
    )


def summed(listing: Iterable[bytes], limit_entries: int) -> tuple[int, int]:
    """Give the bytes on disk and the number of entries from lines of blocks of 512 bytes.

    Stops once there are more than `limit_entries`.
    """
    size = entries = 0
    for line in listing:
        entries += 1
        size += 512 * int(line)
        if entries > limit_entries:
            break
    return size, entries


def keep_artifacts(artifacts: Sequence[Artifact], destination: Path) -> list[Path]:
    """Copy artifacts under their own names into a folder of the user's, made if need be.

    Their paths hold only plain names (see `bad_name`) and no link, so they stay below it.
    """
    kept = []
    for artifact in artifacts:
        if artifact.file is None:
            continue
        target = destination / artifact.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(artifact.file, target)
        kept.append(target)
    return kept


__all__ = ["Collected", "bad_name", "collect", "keep_artifacts", "printable", "summed"]
