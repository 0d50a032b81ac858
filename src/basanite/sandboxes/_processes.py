"""Which processes another has started, by what the kernel lists for each of its threads."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """Give the processes that a process, any of its threads, has started and not waited for.

    Threads that end meanwhile are passed over, and only they.
    """
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 (polled: plain names are fast)
    except OSError:
        return found
    for thread in threads:
        with contextlib.suppress(OSError):
            listed = Path(f"/proc/{pid}/task/{thread}/children").read_text("ascii")
            found += map(int, listed.split())
    return found


def tree_of(root: int) -> list[int]:
    """Give a process and all below it."""
    found: dict[int, None] = {}
    queue = [root]
    while queue:
        pid = queue.pop()
        if pid not in found:
            found[pid] = None
            queue += children_of(pid)
    return list(found)


__all__ = ["children_of", "tree_of"]
