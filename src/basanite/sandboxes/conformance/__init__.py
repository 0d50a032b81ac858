"""Checks that a backend really contains: attacks, each harmless where it gets through.

::

    outcomes = await check_backend(lambda spec: open_sandbox(spec, backend="bubblewrap"))
    assert not [outcome for outcome in outcomes if outcome.verdict is Verdict.NOT_CONTAINED]

What a backend's mechanisms don't hold has to be an explicit entry in `Sandbox.enforced`
(strength `none`, or `best_effort` where only the kernel could hold it): then a check does not
apply, and an isolation floor can refuse it. Everything else must be contained. Authors of
backends run the same checks, for example as a test for each: `parametrize("check", CHECKS)`.
"""

from __future__ import annotations

from . import (
    _amounts,
    _collector,
    _endings,
    _files,
    _kernel,
    _memory,
    _network,
    _privileges,
)
from ._check import Check, Evidence, OpenSandbox, Outcome, Verdict
from ._run import check_backend, run_check

CHECKS: tuple[Check, ...] = (
    *_files.CHECKS,
    *_network.CHECKS,
    *_privileges.CHECKS,
    *_kernel.CHECKS,
    *_amounts.CHECKS,
    *_memory.CHECKS,
    *_endings.CHECKS,
    *_collector.CHECKS,
)
"""All checks."""

__all__ = [
    "CHECKS",
    "Check",
    "Evidence",
    "OpenSandbox",
    "Outcome",
    "Verdict",
    "check_backend",
    "run_check",
]
