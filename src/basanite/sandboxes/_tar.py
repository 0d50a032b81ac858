"""Take files out of an archive of a work folder that hostile code has filled.

Only regular files come out, under plain numbers as names; links, devices and names that lead
elsewhere are refused. Nothing is unpacked by the archive's own names.
"""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path, PurePosixPath

from ..errors import SandboxLost
from ._collect import MAX_DEPTH, Collected, bad_name, printable
from ._result import Artifact, Rejected
from ._spec import MIB, Limits

_BLOCK = 1 << 20
_MAX_MEMBERS = 200_000
_MAX_REJECTED = 1_000
_CACHES = frozenset({"__pycache__"})


def collect_tar(archive: Path, destination: Path, limits: Limits) -> Collected:
    """Copy the regular files of an archive; one that was cut off counts as incomplete.

    Raises:
        SandboxLost: it is no archive.
    """
    destination.mkdir(mode=0o700, parents=True, exist_ok=True)
    found, left = Collected(), limits.artifacts_mb * MIB
    try:
        with tarfile.open(archive, "r:") as tar:
            visited = 0
            while (member := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # it would remember every one
                visited += 1
                if visited > _MAX_MEMBERS:
                    found.complete = False
                    break
                reason = _why_not(member, found, limits, left)
                if reason is None:
                    left -= _take(tar, member, destination, found)
                elif reason:
                    _reject(found, member.name.removeprefix("./"), reason)
    except tarfile.ReadError as error:
        if not found.artifacts and not found.rejected and archive.stat().st_size == 0:
            raise SandboxLost(f"no archive came back ({error})", where="work folder") from None
        found.complete = False
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        found.complete = False
        _reject(found, "archive", f"can't be read on ({error})")
    return found


def _why_not(member: tarfile.TarInfo, found: Collected, limits: Limits, left: int) -> str | None:
    """Say why a member is not taken: "" needs no word, None: it is."""
    path = PurePosixPath(member.name)
    parts = path.parts
    if path.is_absolute() or ".." in parts:
        return "its name leads out of the work folder"
    for part in parts:
        wrong = bad_name(part)
        if wrong:
            return wrong
    hidden = [n for n, part in enumerate(parts) if part.startswith(".") or part in _CACHES]
    if member.isdir():
        is_cache = hidden == [len(parts) - 1]
        return "a hidden folder or a cache" if is_cache else ""
    if hidden and hidden[0] < len(parts) - 1:
        return ""  # its folder has been named
    if not member.isreg() or member.issparse():
        return "not a plain file: only regular files are taken"
    if len(parts) > MAX_DEPTH:
        return f"lies more than {MAX_DEPTH} folders deep"
    if len(found.artifacts) >= limits.artifacts:
        return f"more than {limits.artifacts} files"
    if member.size > left:
        return f"all files together are larger than {limits.artifacts_mb} MB"
    return None


def _take(
    tar: tarfile.TarFile, member: tarfile.TarInfo, destination: Path, found: Collected
) -> int:
    source = tar.extractfile(member)
    if source is None:
        raise ValueError(f"{printable(member.name)} has no content")
    target = destination / str(len(found.artifacts))
    sha256, size = hashlib.sha256(), 0
    try:
        with source, target.open("xb") as file:
            while block := source.read(_BLOCK):
                sha256.update(block)
                size += file.write(block)
        if size != member.size:
            raise EOFError("it was cut off")
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    path = str(PurePosixPath(member.name))
    found.artifacts.append(Artifact(path=path, size=size, sha256=sha256.hexdigest(), file=target))
    return size


def _reject(found: Collected, name: str, reason: str) -> None:
    if len(found.rejected) >= _MAX_REJECTED:
        found.complete = False
        return
    found.rejected.append(Rejected(path=printable(name), reason=reason))


__all__ = ["collect_tar"]
