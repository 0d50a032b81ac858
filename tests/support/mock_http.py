"""The HTTP/1.1 side of the mock endpoint: one protocol object per keep-alive connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping

from support.mock_behaviour import Core, Reply, completion
from support.mock_replies import request_hash


class Connection(asyncio.Protocol):
    """One keep-alive connection; a protocol rather than streams, to cost little."""

    def __init__(self, core: Core, loop: asyncio.AbstractEventLoop) -> None:
        self.core = core
        self.loop = loop
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None
        self.busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.core.stats.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        if self.busy:
            self.busy = False
            self.core.stats.in_flight -= 1
            self.core.stats.disconnects += 1
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.busy:
            self._next_request()

    def _next_request(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        size = int(headers.get("content-length", "0"))
        if len(self.buffer) < end + 4 + size:
            return
        content = bytes(self.buffer[end + 4 : end + 4 + size])
        del self.buffer[: end + 4 + size]
        method, target, _ = lines[0].split(" ", 2)
        self._route(method, target.partition("?")[0], headers, content)

    def _route(self, method: str, path: str, headers: dict[str, str], content: bytes) -> None:
        config = self.core.config
        if config.api_key and headers.get("authorization") != f"Bearer {config.api_key}":
            sent = headers.get("authorization", "")
            self._send_json(401, {"error": {"message": f"Incorrect API key provided: {sent}"}})
        elif method == "GET":
            self.core.stats.gets += 1
            self._send_json(*self.core.get(path))
        elif path == "/v1/chat/completions":
            self._chat(headers, content)
        elif path == "/tokenize" and config.server != "plain":
            self._send_json(*self.core.tokenize(json.loads(content)))
        else:
            self._send_json(404, {"detail": "Not Found"})

    def _chat(self, headers: dict[str, str], content: bytes) -> None:
        received = time.time()
        core, stats = self.core, self.core.stats
        stats.calls += 1
        stats.in_flight += 1
        stats.max_in_flight = max(stats.max_in_flight, stats.in_flight)
        self.busy = True
        body = json.loads(content)
        key = request_hash(body)
        if core.keep_requests:
            core.requests.append(body)
            core.headers.append(headers)
        reply = core.reply(body, key)
        if reply.fault:
            stats.faults[reply.fault] = stats.faults.get(reply.fault, 0) + 1
        latency = core.config.latency if reply.latency is None else reply.latency
        if reply.fault == "hang":
            core.write_log(key, received, reply.fault)
        elif latency:
            self.loop.call_later(latency, self._answer, body, key, reply, received)
        else:
            self._answer(body, key, reply, received)

    def _answer(self, body: dict[str, object], key: str, reply: Reply, received: float) -> None:
        if self.transport is None:
            return
        self.busy = False
        self.core.stats.in_flight -= 1
        self.core.write_log(key, received, reply.fault)
        if reply.fault == "disconnect":
            self.transport.close()
            return
        whole = completion(body, reply, key) if reply.body is None else reply.body
        text = whole if isinstance(whole, str) else json.dumps(whole)
        if reply.fault == "half":
            text = text[: len(text) // 2]
        is_page = isinstance(reply.body, str)
        self._send(
            reply.status, text, "text/html" if is_page else "application/json", reply.headers
        )

    def _send_json(self, status: int, body: Mapping[str, object]) -> None:
        self._send(status, json.dumps(body), "application/json", {})

    def _send(self, status: int, text: str, kind: str, headers: Mapping[str, str]) -> None:
        if self.transport is None:
            return
        data = text.encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        length = f"Content-Length: {len(data)}\r\n"
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{length}{more}\r\n"
        self.transport.write(head.encode("latin-1") + data)
        self._next_request()
