"""A model server of which a test sees every byte, and whose every byte it decides."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self

Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def plain(reply: bytes = OK) -> Answer:
    """Answer each request with these bytes."""

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)
        await writer.drain()

    return answer


class RawEndpoint:
    """Listens on the loopback interface while it is entered, in the test's own loop."""

    def __init__(self, answer: Answer | None = None) -> None:
        self._answer = answer or plain()
        self.requests: list[bytes] = []
        """Head and body of each request, as they came."""
        self.connections = 0
        self.ended = asyncio.Event()
        """Whether the other side has closed a connection."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.suppress(OSError, asyncio.CancelledError))
            stack.callback(self.ended.set)
            stack.callback(writer.close)
            async for request in _requests(reader):
                self.requests.append(request)
                answering = asyncio.ensure_future(self._answer(request, writer))
                gone = asyncio.ensure_future(_until_closed(reader))
                await asyncio.wait((answering, gone), return_when="FIRST_COMPLETED")
                gone.cancel()
                await asyncio.wait((gone,))
                if not answering.done():
                    answering.cancel()
                    break
                await answering
                if writer.is_closing():
                    break


async def _until_closed(reader: asyncio.StreamReader) -> None:
    # Clients send their next request after the reply, so that nothing is taken away here.
    if await reader.read(1):
        raise AssertionError("bytes came before the reply was sent")


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = 0
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    size = int(line.partition(b":")[2])
            yield head + await reader.readexactly(size)
        except asyncio.IncompleteReadError:
            return


async def talk(port: int, data: bytes, *, seconds: float = 5.0) -> bytes:
    """Send bytes to a port of the loopback interface and give all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.closing(writer):
        writer.write(data)
        with contextlib.suppress(ConnectionError):
            return await asyncio.wait_for(reader.read(), seconds)
    return b""


__all__ = ["OK", "Answer", "RawEndpoint", "plain", "talk"]
