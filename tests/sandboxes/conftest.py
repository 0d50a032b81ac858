"""What tests of sandboxes share: a place of their own, and a look at what they left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.sandboxes._cgroup_find import Found
from support.leftovers import leftovers, seen_before
from support.sandboxing import skip_without_bubblewrap

GROUPLESS = Found(None, "taken away by the test")


@pytest.fixture(scope="session")
def needs_bubblewrap(sandbox_root: Path) -> None:
    skip_without_bubblewrap()


@pytest.fixture(scope="session", autouse=True)
def sandbox_root() -> Iterator[Path]:
    """The folder of this session's sandboxes, so that nothing is taken for what others left."""
    # Not pytest's own: a throw-away user must be able to pass through.
    root = Path(tempfile.mkdtemp(prefix="basanite-tests-", dir="/var/tmp"))
    root.chmod(0o711)
    before = os.environ.get("BASANITE_SANDBOXES")
    os.environ["BASANITE_SANDBOXES"] = str(root)
    yield root
    if before is None:
        del os.environ["BASANITE_SANDBOXES"]
    else:
        os.environ["BASANITE_SANDBOXES"] = before
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(autouse=True)
def nothing_left(sandbox_root: Path) -> Iterator[None]:
    """Fail a test that leaves a process, a mount, a control group or a folder behind."""
    before = seen_before(sandbox_root)
    yield
    found = leftovers(sandbox_root, before)
    if found:
        pytest.fail("the test left behind:\n" + "\n".join(found), pytrace=False)


@pytest.fixture
def no_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the kernel's control groups away: what an unprivileged user has."""
    monkeypatch.setattr("basanite.sandboxes._probe.find_groups", lambda: GROUPLESS)
