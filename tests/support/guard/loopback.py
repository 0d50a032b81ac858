"""Refuses every connection of this process that does not stay on this machine.

An audit hook sees each connect, send and name look-up that Python's own socket module makes,
asyncio and every pure-Python client included, before it happens. A socket that is given a name
instead of a number looks it up before the hook is called, so these methods are wrapped as well.
Neither can see what native code does by itself (libpq, for one); tests give such code loopback
addresses only.

Each refusal is also written to the file named by `BASANITE_TEST_GUARD`, so that a test fails
although the code under test, or a child process, swallowed the error.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from typing import Any

LOG_VARIABLE = "BASANITE_TEST_GUARD"

_CONNECTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})


class NotLoopback(RuntimeError):
    """A test tried to leave this machine.

    Not an `OSError`: code that handles failed connections must not take it for one.
    """


def is_local_host(host: object) -> bool:
    """Whether a host (name or number, as the socket module takes it) is this machine."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    if host is None or host == "localhost":
        return True
    if not isinstance(host, str):
        return False
    try:
        number = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = number.ipv4_mapped if isinstance(number, ipaddress.IPv6Address) else None
    return (mapped or number).is_loopback


def _is_number(host: object) -> bool:
    try:
        ipaddress.ip_address(host if isinstance(host, str) else "")
    except ValueError:
        return False
    return True


def _refuse(what: str) -> None:
    log = os.environ.get(LOG_VARIABLE)
    if log:
        # One short write in append mode is atomic, also between processes.
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"pid {os.getpid()}: {what}\n")
    raise NotLoopback(f"{what}: tests may connect to this machine only")


def _check_connect(event: str, arguments: tuple[object, ...]) -> None:
    sock, address = arguments[0], arguments[1]
    family = getattr(sock, "family", None)
    if family not in {socket.AF_INET, socket.AF_INET6}:
        return  # Unix sockets and the like; they can't leave the machine
    if address is None:
        return  # sendmsg on a connected socket, which connect has seen
    host = address[0] if isinstance(address, tuple) and address else address
    if not is_local_host(host):
        _refuse(f"{event} to {address!r}")


def _check_lookup(event: str, arguments: tuple[object, ...]) -> None:
    host = arguments[0]
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if is_local_host(host) or host == "" or _is_number(host):
        return  # a number is only parsed; a connection to it is looked at by itself
    if isinstance(host, str) and host.endswith(".invalid"):
        # Reserved for names that don't exist: what a resolver would say, without asking one.
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    _refuse(f"{event} of {host!r}")


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    # Called for every audit event of the interpreter, so the common case must be cheap.
    if event in _CONNECTS:
        _check_connect(event, arguments)
    elif event in _LOOKUPS:
        _check_lookup(event, arguments)


def _check_name(event: str, address: object) -> None:
    host = address[0] if isinstance(address, tuple) and address else None
    if isinstance(host, str | bytes) and not _is_number(host):
        _check_lookup(event, (host,))


_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex


def _guarded_connect(sock: socket.socket, address: Any, /) -> None:
    _check_name("socket.connect", address)
    _connect(sock, address)


def _guarded_connect_ex(sock: socket.socket, address: Any, /) -> int:
    _check_name("socket.connect", address)
    return _connect_ex(sock, address)


def install() -> None:
    """Put the guard on for the rest of this process; an audit hook can't be taken off."""
    if not getattr(sys, "_basanite_guarded", False):
        sys._basanite_guarded = True  # type: ignore[attr-defined]
        sys.addaudithook(_hook)
        socket.socket.connect = _guarded_connect  # type: ignore[method-assign, assignment]
        socket.socket.connect_ex = _guarded_connect_ex  # type: ignore[method-assign, assignment]
