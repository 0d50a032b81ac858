"""Sandboxes for tests: small limits, opened and closed in one line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

import pytest

from basanite.sandboxes import (
    BackendReport,
    ExecResult,
    Profile,
    Sandbox,
    SandboxSpec,
    find_profile,
    open_sandbox,
    probe,
)

LIMITS = {"wall_s": 20, "memory_mb": 256, "processes": 64, "disk_mb": 16, "log_mb": 4}


@lru_cache(maxsize=1)
def _bubblewrap() -> BackendReport:
    return asyncio.run(probe(["bubblewrap"])).backends[0]


def skip_without_bubblewrap() -> None:
    """Skip where bubblewrap can't be used, and say why; for fixtures that are no coroutines."""
    report = _bubblewrap()
    if not report.available:
        pytest.skip(f"bubblewrap can't be used here: {report.why}")


def profile_or_skip(name: str) -> Profile:
    """Give a profile, or skip where it is not built."""
    found = find_profile(name)
    if found is None:
        pytest.skip(f"the profile {name} is not built: basanite sandbox profile build {name}")
    return found


def small(**fields: object) -> SandboxSpec:
    """Give a specification with small limits, those given changed."""
    given = fields.pop("limits", {})
    assert isinstance(given, dict)
    return SandboxSpec.create(limits={**LIMITS, **given}, **fields)


@asynccontextmanager
async def opened(**fields: object) -> AsyncIterator[Sandbox]:
    """Open a sandbox of bubblewrap and close it in the end."""
    async with await open_sandbox(small(**fields), backend="bubblewrap") as sandbox:
        yield sandbox


async def ran(code: str, **fields: object) -> ExecResult:
    """Run Python source in a sandbox of its own; its files are gone afterwards."""
    async with opened(**fields) as sandbox:
        return await sandbox.execute(code=code)


__all__ = [
    "LIMITS",
    "opened",
    "profile_or_skip",
    "ran",
    "skip_without_bubblewrap",
    "small",
]
