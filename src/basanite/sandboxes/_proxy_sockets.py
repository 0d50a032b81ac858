"""Listening sockets within a sandbox's network namespace, held by its supervisor."""

from __future__ import annotations

import socket
import subprocess
import sys

from ..errors import SandboxUnavailable
from ._holder import Holder

FIRST_PORT = 9001
"""Nothing else listens in a fresh namespace, so that endpoints have the same URL each time."""
_START_S = 20.0
_SCRIPT = """
import fcntl, socket, struct, sys
channel = socket.socket(fileno=int(sys.argv[1]))
first, count = map(int, sys.argv[2:])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    # In a new namespace the loopback interface is down; SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP.
    ask = struct.pack("16sh22x", b"lo", 0)
    flags = struct.unpack_from("h", fcntl.ioctl(any_socket, 0x8913, ask), 16)[0]
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", flags | 1))
ports = range(first, first + count)
listeners = [socket.create_server(("127.0.0.1", port), backlog=128) for port in ports]
socket.send_fds(channel, [b"ready"], [one.fileno() for one in listeners])
"""


def listeners_inside(holder: Holder, count: int) -> list[socket.socket]:
    """Bring the loopback interface up and listen on ports from `FIRST_PORT` on.

    A socket belongs to the namespace in which it was made, whoever holds it: a helper makes
    them there and hands them over.

    Raises:
        SandboxUnavailable: the namespace does not allow it.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        script = [sys.executable, "-I", "-S", "-c", _SCRIPT, str(theirs.fileno())]
        try:
            done = subprocess.run(
                holder.entering_as_root([*script, str(FIRST_PORT), str(count)]),
                pass_fds=(theirs.fileno(),),
                env={},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_START_S,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise _unavailable(type(error).__name__) from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise _unavailable(said or f"exit code {done.returncode}")
        _, descriptors, _, _ = socket.recv_fds(ours, 16, count, socket.MSG_CMSG_CLOEXEC)
    made = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for one in made:
        one.setblocking(False)
    return made


def _unavailable(why: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"no way to the model endpoints can be opened: {why}",
        where="network namespace",
        todo="Run `basanite sandbox probe`, or give no endpoints.",
    )


__all__ = ["FIRST_PORT", "listeners_inside"]
