"""Sandboxes for tests: small limits, opened and closed in one line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from basanite.sandboxes import ExecResult, Sandbox, SandboxSpec, open_sandbox

LIMITS = {"wall_s": 20, "memory_mb": 256, "processes": 64, "disk_mb": 16, "log_mb": 4}


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


__all__ = ["LIMITS", "opened", "ran", "small"]
