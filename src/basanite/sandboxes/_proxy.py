"""The way from a sandbox to its model endpoints: a proxy in the supervisor's process.

Inside there is a network namespace of the sandbox's own, with nothing in it but the loopback
interface. On it listen sockets that were made there and are held here, one for each endpoint: the
code can connect to them and to nothing else. What comes in is read, checked and asked anew of the
endpoint, from this process, with the endpoint's key, which never goes in.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Mapping, Sequence

import httpx2

from ._holder import Holder
from ._proxy_account import Account
from ._proxy_connection import Connection, Door
from ._proxy_rules import INSIDE_BASE
from ._proxy_sockets import listeners_inside
from ._spec import Network

_AFTER_ERROR_S = 0.1


class Proxy:
    """Serves the endpoints of one sandbox; each is a socket that listens already."""

    def __init__(self, network: Network, listeners: Sequence[socket.socket]) -> None:
        self.account = Account(network)
        self._network = network
        self._listeners = tuple(listeners)
        self._places = asyncio.Semaphore(network.connections)
        # Neither cookies nor redirections, nor the proxies that this process's environment names.
        self._transport = httpx2.AsyncHTTPTransport(
            verify=_trust(network),
            trust_env=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
        )
        self._tasks = {
            asyncio.create_task(self._accept(listener, self._door(number)))
            for number, listener in enumerate(self._listeners)
        }

    def _door(self, number: int) -> Door:
        return Door(
            self._network.endpoints[number], self._transport, self.account, self._places.locked
        )

    async def _accept(self, listener: socket.socket, door: Door) -> None:
        """Take connections as there are places: the kernel lets the others wait."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(listener)
            except OSError:
                await asyncio.sleep(_AFTER_ERROR_S)  # out of descriptors, or gone already
                continue
            try:
                await self._places.acquire()
            except BaseException:
                client.close()
                raise
            task = asyncio.create_task(self._serve(client, door))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: socket.socket, door: Door) -> None:
        try:
            with client:
                await Connection(client, door).serve()
        finally:
            self._places.release()

    def environment(self) -> Mapping[str, str]:
        """Give the variables by which code inside finds the endpoints."""
        urls = {
            endpoint.name: f"http://127.0.0.1:{listener.getsockname()[1]}{INSIDE_BASE}"
            for endpoint, listener in zip(self._network.endpoints, self._listeners, strict=True)
        }
        variables = {f"BASANITE_ENDPOINT_{name.upper()}": url for name, url in urls.items()}
        if len(urls) == 1:
            # What clients of the OpenAI interface look for; they want some key to send.
            variables["OPENAI_BASE_URL"] = next(iter(urls.values()))
            variables["OPENAI_API_KEY"] = "sandboxed"
        return variables

    async def close(self) -> None:
        """Break off what is under way and stop to listen."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for listener in self._listeners:
            listener.close()
        with contextlib.suppress(httpx2.HTTPError, OSError):
            await self._transport.aclose()


async def open_proxy(network: Network, holder: Holder) -> Proxy:
    """Open the way out of a sandbox's namespace.

    Raises:
        SandboxUnavailable: the namespace does not allow it.
    """
    return Proxy(network, await asyncio.to_thread(listeners_inside, holder, len(network.endpoints)))


def _trust(network: Network) -> ssl.SSLContext:
    if any(endpoint.url.startswith("https:") for endpoint in network.endpoints):
        return httpx2.create_ssl_context(trust_env=False)
    # Reading all authorities takes 20 ms; this one trusts nobody, and nobody is asked.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


__all__ = ["Proxy", "open_proxy"]
