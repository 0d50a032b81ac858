"""What tests of AIRS-Bench share."""

from __future__ import annotations

import asyncio
from functools import lru_cache

import pytest

from basanite.sandboxes import BackendReport, probe


@lru_cache(maxsize=1)
def _report() -> BackendReport:
    return asyncio.run(probe(["bubblewrap"])).backends[0]


@pytest.fixture(scope="session")
def needs_bubblewrap() -> None:
    report = _report()
    if not report.available:
        pytest.skip(f"bubblewrap can't be used here: {report.why}")
