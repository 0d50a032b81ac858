"""The guard itself: what it lets through, what it refuses, and that nothing slips by it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from support.guard.loopback import NotLoopback, is_local_host

# Documentation addresses (RFC 5737, RFC 3849): should the guard fail, nobody is met there.
FAR = "192.0.2.1"
FAR6 = "2001:db8::1"


@pytest.fixture
def refused(refusals: Path) -> Iterator[Callable[[], str]]:
    """Gives what has been refused, and takes it off the record."""

    def read() -> str:
        text = refusals.read_text(encoding="utf-8") if refusals.exists() else ""
        refusals.unlink(missing_ok=True)
        return text

    yield read
    read()


@pytest.fixture
def listener() -> Iterator[tuple[str, int]]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()


def test_loopback_is_let_through(listener: tuple[str, int]) -> None:
    with socket.create_connection(listener, timeout=5):
        pass
    with socket.create_connection(("localhost", listener[1]), timeout=5):
        pass


async def test_asyncio_on_loopback_is_let_through(listener: tuple[str, int]) -> None:
    _, writer = await asyncio.open_connection(*listener)
    writer.close()


def test_unix_sockets_are_let_through(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with closing(socket.socket(socket.AF_UNIX)) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)


def _connect() -> None:
    with socket.socket() as sock:
        sock.settimeout(0.1)
        sock.connect((FAR, 80))


def _connect_ex() -> None:
    with socket.socket() as sock:
        sock.settimeout(0.1)
        sock.connect_ex((FAR, 80))


def _connect_by_name() -> None:
    with socket.socket() as sock:
        sock.settimeout(0.1)
        sock.connect(("example.org", 80))


def _connect6() -> None:
    with socket.socket(socket.AF_INET6) as sock:
        sock.settimeout(0.1)
        sock.connect((FAR6, 80))


def _send_datagram() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", (FAR, 53))


def _send_message() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendmsg([b"x"], [], 0, (FAR, 53))


def _look_up() -> None:
    socket.getaddrinfo("example.org", 80)


def _look_up_old() -> None:
    socket.gethostbyname("example.org")


def _in_asyncio() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection(FAR, 80), 1))


@pytest.mark.parametrize(
    "attempt",
    [
        _connect,
        _connect_ex,
        _connect_by_name,
        _connect6,
        _send_datagram,
        _send_message,
        _look_up,
        _look_up_old,
        _in_asyncio,
    ],
)
def test_everything_else_is_refused(
    attempt: Callable[[], None], refused: Callable[[], str]
) -> None:
    with pytest.raises(NotLoopback):
        attempt()
    assert "socket." in refused()


def test_a_refusal_is_kept_although_the_code_swallows_it(refused: Callable[[], str]) -> None:
    with suppress(NotLoopback):
        _connect()
    assert FAR in refused()


def test_a_child_process_is_guarded_too(refused: Callable[[], str]) -> None:
    code = f"import socket; socket.create_connection(({FAR!r}, 80), timeout=0.1)"
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert child.returncode == 1
    assert "NotLoopback" in child.stderr
    assert FAR in refused()


def test_the_session_fails_when_a_test_leaves_the_machine(tmp_path: Path) -> None:
    """A whole pytest of its own under this repository's conftest."""
    test = tmp_path / "test_leaves.py"
    test.write_text(
        "import socket\n"
        "def test_it():\n"
        "    try:\n"
        f"        socket.create_connection(({FAR!r}, 80), timeout=0.1)\n"
        "    except Exception:\n"
        "        pass\n"
    )
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    command += ["--confcutdir", str(tests), "-c", str(tests.parent / "pyproject.toml")]
    command += ["-p", "conftest"]
    path = os.pathsep.join([str(tests), os.environ["PYTHONPATH"]])
    child = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert child.returncode == 1, child.stdout + child.stderr
    assert "tried to leave this machine" in child.stdout


def test_names_that_never_exist_fail_as_a_resolver_would() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("no-such-host.invalid", 80)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        (b"localhost", True),
        (None, True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("::ffff:192.0.2.1", False),
        ("localhost.example.org", False),
        ("127.0.0.1.example.org", False),
        ("", False),
    ],
)
def test_what_counts_as_this_machine(host: str | bytes | None, local: bool) -> None:
    assert is_local_host(host) is local


def test_the_user_cache_is_out_of_reach(refusals: Path) -> None:
    scratch = refusals.parent
    assert Path(os.environ["XDG_CACHE_HOME"]).is_relative_to(scratch)
    assert Path(os.environ["BASANITE_CACHE"]).is_relative_to(scratch)
