"""Addresses of endpoints: where requests go, and what may be shown of it."""

from __future__ import annotations

import base64
import ipaddress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from ..errors import InputError

_SHOWN_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint's address, its secrets kept apart from what is logged, stored and hashed."""

    base: str
    """`scheme://host:port/…/v1`, without user, password or query: safe to show."""
    root: str
    """The same without `/v1`, where servers keep `/tokenize`, `/version` and `/props`."""
    local: bool
    """Whether the host is this machine."""
    authorization: str | None = field(default=None, repr=False)
    """`Authorization` header made from a user and password in the given URL."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What must not appear in any text, the API key included."""

    @classmethod
    def parse(cls, url: str, *, api_key: str = "none") -> Address:
        """Take a URL as people write it: `http://host:port`, with or without `/v1`.

        Raises:
            InputError: it is no HTTP URL, or has a query (whose parts would end up in logs). The
                text does not repeat a URL that may hold a secret.
        """
        parts = _split(url)
        path = parts.path.rstrip("/").removesuffix("/chat/completions")
        root_path = path.removesuffix("/v1")
        host = parts.hostname or ""
        netloc = f"[{host}]" if ":" in host else host
        if parts.port is not None:
            netloc += f":{parts.port}"
        root = f"{parts.scheme}://{netloc}{root_path}"
        secrets = {text for text in (parts.password, unquote(parts.password or "")) if text}
        if api_key != "none":
            secrets.add(api_key)
        authorization = None
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            encoded = base64.b64encode(pair.encode()).decode()
            authorization = f"Basic {encoded}"
            secrets.add(encoded)
        return cls(
            base=f"{root}/v1",
            root=root,
            local=_is_local(host),
            authorization=authorization,
            # Longest first, so that a secret inside of another leaves no remainder.
            secrets=tuple(sorted(secrets, key=len, reverse=True)),
        )

    def scrub(self, text: str) -> str:
        """A text from outside, short and on one line, with every secret replaced by `***`."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        text = " ".join(text.split())
        return text if len(text) <= _SHOWN_LIMIT else f"{text[:_SHOWN_LIMIT]}…"


def _split(url: str) -> SplitResult:
    todo = "Give the address as http://HOST:PORT or http://HOST:PORT/v1, or `embedded`"
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise InputError("the endpoint's address can't be read", todo=todo) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        shown = "" if "@" in url or "?" in url else f" {url!r}"
        raise InputError(f"the endpoint's address{shown} is no HTTP address", todo=todo)
    if parts.query or parts.fragment:
        raise InputError(
            "the endpoint's address has a query or fragment, which would show up in logs",
            todo="Leave it out; a key goes into the environment variable BASANITE_API_KEY",
        )
    return parts


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
