"""What this machine puts out for attacks to find: all of it made for one check, none of value.

A secret lies in a file, in the environment of this process and in that of a victim process;
listeners wait on loopback and on Unix sockets. Whatever the attack reaches, it can do no harm
there, and that it did shows afterwards.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

MARKER = "BASANITE_CONFORMANCE"
"""The variable by which processes of a check are known on this machine."""
_SETTING = Path("/proc/sys/kernel/core_pattern")
_IPC_CREAT, _IPC_RMID = 0o1000, 0
_SEGMENT = 4096


class Bait:
    """The bait of one check; a context manager."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.id = secrets.token_hex(8)
        self.variable = f"BASANITE_CONFORMANCE_SECRET_{self.id}"
        self.folder = Path(tempfile.mkdtemp(prefix="basanite-bait-"))
        self.folder.chmod(0o755)
        self.inputs = self.folder / "inputs"
        self.secret = self.folder / "secret.txt"
        self._sockets: dict[str, socket.socket] = {}
        self._victim: subprocess.Popen[bytes] | None = None
        self._before: tuple[object, ...] = ()
        self._setting = ""
        self._key = 0
        self._segment = -1

    def __enter__(self) -> Self:
        try:
            self._lay_out()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def _lay_out(self) -> None:
        # Anybody may write here, and read the secret: only the sandbox keeps it from the code.
        self.inputs.mkdir()
        self.inputs.chmod(0o777)
        data = self.inputs / "data.csv"
        data.write_text("x,y\n1,2\n", "ascii")
        data.chmod(0o666)
        self.secret.write_text(self.token, "ascii")
        self.secret.chmod(0o644)
        os.environ[self.variable] = self.token
        self._victim = subprocess.Popen(
            ["sleep", "600"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ),
        )
        self._listen()
        self._share()
        self._before = self._inputs_now()
        self._setting = _read(_SETTING)

    def _listen(self) -> None:
        self._add("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._add("udp4", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        with contextlib.suppress(OSError):  # a machine without IPv6
            self._add("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
        path = str(self.folder / "socket")
        self._add("path", socket.AF_UNIX, socket.SOCK_STREAM, path)
        Path(path).chmod(0o777)
        self._add("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0basanite-bait-{self.id}")

    def _add(self, name: str, family: int, kind: int, address: object) -> None:
        listener = socket.socket(family, kind)
        self._sockets[name] = listener
        listener.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            listener.listen(16)
        listener.setblocking(False)

    def _share(self) -> None:
        self._key = secrets.randbelow(2**30) + 1
        self._segment = _libc.shmget(self._key, _SEGMENT, _IPC_CREAT | 0o666)

    @property
    def victim_pid(self) -> int:
        """A process of this user, outside."""
        if self._victim is None:
            raise ValueError("the bait is not laid out")
        return self._victim.pid

    def told(self) -> dict[str, object]:
        """Give what an attack is told; never the secret itself."""
        named: dict[str, object] = {
            name: listener.getsockname()[1]
            for name, listener in self._sockets.items()
            if listener.family in (socket.AF_INET, socket.AF_INET6)
        }
        return {
            **named,
            "path": str(self.folder / "socket"),
            "abstract": f"basanite-bait-{self.id}",
            "secret": str(self.secret),
            "home": str(Path.home()),
            "folder": str(self.folder),
            "victim": self.victim_pid,
            "supervisor": os.getpid(),
            "segment": self._key if self._segment >= 0 else 0,
            "marker": f"{MARKER}={self.id}",
        }

    def harmed(self) -> Iterator[str]:
        """Say what an attack has reached."""
        for name, listener in self._sockets.items():
            if _was_reached(listener):
                yield f"the host's listener {name} was reached"
        if self._victim is not None and self._victim.poll() is not None:
            yield "a process of the host was killed"
        if self._inputs_now() != self._before:
            yield "an input was changed"
        if _read(self.secret) != self.token:
            yield "a file of the host was changed"
        if _read(_SETTING) != self._setting:
            yield f"{_SETTING} was changed"

    def _inputs_now(self) -> tuple[object, ...]:
        found: list[object] = []
        for path in (self.inputs, *sorted(self.inputs.rglob("*"))):
            seen = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found.append(
                (path.name, seen.st_mode, seen.st_uid, seen.st_nlink, seen.st_mtime_ns, content)
            )
        return tuple(found)

    def left(self) -> list[int]:
        """Give the processes of this machine that still belong to the check."""
        marker = f"{MARKER}={self.id}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if marker in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found

    def _remove(self) -> None:
        os.environ.pop(self.variable, None)
        for listener in self._sockets.values():
            listener.close()
        if self._victim is not None:
            self._victim.kill()
            self._victim.wait()
        if self._segment >= 0:
            _libc.shmctl(self._segment, _IPC_RMID, None)
        shutil.rmtree(self.folder, ignore_errors=True)


_libc = ctypes.CDLL(None, use_errno=True)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(1)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


__all__ = ["MARKER", "Bait"]
