"""Specifications of sandboxes whose interpreter has a Jupyter kernel."""

from __future__ import annotations

from basanite.sandboxes import SandboxSpec, Session, open_session

from .sandboxing import profile_or_skip


def kernel_spec(**fields: object) -> SandboxSpec:
    """Give a specification with the profile `base`; small limits unless told."""
    profile = profile_or_skip("base")
    limits = {"wall_s": 60, "memory_mb": 400, "log_mb": 2}
    given = fields.pop("limits", {})
    assert isinstance(given, dict)
    return profile.apply(SandboxSpec.create(limits={**limits, **given}, **fields))


async def open_kernel(**fields: object) -> Session:
    """Open a session with a specification of `kernel_spec`."""
    return await open_session(kernel_spec(**fields))
