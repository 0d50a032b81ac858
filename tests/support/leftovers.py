"""What sandboxes may leave behind on a machine, and a look for it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from basanite.sandboxes._processes import children_of

_WAIT_S = 5.0
_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Before:
    """What was there before a test: others may use sandboxes on this machine as well."""

    folders: frozenset[Path]
    groups: frozenset[Path]
    zombies: frozenset[int]


def seen_before(root: Path) -> Before:
    """Look around before a test."""
    return Before(frozenset(_folders(root)), frozenset(_groups()), frozenset(_zombies()))


def leftovers(root: Path, before: Before, *, wait_s: float = _WAIT_S) -> list[str]:
    """Give what sandboxes below a root have left, after a moment for the kernel.

    Args:
        root: the folder of all sandboxes of this test run.
        before: what was there before.
        wait_s: how long what is on its way out may take.
    """
    deadline = time.monotonic() + wait_s
    found = list(_left(root, before))
    while found and time.monotonic() < deadline:
        time.sleep(0.02)
        # What comes up later is somebody else's.
        now = set(_left(root, before))
        found = [one for one in found if one in now]
    return found


def _left(root: Path, before: Before) -> Iterator[str]:
    yield from processes_of(root)
    text = str(root)
    for line in _text(Path("/proc/self/mountinfo")).splitlines():
        if text in line:
            yield f"mount: {line}"
    for group in _groups():
        # One with processes is somebody else's: ours were seen above.
        mine = group not in before.groups and not _elsewhere(group, root)
        if mine and not _text(group / "cgroup.procs").strip():
            yield f"control group: {group}"
    for pid in _zombies():
        if pid not in before.zombies:
            yield f"dead child that nobody waited for: {pid}"
    for folder in _folders(root):
        if folder not in before.folders:
            yield f"folder: {folder}"


def processes_of(root: Path) -> Iterator[str]:
    """Give the processes that have a mount from below a folder, or name it in their command."""
    text = str(root)
    own = _namespace(Path("/proc/self"))
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        command = _text(process / "cmdline").replace("\0", " ")
        inside = _namespace(process) != own and text in _text(process / "mountinfo")
        if inside or text in command:
            yield f"process {process.name}: {command or _text(process / 'comm').strip()}"


def _elsewhere(group: Path, root: Path) -> bool:
    """Say whether a group is that of a sandbox below another root, such as another worker's."""
    identity = group.name.split("-")[1]
    return any(place.parent != root for place in root.parent.glob(f"*/{identity}"))


def _folders(root: Path) -> list[Path]:
    return [path.parent for path in root.glob("*/lock")]


def _namespace(process: Path) -> str:
    try:
        return os.readlink(process / "ns" / "mnt")  # noqa: PTH115 (no path: `mnt:[1234]`)
    except OSError:
        return ""


def _groups() -> list[Path]:
    return [
        Path(folder, name)
        for folder, names, _ in os.walk(_GROUPS)
        for name in names
        if name.startswith("basanite-")
    ]


def _zombies() -> Iterator[int]:
    for child in children_of(os.getpid()):
        state = _text(Path("/proc", str(child), "stat")).rpartition(")")[2].split()
        if state and state[0] == "Z":
            yield child


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


__all__ = ["Before", "leftovers", "processes_of", "seen_before"]
