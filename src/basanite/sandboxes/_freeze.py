"""Stop all processes of an execution for a moment, so that its files can be read without a race.

A stop signal can't be caught, but another process can send the signal that lets it go on. So it
is repeated until a proof holds: in two walks one after the other the same threads were found,
all stopped, and none had run in between. Then at the end of the first walk none was running, and
what does not run can wake nobody.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ._processes import tree_of

_WALK_S = 0.005
_STOPPED = frozenset("TtZX")


class NotFrozen(Exception):
    """The processes could not be stopped in time."""


@contextlib.contextmanager
def frozen(root: int, groups: Sequence[Path], *, within_s: float) -> Iterator[None]:
    """Keep all processes under one stopped; that one, which is the backend's, goes on.

    Args:
        root: the first process of the process namespace.
        groups: folders of control groups that hold the same processes.
        within_s: seconds until it is given up.

    Raises:
        NotFrozen: they start and wake each other faster than they can be stopped.
    """
    deadline = time.monotonic() + within_s
    try:
        before = None
        while (seen := _stopped(root, groups)) is None or seen != before:
            if time.monotonic() > deadline:
                raise NotFrozen
            before = seen
            time.sleep(_WALK_S)
        yield
    finally:
        for pid in _pids(root, groups):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def _stopped(root: int, groups: Sequence[Path]) -> dict[str, str] | None:
    """Send the stop signal to all and give how long each thread has run; None: not all stopped."""
    found: dict[str, str] = {}
    calm = True
    for pid in _pids(root, groups):
        try:
            os.kill(pid, signal.SIGSTOP)
            for thread in Path("/proc", str(pid), "task").iterdir():
                state = (thread / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
                calm &= state[0] in _STOPPED
                found[str(thread)] = (thread / "schedstat").read_text("ascii")
        except (OSError, IndexError):
            calm = False  # it ended just now
    return found if calm else None


def _pids(root: int, groups: Sequence[Path]) -> set[int]:
    found = set(tree_of(root))
    for group in groups:
        with contextlib.suppress(OSError):
            found |= {int(pid) for pid in (group / "cgroup.procs").read_text("ascii").split()}
    return found - {root, 0}


__all__ = ["NotFrozen", "frozen"]
