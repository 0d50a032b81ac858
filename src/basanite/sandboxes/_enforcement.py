"""By which mechanism each aspect of a policy is held, and how firmly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal, get_args

from ..errors import IsolationFloorNotMet
from ..schema import Model
from ._spec import Floor, SandboxSpec


class Strength(StrEnum):
    """How firmly a mechanism holds."""

    STRICT = "strict"
    """The kernel holds it at every moment."""
    BEST_EFFORT = "best_effort"
    """Something watches and acts a moment later, or holds only each process for itself."""
    NONE = "none"
    """Nothing holds it."""


class Enforcement(Model):
    """How one aspect is contained."""

    by: str
    """The mechanism, for example `cgroup-v1`."""
    strength: Strength = Strength.STRICT
    residual: str = ""
    """What it does not contain."""


Limit = Literal[
    "memory",
    "processes",
    "cpus",
    "cpu_time",
    "wall",
    "disk",
    "inodes",
    "file_size",
    "output",
]
Border = Literal["files", "network", "processes_seen", "privileges", "syscalls", "devices"]
Aspect = Border | Limit | Literal["user", "kernel"]
"""`user` says as whom the code runs, `kernel` to which kernel it talks."""

LIMITS: tuple[Limit, ...] = get_args(Limit)
"""Aspects that are amounts."""
BORDERS: tuple[Border, ...] = get_args(Border)
"""Aspects of which none may be weak: no backend opens with one that is."""


def demanded(spec: SandboxSpec) -> tuple[Aspect, ...]:
    """Give the limits that a specification sets."""
    limits = spec.limits
    unset = {"cpus": limits.cpus is None, "cpu_time": limits.cpu_s is None}
    return tuple(aspect for aspect in LIMITS if not unset.get(aspect, False))


def check_floor(
    spec: SandboxSpec, enforced: Mapping[Aspect, Enforcement], backend: str, report: object
) -> None:
    """Refuse a sandbox that is weaker than its specification demands.

    Raises:
        IsolationFloorNotMet: names each aspect that falls short, and why.
    """
    short = list(_short(spec, enforced))
    if short:
        raise IsolationFloorNotMet(
            f"the backend {backend} can't give what is demanded: " + "; ".join(short),
            where="sandbox",
            todo="Choose another backend (`basanite sandbox probe` lists them), "
            "let the limits be enforced by cgroups, or lower the floor.",
            report=report,
        )


def _short(spec: SandboxSpec, enforced: Mapping[Aspect, Enforcement]) -> Iterator[str]:
    nothing = Enforcement(by="nothing", strength=Strength.NONE)
    for border in BORDERS:
        found = enforced.get(border, nothing)
        if found.strength is not Strength.STRICT:
            yield f"{border} by {found.by} ({found.strength.value})"
    if Floor.OWN_KERNEL in spec.floor and enforced.get("kernel", nothing).by == "shared":
        yield "the kernel is the host's"
    for limit in demanded(spec):
        found = enforced.get(limit, nothing)
        strict = Floor.STRICT_LIMITS in spec.floor
        if found.strength is Strength.NONE or (strict and found.strength is not Strength.STRICT):
            yield f"{limit} by {found.by} ({found.strength.value})"


__all__ = [
    "BORDERS",
    "LIMITS",
    "Aspect",
    "Enforcement",
    "Strength",
    "check_floor",
    "demanded",
]
