"""What all processes of an execution use together, where no group of the kernel counts it.

A poll of the process tree: it acts a moment late, and what is shared between processes is
counted exactly only when a limit is near, since that is slow to read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ._processes import tree_of

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
POLL_S = 0.02


@dataclass(slots=True)
class TreeUsage:
    """What the tree of processes under one used when it was last looked at, and at most."""

    memory_bytes: int = 0
    peak_memory_bytes: int = 0
    cpu_s: float = 0.0
    peak_processes: int = 0


class Tree:
    """The processes under one, that one included."""

    def __init__(
        self, root: int, memory_limit: int, memory_of: Callable[[list[int]], int] | None = None
    ) -> None:
        self._root = root
        self._memory_of = memory_of
        self._limit = memory_limit
        self._cpu: dict[int, float] = {}
        self.usage = TreeUsage()

    def look(self) -> TreeUsage:
        """Walk the tree once."""
        pids = tree_of(self._root)
        memory = self._memory(pids) if self._memory_of is None else self._memory_of(pids)
        for pid in pids:
            self._cpu[pid] = max(self._cpu.get(pid, 0.0), _cpu_s(pid))
        usage = self.usage
        usage.memory_bytes = memory
        usage.peak_memory_bytes = max(usage.peak_memory_bytes, memory)
        usage.cpu_s = sum(self._cpu.values())
        usage.peak_processes = max(usage.peak_processes, len(pids) - 1)
        return usage

    def _memory(self, pids: list[int]) -> int:
        resident = {pid: _resident(pid) for pid in pids}
        memory = sum(resident.values())
        if memory > self._limit:
            # Pages that children share with their parent count once for each: look closer.
            memory = sum(_proportional(pid, resident[pid]) for pid in pids)
        return memory


def _read(path: str) -> str:
    try:
        return Path(path).read_text("ascii", "replace")
    except OSError:
        return ""


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE if len(fields) > 1 else 0


def _proportional(pid: int, resident: int) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return resident


def _cpu_s(pid: int) -> float:
    _, _, tail = _read(f"/proc/{pid}/stat").rpartition(")")
    fields = tail.split()
    return (int(fields[11]) + int(fields[12])) / _TICKS if len(fields) > 12 else 0.0


__all__ = ["POLL_S", "Tree", "TreeUsage"]
