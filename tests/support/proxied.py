"""A proxy of model endpoints on this machine's own loopback interface, without a sandbox."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

from basanite.sandboxes import ModelEndpoint, Network, NetworkRequest
from basanite.sandboxes._proxy import Proxy

KEY = "sk-test-0123456789abcdef"
CLOSE = b"Connection: close\r\n\r\n"
GET = b"GET /v1/models HTTP/1.1\r\nHost: a\r\n" + CLOSE
ANYTHING = ("GET /*", "POST /*")


@dataclass
class Opened:
    """A proxy that is open."""

    proxy: Proxy
    port: int

    @property
    def log(self) -> tuple[NetworkRequest, ...]:
        return self.proxy.account.since(0)


@contextlib.asynccontextmanager
async def proxied(
    url: str, *, key: str | None = KEY, allow: tuple[str, ...] = ANYTHING, **network: object
) -> AsyncIterator[Opened]:
    """Open a proxy of one endpoint; `network` are fields of `Network`."""
    endpoint = ModelEndpoint(name="judge", url=url, api_key=key, allow=allow)
    spec = Network.model_validate({"endpoints": (endpoint,), **network})
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    proxy = Proxy(spec, [listener])
    try:
        yield Opened(proxy, listener.getsockname()[1])
    finally:
        await proxy.close()


def post(body: bytes, *more: bytes, target: bytes = b"/v1/chat/completions") -> bytes:
    """A request with a body and more header lines."""
    lines = [b"POST " + target + b" HTTP/1.1", b"Host: a", b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, *more, CLOSE]) + body


def status_of(reply: bytes) -> int:
    """The status of a reply; 0: there was none."""
    return int(reply.split(b" ", 2)[1]) if reply else 0


__all__ = ["ANYTHING", "CLOSE", "GET", "KEY", "Opened", "post", "proxied", "status_of"]
