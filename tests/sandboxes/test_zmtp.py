"""The client of a kernel's sockets: against libzmq's format, and against a peer that lies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import struct
import tempfile
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.sandboxes._kernel_messages import Wire
from basanite.sandboxes._zmtp import MAX_MESSAGE, MAX_SKIPPED, BrokenPeer, Connection

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x06\x05READY"
LONG, MORE, COMMAND = 2, 1, 4

Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def long_frame(size: int, flags: int = 0) -> bytes:
    """The head of a frame with a length of eight bytes."""
    return struct.pack(">BQ", LONG | flags, size)


def says(*data: bytes, greeting: bytes = GREETING + READY) -> Peer:
    """Give a peer that greets, sends this and no more."""

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            for piece in (greeting, *data):
                writer.write(piece)
                await writer.drain()
            writer.write_eof()
            await reader.read()

    return peer


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A short path, wherever pytest has its own: that of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="zmtp-", dir="/tmp") as folder:
        yield Path(folder)


@contextlib.asynccontextmanager
async def connected(tmp_path: Path, peer: Peer) -> AsyncIterator[Connection]:
    path = tmp_path / "s"
    done = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await peer(reader, writer)
        writer.close()
        done.set()

    server = await asyncio.start_unix_server(handle, path)
    descriptor = os.open(path, os.O_PATH)
    try:
        connection = await asyncio.wait_for(Connection.connect(descriptor, b"SUB"), 5)
        try:
            yield connection
        finally:
            connection.close()
    finally:
        os.close(descriptor)
        await asyncio.wait_for(done.wait(), 5)
        server.close()


async def test_short_and_long_frames_and_commands_between_them(tmp_path: Path) -> None:
    ping = bytes((COMMAND, 7)) + b"\x04PING\0\0"
    message = bytes((MORE, 2)) + b"ab" + ping + long_frame(300) + b"c" * 300
    async with connected(tmp_path, says(message)) as connection:
        received = await connection.receive()
    assert received.parts == [b"ab", b"c" * 300]
    assert received.whole


async def test_what_is_too_large_is_read_past(tmp_path: Path) -> None:
    block = bytes(2**20)
    count = MAX_MESSAGE // len(block) * 4
    large = long_frame(count * len(block))
    async with connected(tmp_path, says(large, *([block] * count), b"\0\x02ok")) as connection:
        tracemalloc.start()
        received = await connection.receive()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        following = await connection.receive()
    assert (received.parts, received.whole) == ([], False)
    assert received.size == count * len(block)
    assert peak < MAX_MESSAGE
    assert following.parts == [b"ok"]


async def test_many_small_frames_of_one_message_are_not_kept(tmp_path: Path) -> None:
    frames = (bytes((MORE, 1)) + b"x") * 1000 + b"\0\0"
    async with connected(tmp_path, says(frames)) as connection:
        received = await connection.receive()
    assert not received.whole
    assert len(received.parts) < 100


@pytest.mark.parametrize(
    "data",
    [
        long_frame(2**63),
        long_frame(MAX_SKIPPED + 1),
        (bytes((MORE, 1)) + b"x") * 20_000,
        bytes((COMMAND, 0)) * 20_000,
        bytes((MORE, 5)) + b"abc",
        b"",
    ],
    ids=["2**63", "too long", "endless frames", "endless commands", "cut", "nothing"],
)
async def test_messages_without_an_end(tmp_path: Path, data: bytes) -> None:
    async with connected(tmp_path, says(data)) as connection:
        with pytest.raises(BrokenPeer):
            await asyncio.wait_for(connection.receive(), 5)


@pytest.mark.parametrize(
    "greeting",
    [
        b"HTTP/1.1 200 OK\r\n\r\n".ljust(64, b"x"),
        GREETING.replace(b"NULL", b"CURV") + READY,
        GREETING.replace(b"\x7f\x03", b"\x7f\x01") + READY,
        GREETING + b"\x04\x06\x05ERROR",
        GREETING + long_frame(2**40, COMMAND),
        GREETING + b"\0\x06\x05READY",
        GREETING[:20],
        b"",
    ],
)
async def test_greetings_that_are_none(tmp_path: Path, greeting: bytes) -> None:
    with pytest.raises(BrokenPeer):
        async with connected(tmp_path, says(greeting=greeting)):
            pass


async def test_a_peer_that_reads_nothing_does_not_hold_its_sender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("basanite.sandboxes._zmtp._SEND_S", 0.2)

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GREETING + READY)
        await asyncio.sleep(0.4)

    async with connected(tmp_path, deaf) as connection:
        with pytest.raises(BrokenPeer, match="takes nothing"):
            await asyncio.wait_for(connection.send([bytes(4 * 2**20)]), 2)


WIRE = Wire(b"key")


def test_a_request_can_be_read_again() -> None:
    identity, parts = WIRE.request("execute_request", {"code": "\ud800 é"})
    message = WIRE.read([b"topic", *parts], frozenset())
    assert message is not None
    assert (message.kind, message.content) == ("execute_request", {"code": "\ud800 é"})
    assert json.loads(parts[2])["msg_id"] == identity
    changed = [*parts[:-1], b'{"code": ""}']
    assert WIRE.read(changed, frozenset()) is None
    assert Wire(b"other").read(parts, frozenset()) is None


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=5,
)
bodies = st.one_of(
    st.binary(max_size=20),
    values.map(lambda value: json.dumps(value).encode()),
    st.sampled_from([b"[" * 100_000, b'{"msg_id": 1, "msg_type": []}', b"\xff", b"1" * 5000]),
)


@settings(database=None)  # this folder may be another user's
@given(st.lists(bodies, max_size=7), st.booleans())
def test_no_message_breaks_its_reader(parts: list[bytes], signed: bool) -> None:
    if signed and len(parts) >= 4:
        parts = [b"<IDS|MSG>", WIRE._sign(parts[:4]), *parts[:4]]
    message = WIRE.read(parts, frozenset({"wanted"}))
    assert message is None or message.parent == "wanted"
