"""A folder that can't be written, for a command; root's powers don't help against it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command import Done

# Root may write into any folder, whatever its permissions, but not on a mount that is read-only.
# The mount is seen in the command's own namespace only and is gone with it.
_MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def run_on_read_only(folder: Path, *arguments: object) -> Done:
    """Run a basanite command while nothing in `folder` can be written."""
    command = [sys.executable, "-m", "basanite", *(str(argument) for argument in arguments)]
    with read_only(folder) as prefix:
        done = subprocess.run([*prefix, *command], capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@contextmanager
def read_only(folder: Path) -> Iterator[Sequence[str]]:
    """Give what a command must begin with so that it can't write in a folder.

    Skips the test where this user is root and may not mount either.
    """
    if os.geteuid() != 0:
        with _without_permissions(folder):
            yield ()
        return
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("root writes anywhere, and there is no unshare: apt-get install util-linux")
    prefix = (unshare, "--mount", "--map-root-user", "sh", "-c", _MOUNTED, str(folder))
    trial = ["sh", "-c", '! touch "$0/trial"', str(folder)]
    done = subprocess.run([*prefix, *trial], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"root writes anywhere and may not mount here; be no root: {done.stderr}")
    yield prefix


@contextmanager
def _without_permissions(folder: Path) -> Iterator[None]:
    files = [entry for entry in folder.iterdir() if entry.is_file()]
    modes = {entry: entry.stat().st_mode for entry in (folder, *files)}
    try:
        for entry in files:
            entry.chmod(0o444)
        folder.chmod(0o555)
        yield
    finally:
        for entry, mode in modes.items():
            entry.chmod(mode)
