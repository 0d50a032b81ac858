"""Where the machine refuses namespaces, nothing runs, and the error says how to allow them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from basanite.sandboxes import _advice, _state

UNSHARE = shutil.which("unshare")
SWITCHES = {
    "apparmor_restrict_unprivileged_userns": (
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    "unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
    "max_user_namespaces": ("0", "user.max_user_namespaces=15000"),
}


def blocked(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell in a user namespace of its own, whose settings are its own."""
    assert UNSHARE is not None
    return subprocess.run(
        [UNSHARE, "--user", "--map-root-user", "sh", "-c", script, "sh", sys.executable],
        env={**os.environ, "BASANITE_SANDBOXES": str(place)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.usefixtures("needs_bubblewrap")
def test_no_user_namespaces_left(tmp_path: Path) -> None:
    """In a namespace that allows no further one; this machine's own setting stays."""
    script = (
        'echo 0 >/proc/sys/user/max_user_namespaces; exec "$1" -m basanite sandbox run -- echo ran'
    )
    done = blocked(script, tmp_path / "state")
    assert (done.returncode, done.stdout) == (125, "")
    if os.getuid() == 0:
        assert "root can't become a user from 61001 to 62000" in done.stderr
        assert "Give the container these users as well, or start as a plain user." in done.stderr
    else:
        assert "sysctl -w user.max_user_namespaces=15000" in done.stderr


@pytest.mark.usefixtures("needs_bubblewrap")
@pytest.mark.skipif(os.getuid() == 0, reason="only a plain user's namespace has another root")
def test_root_of_a_users_own_namespace(tmp_path: Path) -> None:
    """It is no root of the machine and there is nobody else to become: as for a plain user."""
    done = blocked('exec "$1" -m basanite sandbox run -- id -u', tmp_path / "state")
    assert (done.returncode, done.stdout) == (0, "1000\n"), done.stderr


@pytest.mark.parametrize("name", SWITCHES)
def test_the_switch_that_blocks_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value, expected = SWITCHES[name]
    monkeypatch.setattr(_advice, "_is", lambda path, wanted: path.name == name and wanted == value)
    assert expected in _advice.advice("unshare: unshare failed: Operation not permitted")


def test_a_filter_of_the_container_is_the_last_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_advice, "_is", lambda path, wanted: False)
    assert "seccomp=unconfined" in _advice.userns_advice()


@pytest.mark.parametrize(
    ("mapped", "drops"),
    [
        ("0 0 4294967295\n", True),
        ("0 100000 65536\n", True),
        ("0 1000 1\n", False),
        ("0 1000 1\n1 100000 65536\n", True),
    ],
)
def test_whether_there_is_a_user_to_become(
    mapped: str, drops: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = tmp_path / "uid_map"
    users.write_text(mapped, encoding="ascii")
    monkeypatch.setattr(_state, "_USERS", users)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert _state.drops_user() is drops
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert _state.drops_user() is False
