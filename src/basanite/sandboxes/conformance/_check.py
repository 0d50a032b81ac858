"""What a check is, what it saw, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from .._enforcement import Aspect, Enforcement, Strength
from .._result import ExecResult, Status
from .._sandbox import Sandbox
from .._spec import SandboxSpec
from ._bait import Bait
from ._inside import MARK


class Verdict(StrEnum):
    """What a check has shown."""

    CONTAINED = "contained"
    """The attack was tried and held."""
    NOT_CONTAINED = "not_contained"
    """The attack had an effect that it must not have, or broke the sandbox."""
    NOT_APPLICABLE = "not_applicable"
    """The backend says by itself that it does not hold this, or this machine can't try it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one check."""

    check: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    """What got through, or why the check does not apply."""
    tried: tuple[str, ...] = ()
    """What the attack tried and was refused."""
    seconds: float = 0.0

    def __str__(self) -> str:
        said = "; ".join(self.reasons)
        return f"{self.check}: {self.verdict.value}" + (f" ({said})" if said else "")


@dataclass(slots=True)
class Evidence:
    """What was seen of an attack: its executions, what it said, and the host's bait."""

    bait: Bait
    enforced: Mapping[str, Enforcement]
    results: list[ExecResult] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    escaped: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def result(self) -> ExecResult:
        """The last execution."""
        return self.results[-1]

    def add(self, result: ExecResult) -> None:
        """Take one more execution in."""
        self.results.append(result)
        for line in result.stdout.text.splitlines():
            if line.startswith(MARK):
                self._line(line.removeprefix(MARK))

    def _line(self, text: str) -> None:
        try:
            said = json.loads(text)
        except ValueError:
            return  # cut in the middle of a flood
        kind, what = said["kind"], said["what"]
        if kind == "fact":
            self.facts[what] = said["value"]
        elif kind == "loot":
            if self.bait.token in said["value"]:
                self.escaped.append(f"the host's secret was read from {what}")
            else:
                self.held.append(f"read {what}: no secret in it")
        else:
            {"held": self.held, "escaped": self.escaped, "absent": self.absent}[kind].append(what)


Verifier = Callable[[Evidence], Iterable[str]]
Step = Callable[[Sandbox, Evidence], Awaitable[None]]


class OpenSandbox(Protocol):
    """What opens a sandbox of the backend under test."""

    def __call__(self, spec: SandboxSpec, /) -> Awaitable[Sandbox]:
        """Open one."""


def nothing_more(_: Evidence) -> Iterator[str]:
    """Verify nothing beyond what the attack says and what the bait shows."""
    yield from ()


@dataclass(frozen=True, slots=True)
class Check:
    """One attack and what must be true after it.

    An attack is Python source that runs inside, after the text of `_inside`. It must be harmless
    where it gets through: it opens a file of the host and closes it, never writes; it reaches
    for nothing but the bait; what it uses up is bounded and ends by itself within seconds.
    """

    name: str
    shows: str
    """What holds, as a sentence."""
    attack: str
    aspects: tuple[Aspect, ...]
    verify: Verifier = nothing_more
    """Gives what is wrong with what was seen; nothing: all is well."""
    limits: Mapping[str, object] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)
    """Other fields of the specification."""
    again: str | None = None
    """A second attack, in the same sandbox after the first."""
    fresh: str | None = None
    """An attack in another sandbox of the same specification, after the first is closed."""
    beside: str | None = None
    """Source that runs in a neighbouring sandbox during the attack; it says `ready`."""
    between: Step | None = None
    """What the supervisor does between `attack` and `again`."""
    strict: bool = False
    """Whether only a mechanism of the kernel can be asked to hold this."""
    host_kernel: bool = False
    """Whether it matters only where the code inside talks to the host's kernel."""
    silent: bool = False
    """Whether the attack can't say what it tried, so that its verifier alone decides."""


def ended(*statuses: Status) -> Verifier:
    """Verify how an execution ended."""

    def verify(seen: Evidence) -> Iterator[str]:
        if seen.result.status not in statuses:
            wanted = " or ".join(status.value for status in statuses)
            yield f"it ended as {seen.result.status.value}, not {wanted}"

    return verify


def hit(*limits: str) -> Verifier:
    """Verify that a result names the limits that were met."""

    def verify(seen: Evidence) -> Iterator[str]:
        for limit in limits:
            if limit not in seen.result.limits_hit:
                yield f"the limit {limit} is not named in the result"

    return verify


def within(seconds: float) -> Verifier:
    """Verify that an execution took no longer than this."""

    def verify(seen: Evidence) -> Iterator[str]:
        if seen.result.usage.wall_s > seconds:
            yield f"it lived for {seen.result.usage.wall_s:.1f} s"

    return verify


def both(*verifiers: Verifier) -> Verifier:
    """Join verifiers."""

    def verify(seen: Evidence) -> Iterator[str]:
        for one in verifiers:
            yield from one(seen)

    return verify


def made_up(seen: Evidence, folder: str) -> bool:
    """Say whether a folder is made up by a kernel inside, whose root the code is, and says so.

    What is in it then lies in the sandbox's memory, and counts as such.
    """
    kernel, user = seen.enforced.get("kernel"), seen.enforced.get("user")
    if kernel is None or user is None:
        return False
    its_own = kernel.by != "shared" and user.strength is Strength.NONE
    return its_own and folder in ("/dev", "/sys")


def unmet(check: Check, enforced: Mapping[str, Enforcement]) -> Sequence[str]:
    """Give why a check does not apply to what a backend says it enforces."""
    reasons = []
    kernel = enforced.get("kernel")
    if check.host_kernel and kernel is not None and kernel.by != "shared":
        reasons.append(f"the code inside has a kernel of its own ({kernel.by})")
    for aspect in check.aspects:
        entry = enforced.get(aspect)
        if entry is None:
            continue
        weak = entry.strength.value != "strict"
        if entry.strength.value == "none" or (check.strict and weak):
            residual = f": {entry.residual}" if entry.residual else ""
            reasons.append(f"{aspect} by {entry.by} ({entry.strength.value}){residual}")
    return reasons


__all__ = [
    "Check",
    "Evidence",
    "OpenSandbox",
    "Outcome",
    "Step",
    "Verdict",
    "Verifier",
    "both",
    "ended",
    "hit",
    "made_up",
    "nothing_more",
    "unmet",
    "within",
]
