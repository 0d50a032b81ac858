"""Specifications of sandboxes whose interpreter has a Jupyter kernel."""

from __future__ import annotations

import pytest

from basanite.sandboxes import SandboxSpec, Session, find_profile, open_session


def kernel_spec(**fields: object) -> SandboxSpec:
    """Give a specification with the profile `base`; small limits unless told."""
    profile = find_profile("base")
    if profile is None:
        pytest.skip("the profile base is not built: basanite sandbox profile build base")
    limits = {"wall_s": 60, "memory_mb": 400, "log_mb": 2}
    given = fields.pop("limits", {})
    assert isinstance(given, dict)
    return profile.apply(SandboxSpec.create(limits={**limits, **given}, **fields))


async def open_kernel(**fields: object) -> Session:
    """Open a session with a specification of `kernel_spec`."""
    return await open_session(kernel_spec(**fields))
