"""Where a sandbox's files lie on this machine, and how those of a dead supervisor are found.

Each open sandbox has a folder, locked by the process that owns it. A lock that nobody holds
means that its owner died: what it left (processes, groups, containers, files) is removed when
the next sandbox is opened.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SandboxLost, SandboxUnavailable, SetupError
from . import _cgroup

_FIRST_UID = 61_001
_UIDS = 1_000
_LOCK = "lock"
_LEFT = "left.json"
_START_FIELD = 19
_HOUR_S = 3600.0
_GROUPS = Path("/sys/fs/cgroup")


def state_root() -> Path:
    """Give the folder of all sandboxes of this user, made if it is not there.

    `BASANITE_SANDBOXES` names another place: it must be on a file system that this user can
    write and, for root, that others can pass through.
    """
    named = os.environ.get("BASANITE_SANDBOXES")
    root = Path(named) if named else Path(_var_tmp()) / f"basanite-sandboxes-{os.getuid()}"
    # Others may pass through but not list: a throw-away user must reach what is bound inside.
    with contextlib.suppress(FileExistsError):
        root.mkdir(mode=0o711, parents=True)
    found = root.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise SetupError(
            "the folder for sandboxes is not this user's alone",
            where=str(root),
            todo="Remove it, or name another one by BASANITE_SANDBOXES.",
        )
    return root.resolve()


def _var_tmp() -> str:
    # Not /tmp: that is often in memory, and work folders on disk can be large.
    return "/var/tmp" if os.access("/var/tmp", os.W_OK | os.X_OK) else tempfile.gettempdir()


@dataclass(slots=True)
class Folder:
    """The folder of one open sandbox."""

    id: str
    path: Path
    lock: int

    @classmethod
    def create(cls) -> Folder:
        """Make and lock a folder of a new name."""
        root = state_root()
        identity = f"{secrets.token_hex(6)}"
        path = root / identity
        path.mkdir(mode=0o711)
        # Locked before it has its name: else a reaper could take it for that of a dead owner.
        fresh = path / f"{_LOCK}.new"
        lock = os.open(fresh, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fresh.rename(path / _LOCK)
        return cls(identity, path, lock)

    def note(self, **left: object) -> None:
        """Write down what a successor must remove should this process die."""
        target = self.path / _LEFT
        known = json.loads(target.read_text("utf-8")) if target.exists() else {}
        fresh = target.with_suffix(".new")
        fresh.write_text(json.dumps({**known, **left}), "utf-8")
        fresh.replace(target)

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        _remove_tree(self.path)
        os.close(self.lock)


def _remove_tree(path: Path) -> None:
    work = path / "work"
    if _holds_something(work):
        # By programs: what code made can be nested deeper than this interpreter can follow, and
        # code may have closed its folders, also to their owner.
        subprocess.run(["chmod", "-R", "u+rwX", "--", str(work)], check=False, capture_output=True)
        subprocess.run(["rm", "-rf", "--one-file-system", "--", str(work)], check=False)
    shutil.rmtree(path, ignore_errors=True)


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except PermissionError:
        return True
    except FileNotFoundError:
        return False


def drops_user() -> bool:
    """Whether sandboxes run as another user than this process: under root, where there are others.

    Root of a user namespace that knows no other user (`unshare --map-root-user`) is a plain user
    to the machine, and nothing need be dropped.

    Raises:
        SandboxUnavailable: this is the machine's root, and there is nobody to become.
    """
    if os.getuid() != 0:
        return False
    ranges = [tuple(map(int, line.split())) for line in _USERS.read_text("ascii").splitlines()]
    if any(first <= _FIRST_UID and first + n >= _FIRST_UID + _UIDS for first, _, n in ranges):
        return True
    if any(first == 0 and outside == 0 for first, outside, _ in ranges):
        raise SandboxUnavailable(
            f"root can't become a user from {_FIRST_UID} to {_FIRST_UID + _UIDS - 1}",
            where=str(_USERS),
            todo="Give the container these users as well, or start as a plain user.",
        )
    return False


_USERS = Path("/proc/self/uid_map")


class UserSlot:
    """A throw-away user for one sandbox, so that two never share one; for root only."""

    def __init__(self) -> None:
        folder = state_root() / "users"
        folder.mkdir(mode=0o700, exist_ok=True)
        for uid in range(_FIRST_UID, _FIRST_UID + _UIDS):
            lock = os.open(folder / str(uid), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            self.uid = uid
            self._lock = lock
            return
        raise SandboxUnavailable(
            f"all {_UIDS} users for sandboxes are taken", where=str(folder),
            todo="Close sandboxes that are no longer needed.",
        )  # fmt: skip

    def release(self) -> None:
        """Let another sandbox have the user."""
        os.close(self._lock)


def process_mark(pid: int) -> tuple[int, int]:
    """Give a process's id and its start, which tell it from a later one with the same id."""
    text = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    return pid, int(text.rpartition(")")[2].split()[_START_FIELD])


def reap() -> tuple[str, ...]:
    """Remove what sandboxes of dead processes left, and give their ids."""
    root = state_root()
    return tuple(folder.name for folder in _orphans(root) if _reap_one(folder))


def _orphans(root: Path) -> Iterator[Path]:
    for folder in root.iterdir():
        if (folder / _LOCK).exists():
            yield folder
        elif (folder / f"{_LOCK}.new").exists() and time.time() - folder.stat().st_mtime > _HOUR_S:
            # Its owner died between two system calls.
            _remove_tree(folder)


def _reap_one(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        _remove_leftovers(folder)
        _remove_tree(folder)
        return True
    finally:
        os.close(lock)


def _remove_leftovers(folder: Path) -> None:
    try:
        left = json.loads((folder / _LEFT).read_text("utf-8"))
    except (OSError, ValueError):
        return
    for mark in _noted(left, "processes"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            if process_mark(mark[0]) == tuple(mark):
                os.kill(mark[0], 9)
    for command in _noted(left, "commands"):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=30
            )
    _remove_groups(map(Path, _noted(left, "groups")))
    _remove_groups(_groups_of(folder.name))


def _groups_of(identity: str) -> Iterator[Path]:
    """Give the groups that engines made at the top of the hierarchies under a sandbox's name."""
    for root in (_GROUPS, *_GROUPS.glob("*/")):
        yield from root.glob(f"{_cgroup.PREFIX}{identity}-*")


def _noted(left: object, name: str) -> list[Any]:
    """Give one list of the notes; power that failed may have cut them short."""
    found = left.get(name) if isinstance(left, dict) else None
    return found if isinstance(found, list) else []


def _remove_groups(groups: Iterable[Path]) -> None:
    for group in groups:
        if not group.name.startswith(_cgroup.PREFIX):
            continue
        with contextlib.suppress(OSError, SandboxLost):
            _cgroup.remove_group(group)


__all__ = ["Folder", "UserSlot", "drops_user", "process_mark", "reap", "state_root"]
