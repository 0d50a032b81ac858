"""The client's side of ZMTP, ZeroMQ's protocol, on a local socket whose other end is hostile.

libzmq would do, were it not for who speaks: code inside can take the kernel's socket over and
send anything. libzmq limits a frame but not how many frames make a message, so that its process
could be filled from inside, and its parser would read hostile bytes with our rights. Here no
message takes more than a fixed amount of memory; what is larger is read past and reported.

Source: ZMTP 3.0 (rfc.zeromq.org/spec/23), mechanism NULL.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

MAX_MESSAGE = 8 * 1024 * 1024
"""Bytes of a message's frames together; JSON can take some twenty times as much when parsed."""
MAX_SKIPPED = 256 * 1024 * 1024
_MAX_FRAMES = 64
_BLOCK = 65_536
_BUFFER = 1024 * 1024
_SEND_S = 10.0
_MORE, _LONG, _COMMAND = 1, 2, 4
_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_SIGNATURE_END = 9
_VERSION = 10


class BrokenPeer(Exception):
    """The other end closed the connection, or sent what is no ZMTP."""


@dataclass(frozen=True, slots=True)
class Received:
    """One message.

    Args:
        parts: its frames, without those that did not fit.
        size: bytes of all its frames.
        whole: whether all of them are there.
    """

    parts: list[bytes]
    size: int
    whole: bool


class Connection:
    """A connected socket of one type; use `connect`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, descriptor: int, kind: bytes) -> Connection:
        """Connect to the socket file behind a descriptor (`O_PATH`) and greet its owner.

        A descriptor instead of a path: code inside may put a link in the file's place, and we
        would connect to a socket of this machine.

        Args:
            descriptor: of the socket file; not closed.
            kind: `DEALER` or `SUB`; a `SUB` gets everything.

        Raises:
            OSError: nobody listens.
            BrokenPeer: the other end speaks something else.
        """
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        made.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(made, f"/proc/self/fd/{descriptor}")
            reader, writer = await asyncio.open_unix_connection(sock=made, limit=_BUFFER)
        except BaseException:
            made.close()
            raise
        connection = cls(reader, writer)
        try:
            await connection._greet(kind)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _greet(self, kind: bytes) -> None:
        self._writer.write(_GREETING)
        greeting = await self._exactly(len(_GREETING))
        mechanism = greeting[_VERSION + 2 : _VERSION + 22].rstrip(b"\0")
        if greeting[0] != 0xFF or not greeting[_SIGNATURE_END] & 1 or greeting[_VERSION] < 3:
            raise BrokenPeer("no ZMTP 3")
        if mechanism != b"NULL":
            raise BrokenPeer("another mechanism than NULL")
        ready = b"\x05READY" + _property(b"Socket-Type", kind) + _property(b"Identity", b"")
        self._writer.write(bytes((_COMMAND, len(ready))) + ready)
        flags, size = await self._frame_head()
        if not flags & _COMMAND or size > _BLOCK:
            raise BrokenPeer("no greeting")
        if not (await self._exactly(size)).startswith(b"\x05READY"):
            raise BrokenPeer("refused")
        if kind == b"SUB":
            await self.send([b"\x01"])

    async def send(self, parts: Sequence[bytes]) -> None:
        """Send one message.

        Raises:
            BrokenPeer: the other end is gone, or does not take it.
        """
        frames = bytearray()
        for number, part in enumerate(parts, 1):
            more = _MORE if number < len(parts) else 0
            if len(part) > 0xFF:
                frames += struct.pack(">BQ", more | _LONG, len(part))
            else:
                frames += bytes((more, len(part)))
            frames += part
        try:
            self._writer.write(bytes(frames))
            await asyncio.wait_for(self._writer.drain(), _SEND_S)
        except (OSError, TimeoutError) as error:
            raise BrokenPeer(f"it takes nothing ({error})") from None

    async def receive(self) -> Received:
        """Receive one message.

        Raises:
            BrokenPeer: the other end is gone, or what it sends does not end.
        """
        parts: list[bytes] = []
        total, frames, whole = 0, 0, True
        while True:
            flags, size = await self._frame_head()
            total += size
            frames += 1
            if total > MAX_SKIPPED or frames > MAX_SKIPPED // _BLOCK:
                raise BrokenPeer("a message without an end")
            if flags & _COMMAND:
                await self._skip(size)
                continue
            if total > MAX_MESSAGE or frames > _MAX_FRAMES:
                whole = False
                await self._skip(size)
            else:
                parts.append(await self._exactly(size))
            if not flags & _MORE:
                return Received(parts, total, whole)

    async def _frame_head(self) -> tuple[int, int]:
        flags = (await self._exactly(1))[0]
        if flags & _LONG:
            return flags, int(struct.unpack(">Q", await self._exactly(8))[0])
        return flags, (await self._exactly(1))[0]

    async def _exactly(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError):
            raise BrokenPeer("the connection was closed") from None

    async def _skip(self, size: int) -> None:
        while size:
            block = await self._exactly(min(size, _BLOCK))
            size -= len(block)

    def close(self) -> None:
        """Close it at once."""
        with contextlib.suppress(RuntimeError):  # the loop may be closed already
            self._writer.transport.abort()


def _property(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + struct.pack(">I", len(value)) + value


__all__ = ["MAX_MESSAGE", "BrokenPeer", "Connection", "Received"]
