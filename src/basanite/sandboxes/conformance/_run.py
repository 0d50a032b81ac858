"""Run checks against a backend."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence

from ...errors import BasaniteError
from .._enforcement import Enforcement
from .._result import Chunk, Event
from .._sandbox import Sandbox
from .._spec import SandboxSpec
from ._bait import MARKER, Bait
from ._check import Check, Evidence, OpenSandbox, Outcome, Verdict, unmet
from ._inside import MARK, source

_LIMITS = {
    "wall_s": 15,
    "memory_mb": 256,
    "processes": 64,
    "disk_mb": 16,
    "inodes": 500,
    "tmp_mb": 8,
    "open_files": 256,
    "log_mb": 4,
}
"""Small, so that an attack that is not held uses up little."""
_READY_S = 15.0
_GONE_S = 3.0


def specification(check: Check, bait: Bait) -> SandboxSpec:
    """Give the policy under which a check runs."""
    return SandboxSpec.create(
        **{
            "mounts": [{"source": bait.inputs, "target": "/inputs"}],
            "environment": {MARKER: bait.id},
            **check.spec,
            "limits": {**_LIMITS, **check.limits},
        }
    )


async def run_check(check: Check, open_sandbox: OpenSandbox) -> Outcome:
    """Run one check in a sandbox of its own.

    Args:
        check: the attack.
        open_sandbox: opens a sandbox of the backend under test for a specification.
    """
    began = time.monotonic()
    with Bait() as bait:
        try:
            outcome = await _run(check, open_sandbox, bait)
        except (BasaniteError, OSError, TimeoutError) as error:
            text = f"the attack broke the sandbox: {type(error).__name__}: {error}"
            outcome = Outcome(check.name, Verdict.NOT_CONTAINED, (text,))
    return Outcome(
        outcome.check, outcome.verdict, outcome.reasons, outcome.tried, time.monotonic() - began
    )


async def _run(check: Check, open_sandbox: OpenSandbox, bait: Bait) -> Outcome:
    spec = specification(check, bait)
    async with contextlib.AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(await open_sandbox(spec))
        enforced = _named(sandbox)
        reasons = unmet(check, enforced)
        if reasons:
            return Outcome(check.name, Verdict.NOT_APPLICABLE, tuple(reasons))
        if check.beside is not None:
            await stack.enter_async_context(_neighbour(check.beside, open_sandbox, spec, bait))
        seen = Evidence(bait, enforced)
        told = bait.told()
        seen.add(await sandbox.execute(code=source(check.attack, told)))
        if check.between is not None:
            await check.between(sandbox, seen)
        if check.again is not None:
            seen.add(await sandbox.execute(code=source(check.again, told)))
        problems = [*check.verify(seen)]
    if check.fresh is not None:
        async with await open_sandbox(spec) as fresh:
            seen.add(await fresh.execute(code=source(check.fresh, told)))
    problems += [*seen.escaped, *bait.harmed(), *await _left(bait)]
    return _judged(check, seen, problems)


def _named(sandbox: Sandbox) -> dict[str, Enforcement]:
    return {str(aspect): entry for aspect, entry in sandbox.enforced.items()}


def _judged(check: Check, seen: Evidence, problems: list[str]) -> Outcome:
    tried = tuple(seen.held)
    if not problems and not tried and not check.silent:
        if seen.absent:
            return Outcome(check.name, Verdict.NOT_APPLICABLE, tuple(seen.absent))
        said = seen.result.stderr.text.strip()[-300:]
        problems = [f"the attack tried nothing ({seen.result.status.value}): {said}"]
    problems += _broken_off(seen)
    if problems:
        return Outcome(check.name, Verdict.NOT_CONTAINED, tuple(problems), tried)
    return Outcome(check.name, Verdict.CONTAINED, (), tried)


def _broken_off(seen: Evidence) -> list[str]:
    """Say which attacks failed by themselves: what came after that was not tried."""
    return [
        f"the attack broke off: {result.stderr.text.strip()[-300:]}"
        for result in seen.results
        if result.exit_code == 1
        and "Traceback (most recent" in result.stderr.text
        # That one has met the limit which it tried.
        and not result.stderr.text.rstrip().rpartition("\n")[2].startswith("MemoryError")
    ]


async def _left(bait: Bait) -> list[str]:
    deadline = time.monotonic() + _GONE_S
    while left := await asyncio.to_thread(bait.left):
        if time.monotonic() > deadline:
            return [f"processes outlived their sandbox: {', '.join(map(str, left))}"]
        await asyncio.sleep(0.02)
    return []


@contextlib.asynccontextmanager
async def _neighbour(
    code: str, open_sandbox: OpenSandbox, spec: SandboxSpec, bait: Bait
) -> AsyncIterator[None]:
    """Keep another sandbox busy; it holds the host's secret, given to it as input."""
    ready = asyncio.Event()

    def heard(event: Event) -> None:
        if isinstance(event, Chunk) and MARK.encode() in event.data:
            ready.set()

    async with await open_sandbox(spec) as sandbox:
        await sandbox.upload("token.txt", bait.token.encode())
        work = asyncio.ensure_future(
            sandbox.execute(code=source(code, bait.told()), on_event=heard, collect=False)
        )
        try:
            async with asyncio.timeout(_READY_S):
                await ready.wait()
            yield
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, BasaniteError):
                await work


async def check_backend(
    open_sandbox: OpenSandbox, checks: Sequence[Check] | None = None, *, at_once: int = 1
) -> list[Outcome]:
    """Run checks against a backend, and give what came of each, in their order.

    Args:
        open_sandbox: opens a sandbox of the backend for a specification, for example
            `lambda spec: open_sandbox(spec, backend="oci")`.
        checks: which; None: all.
        at_once: how many side by side.
    """
    if checks is None:
        from . import CHECKS

        checks = CHECKS
    places = asyncio.Semaphore(at_once)

    async def placed(check: Check) -> Outcome:
        async with places:
            return await run_check(check, open_sandbox)

    return list(await asyncio.gather(*map(placed, checks)))


__all__ = ["check_backend", "run_check", "specification"]
