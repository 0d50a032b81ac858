"""One connection from code inside to the proxy of a model endpoint.

A request is parsed by h11 and written anew for the endpoint from what was understood, so that
nothing that is ambiguous in it reaches the endpoint's own parser. Bodies pass in parts, both
ways; no more of a connection is held here than one part.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import h11
import httpx2

from . import _proxy_rules as rules
from ._proxy_account import Account, Entry
from ._proxy_rules import Redactor, Refused
from ._spec import MIB, ModelEndpoint

_PART = 65_536
_MOST_HEAD = 32_768
_CONNECT_S = 10.0
IDLE_S = 5.0
"""How long a connection may wait for its next request: others may wait for its place."""
HEAD_S = 10.0
"""How long a request's head may take, however slowly it comes."""
STALL_S = 60.0
"""How long code inside may leave bytes unread, or not send those that it announced."""
PENALTY_S = 0.25
"""How long a connection's place stays taken after a request that was refused, or none at all."""
_LINGER_S = 2.0


@dataclass(frozen=True, slots=True)
class Door:
    """An endpoint as its connections need it."""

    endpoint: ModelEndpoint
    transport: httpx2.AsyncBaseTransport
    account: Account
    crowded: Callable[[], bool]
    """Whether others wait, so that a connection is not to be kept."""


class Connection:
    """Serves one connection, a request at a time, until it ends, idles or misbehaves."""

    def __init__(self, client: socket.socket, door: Door) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._client = client
        self._door = door
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_HEAD)
        self._loop = asyncio.get_running_loop()
        self._reading: asyncio.Task[bytes] | None = None
        self._asked = asyncio.Event()
        self._passed = 0
        self._refused = False

    async def serve(self) -> None:
        """Serve it and close it."""
        try:
            while await self._one():
                self._http.start_next_cycle()
        except (OSError, h11.ProtocolError):
            pass  # the client went away, which is its right
        finally:
            await self._close()

    async def _close(self) -> None:
        try:
            if self._reading is not None:
                self._reading.cancel()
                await asyncio.gather(self._reading, return_exceptions=True)
            if self._refused or self._http.their_state is h11.SEND_BODY:
                await self._linger()
        finally:
            self._client.close()
        if self._refused or not self._passed:
            # Else code inside could keep the supervisor busy with what is never passed on.
            await asyncio.sleep(PENALTY_S)

    async def _linger(self) -> None:
        """Read what was sent in vain: closing on it would take the answer back."""
        with contextlib.suppress(OSError, TimeoutError):
            self._client.shutdown(socket.SHUT_WR)
            async with asyncio.timeout(_LINGER_S):
                while await self._loop.sock_recv(self._client, _PART):
                    pass

    async def _one(self) -> bool:
        """Serve the next request and say whether another may follow."""
        account = self._door.account
        entry = None
        self._asked.clear()
        try:
            try:
                request = await self._head()
            except h11.RemoteProtocolError as error:
                entry = account.begin(self._door.endpoint.name)
                raise Refused(error.error_status_hint, "the request is no HTTP/1.1") from None
            if request is None:
                return False
            entry = account.begin(self._door.endpoint.name, request.method, request.target)
            async with asyncio.timeout(account.network.request_s):
                await self._answered(request, entry)
        except Refused as refusal:
            await self._refuse(refusal, entry)
        except TimeoutError:
            limit = account.network.request_s
            await self._refuse(Refused(504, f"it took longer than {limit:g} seconds"), entry)
        except (h11.ProtocolError, OSError) as error:
            if entry is not None:
                entry.why = entry.why or f"code inside broke it off ({type(error).__name__})"
        finally:
            if entry is not None:
                account.end(entry)
        return self._http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}

    async def _head(self) -> h11.Request | None:
        """Give the next request, or nothing where none comes (in time)."""
        try:
            async with asyncio.timeout(IDLE_S) as limit:
                began = False
                while (event := self._http.next_event()) is h11.NEED_DATA:
                    self._http.receive_data(await self._receive())
                    if not began:
                        began = True
                        limit.reschedule(self._loop.time() + HEAD_S)
        except TimeoutError:
            return None
        return event if isinstance(event, h11.Request) else None

    async def _receive(self) -> bytes:
        if self._reading is None:
            return await self._loop.sock_recv(self._client, _PART)
        reading, self._reading = self._reading, None
        return await reading

    async def _answered(self, request: h11.Request, entry: Entry) -> None:
        """Pass a request on and its reply back, unless code inside goes away meanwhile."""
        work = asyncio.ensure_future(self._exchanged(request, entry))
        gone = asyncio.ensure_future(self._gone())
        try:
            await asyncio.wait((work, gone), return_when="FIRST_COMPLETED")
            if not work.done():
                raise ConnectionResetError
            work.result()
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    async def _gone(self) -> None:
        """Return once code inside has closed the connection after its request."""
        await self._asked.wait()
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._loop.sock_recv(self._client, _PART))
        await asyncio.wait((self._reading,))
        if self._reading.exception() is None and self._reading.result():
            # The next request, ahead of its time: it stays where `_receive` finds it.
            await asyncio.Event().wait()

    async def _exchanged(self, request: h11.Request, entry: Entry) -> None:
        door, network = self._door, self._door.account.network
        if request.http_version != b"1.1":
            # There the end of a reply that is cut looks like its end.
            raise Refused(505, "only HTTP/1.1 is spoken here")
        if sum(len(name) + len(value) + 4 for name, value in request.headers) > _MOST_HEAD:
            # The parser bounds what is incomplete, and this one came in one piece.
            raise Refused(431, "the headers are too long")
        if request.method not in rules.METHODS:
            raise Refused(405, "only GET and POST are passed on")
        rest = rules.path_below(request.method, request.target, door.endpoint.allow)
        headers = rules.asked_headers(request.headers)
        size = rules.body_size(request.headers, request.method, network.request_mb * MIB)
        if size or request.method == b"POST":
            headers.append((b"content-length", b"%d" % size))
        body = self._body(entry)
        if not size:
            async for _ in body:
                pass
        door.account.admit()
        self._passed += 1
        try:
            reply = await door.transport.handle_async_request(
                self._request(request.method, rest, headers, body if size else None)
            )
            try:
                await self._reply(reply, entry)
            finally:
                await reply.aclose()
        except httpx2.HTTPError as error:
            # The kind alone: the text could name what is none of the code's business.
            raise Refused(502, f"the endpoint failed ({type(error).__name__})") from None

    def _request(
        self,
        method: bytes,
        rest: bytes,
        headers: list[tuple[bytes, bytes]],
        body: AsyncIterator[bytes] | None,
    ) -> httpx2.Request:
        endpoint = self._door.endpoint
        base = httpx2.URL(endpoint.url)
        own = base.raw_path.rstrip(b"/")
        url = base.copy_with(raw_path=own + rest or b"/")
        if (url.scheme, url.netloc) != (base.scheme, base.netloc) or url.raw_path != (
            own + rest or b"/"
        ):
            raise Refused(400, "the path is not passed on as it is")
        # Without compression the key can be looked for in the reply.
        headers = [*headers, (b"host", url.netloc), (b"accept-encoding", b"identity")]
        if endpoint.api_key:
            headers.append((b"authorization", b"Bearer " + endpoint.api_key.encode()))
        return httpx2.Request(
            method.decode(),
            url,
            headers=headers,
            stream=_Stream(body),
            extensions={"timeout": {"connect": _CONNECT_S}},
        )

    async def _body(self, entry: Entry) -> AsyncIterator[bytes]:
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if self._http.they_are_waiting_for_100_continue:
                    await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                try:
                    async with asyncio.timeout(STALL_S):
                        self._http.receive_data(await self._receive())
                except TimeoutError:
                    raise Refused(408, "the rest of the body did not come") from None
            elif isinstance(event, h11.Data):
                self._door.account.sent(entry, len(event.data))
                yield bytes(event.data)
            else:
                self._asked.set()
                return

    async def _reply(self, reply: httpx2.Response, entry: Entry) -> None:
        account = self._door.account
        redactor = Redactor(self._door.endpoint.api_key)
        size = rules.reply_size(
            reply.status_code,
            reply.headers,
            account.network.reply_mb * MIB,
            guarded=redactor.active,
        )
        headers = rules.answered_headers(reply.headers.raw, redactor)
        if size is not None:
            headers.append((b"content-length", b"%d" % size))
        if not redactor.active and "content-encoding" in reply.headers:
            headers.append((b"content-encoding", reply.headers["content-encoding"].encode()))
        entry.status = reply.status_code
        await self._send_head(reply.status_code, headers)
        if not isinstance(reply.stream, httpx2.AsyncByteStream):
            raise TypeError("a reply of an asynchronous transport")
        async for part in reply.stream:
            account.received(entry, len(part))
            certain = redactor.feed(part)
            if certain:
                await self._send(h11.Data(data=certain))
        if held := redactor.end():
            await self._send(h11.Data(data=held))
        await self._send(h11.EndOfMessage())
        entry.complete = True

    async def _send_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        if self._door.crowded():
            headers.append((b"connection", b"close"))
        await self._send(h11.Response(status_code=status, headers=headers))

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if not data:
            return
        try:
            async with asyncio.timeout(STALL_S):
                await self._loop.sock_sendall(self._client, data)
        except TimeoutError:
            raise ConnectionAbortedError from None

    async def _refuse(self, refusal: Refused, entry: Entry | None) -> None:
        """Answer by ourselves, if nothing was answered yet, and end the connection."""
        self._refused = True
        if entry is not None:
            entry.why = refusal.why
        if self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            return  # in the midst of a reply, which is now seen to be cut
        if entry is not None:
            entry.status = refusal.status
        error = {"message": f"proxy of the sandbox: {refusal.why}", "type": "sandbox_proxy"}
        body = json.dumps({"error": error}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        if refusal.status == 405:
            headers.append((b"allow", b", ".join(rules.METHODS)))
        with contextlib.suppress(OSError, h11.ProtocolError):
            await self._send(h11.Response(status_code=refusal.status, headers=headers))
            await self._send(h11.Data(data=body))
            await self._send(h11.EndOfMessage())


class _Stream(httpx2.AsyncByteStream):
    """A request's body as the transport takes it; its length is among the headers."""

    def __init__(self, body: AsyncIterator[bytes] | None) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._body is not None:
            async for part in self._body:
                yield part


__all__ = ["Connection", "Door"]
