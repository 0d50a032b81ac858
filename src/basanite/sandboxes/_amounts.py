"""How limits of amounts are held: by control groups, or by what a plain user has."""

from __future__ import annotations

import math
import os
import random
import re

from ._cgroup import GroupMaker
from ._enforcement import Aspect, Enforcement, Strength
from ._spec import SandboxSpec
from ._state import drops_user

_COUNTS_PER_NAMESPACE = (5, 14)
"""From this version of Linux on, RLIMIT_NPROC counts in the sandbox's own user namespace."""


def some_cores(cpus: float) -> set[int]:
    """Give as many cores as a limit allows, at least one, for the affinity of a process."""
    cores = sorted(os.sched_getaffinity(0))
    wanted = min(len(cores), max(1, math.ceil(cpus)))
    return set(random.sample(cores, wanted))


def amounts(spec: SandboxSpec, maker: GroupMaker | None) -> dict[Aspect, Enforcement]:
    """Say how each limit is held, by groups or without."""
    soft = Strength.BEST_EFFORT
    held = maker is not None
    group = maker.mechanism if maker is not None else ""
    late = "acts up to 0.05 s late"
    tmpfs = spec.workdir == "memory"
    return {
        "memory": Enforcement(by=group)
        if held
        else Enforcement(
            by="rlimit and watchdog",
            strength=soft,
            residual="many processes together can exceed it for some 0.02 s",
        ),
        "processes": Enforcement(by=group)
        if held
        else Enforcement(
            by="rlimit",
            strength=Strength.STRICT if _own_count() else soft,
            residual="" if _own_count() else "this user's other processes count too",
        ),
        "cpus": Enforcement(by=group)
        if held
        else Enforcement(by="affinity", strength=soft, residual="whole cores only"),
        "cpu_time": Enforcement(by=group, residual=late)
        if held
        else Enforcement(
            by="rlimit and watchdog", strength=soft, residual="short processes escape"
        ),
        "wall": Enforcement(by="supervisor"),
        "disk": Enforcement(by="tmpfs")
        if tmpfs
        else Enforcement(by="watchdog", strength=soft, residual="acts up to a second late"),
        "inodes": Enforcement(by="tmpfs")
        if tmpfs
        else Enforcement(by="watchdog", strength=soft, residual="acts up to a second late"),
        "file_size": Enforcement(by="rlimit"),
        "output": Enforcement(by="supervisor"),
    }


def _own_count() -> bool:
    if drops_user():
        return True  # each sandbox has a user of its own
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= _COUNTS_PER_NAMESPACE


__all__ = ["amounts", "some_cores"]
