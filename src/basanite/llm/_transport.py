"""One attempt at one HTTP request, through the official client."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ._address import Address
from ._failure import Failure, of_body, of_connection, of_status, of_timeout
from ._wire import NotACompletion, read_completion

if TYPE_CHECKING:
    import httpx2

    from ._types import Completion

_CONNECT_SECONDS = 10.0


class Transport:
    """The connections to one endpoint; every method makes one attempt and never raises for it.

    The official client's typed `chat.completions.create` costs about 1 ms of CPU more per call
    than its own `post`, for turning the request and the reply into objects that are not needed
    here, so `post` it is. Its retries are off: they know nothing of other callers.
    """

    def __init__(self, address: Address, api_key: str, *, connections: int) -> None:
        import httpx2
        import openai

        self._address = address
        self._response_type = httpx2.Response
        self._status_error = openai.APIStatusError
        self._timeout_error = openai.APITimeoutError
        self._connection_error = openai.APIConnectionError
        self._client = openai.AsyncOpenAI(
            base_url=address.base,
            api_key=api_key,
            max_retries=0,
            default_headers=_headers(address, api_key),
            http_client=_http_client(address, connections),
        )

    async def chat(self, body: bytes, seconds: float) -> Completion | Failure:
        """Send a chat request; a refusal of the model is a completion that says `refusal`."""
        response = await self._attempt("POST", "/chat/completions", body, seconds)
        if isinstance(response, Failure):
            return response
        try:
            completion, refusal = read_completion(response.content)
        except NotACompletion as error:
            return of_body(self._address.scrub(str(error)))
        if refusal is not None:
            return replace(completion, text=refusal, finish_reason="content_filter")
        return completion

    async def get(self, path: str, seconds: float) -> Mapping[str, object] | Failure:
        """Get a JSON object from a path below the address's root."""
        return self._json(await self._attempt("GET", self._address.root + path, None, seconds))

    async def post(
        self, path: str, body: Mapping[str, object], seconds: float
    ) -> Mapping[str, object] | Failure:
        """Post to a path below the address's root and get a JSON object."""
        content = json.dumps(body).encode("ascii")
        url = self._address.root + path
        return self._json(await self._attempt("POST", url, content, seconds))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _attempt(
        self, method: str, url: str, content: bytes | None, seconds: float
    ) -> httpx2.Response | Failure:
        try:
            async with asyncio.timeout(seconds):
                if method == "GET":
                    return await self._client.get(url, cast_to=self._response_type)
                return await self._client.post(url, cast_to=self._response_type, content=content)
        except self._status_error as error:
            answer = error.response
            return of_status(answer.status_code, answer.headers, answer.content, self._address)
        except TimeoutError:
            return of_timeout(seconds)
        except self._timeout_error:  # only connecting has a deadline of its own
            return of_timeout(min(seconds, _CONNECT_SECONDS))
        except self._connection_error as error:
            return of_connection(error)

    @staticmethod
    def _json(response: httpx2.Response | Failure) -> Mapping[str, object] | Failure:
        if isinstance(response, Failure):
            return response
        try:
            body = json.loads(response.content)
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict):
            return body
        kind = response.headers.get("content-type", "no content type").partition(";")[0]
        return of_body(f"{kind} instead of a JSON object")


def _headers(address: Address, api_key: str) -> dict[str, str]:
    """Headers of every request, without those that the client would take from the environment.

    `OPENAI_ORG_ID` and the like belong to an account of a commercial service; they are nothing
    that another server should see.
    """
    import openai

    custom = os.environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()
    names = [line.partition(":")[0].strip() for line in custom]
    left_out = {
        name: openai.Omit() for name in ("OpenAI-Organization", "OpenAI-Project", *names) if name
    }
    authorization = {"Authorization": address.authorization or f"Bearer {api_key}"}
    # The client's annotation does not name `Omit` here, though it is how a default is left out.
    return cast("dict[str, str]", {**left_out, **authorization})


def _http_client(address: Address, connections: int) -> httpx2.AsyncClient:
    """The connections below the client.

    A redirect is not followed: it could carry a prompt to a host that nobody named. A proxy from
    the environment is used for other hosts only, never for this machine.
    """
    import httpx2

    from ._lanes import KEEPALIVE_SECONDS, Lanes

    # Deadlines are those of the whole attempt, set by the caller.
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
    if address.local or not urllib.request.getproxies():
        lanes = Lanes(tls=address.base.startswith("https:"))
        return httpx2.AsyncClient(
            transport=lanes, timeout=timeout, trust_env=False, follow_redirects=False
        )
    limits = httpx2.Limits(
        max_connections=connections,
        max_keepalive_connections=connections,
        keepalive_expiry=KEEPALIVE_SECONDS,
    )
    return httpx2.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)
