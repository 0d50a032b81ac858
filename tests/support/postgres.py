"""A real PostgreSQL server for tests: on a free loopback port, in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PASSWORD = "not-a-secret"
MISSING = "needs Debian package postgresql: apt-get install postgresql"
_START_SECONDS = 60.0


def find_binaries() -> Path | None:
    """Give the folder of the newest server's programs, or None."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    return found[-1].parent if found else None


@dataclass
class PostgresServer:
    """A server that can be stopped and started again."""

    binaries: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def url(self) -> str:
        return f"postgresql://basanite:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        command = [
            *_as_unprivileged_user(),
            str(self.binaries / "postgres"),
            *("-D", str(self.folder / "data")),
            *("-p", str(self.port)),
            *("-k", str(self.folder)),
            *("-c", "listen_addresses=127.0.0.1"),
            *("-c", "fsync=off"),
        ]
        log = (self.folder / "log").open("ab")
        with log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd="/", start_new_session=True
            )
        self._wait_until_ready()

    def stop(self) -> None:
        """Shut down at once, as in a server's restart: sessions are broken off."""
        if self.process is None:
            return
        pid = int((self.folder / "data" / "postmaster.pid").read_text("utf-8").split()[0])
        os.kill(pid, signal.SIGINT)
        self.process.wait(timeout=30)
        self.process = None

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        ready = [
            str(self.binaries / "pg_isready"),
            *("-q", "-h", "127.0.0.1", "-p", str(self.port)),
        ]
        while subprocess.run(ready, check=False).returncode != 0:
            assert self.process is not None
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text("utf-8", errors="replace"))
            time.sleep(0.05)


@contextmanager
def running_postgres(binaries: Path) -> Iterator[PostgresServer]:
    """Make a database cluster and run a server over it."""
    folder = Path(tempfile.mkdtemp(prefix="basanite-pg-"))
    password = folder / "password"
    password.write_text(PASSWORD, encoding="utf-8")
    if os.geteuid() == 0:
        # The server refuses to run as root.
        user = pwd.getpwnam("postgres")
        for path in (folder, password):
            os.chown(path, user.pw_uid, user.pw_gid)
    make = [
        *_as_unprivileged_user(),
        str(binaries / "initdb"),
        *("-D", str(folder / "data")),
        *("-U", "basanite"),
        *("-A", "scram-sha-256", f"--pwfile={password}"),
        *("-E", "UTF8", "--locale=C.UTF-8", "--no-sync"),
    ]
    server = PostgresServer(binaries, folder, _free_port())
    try:
        subprocess.run(make, check=True, capture_output=True, cwd="/")
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _as_unprivileged_user() -> list[str]:
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
