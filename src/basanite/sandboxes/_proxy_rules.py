"""What may pass between code inside and a model endpoint.

Headers pass by a list of those that are needed, in both directions: what is not on it (cookies,
keys, `Host`, hop-by-hop and forwarding headers, a server's own) is dropped. A path passes if no
server, however it decodes or normalises it, can take it for one outside the endpoint's base.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote_to_bytes

from ._spec import LEAST_KEY

INSIDE_BASE = "/v1"
"""The path below which an endpoint is seen inside, whatever its own is."""
METHODS = (b"GET", b"POST")

Headers = Iterable[tuple[bytes, bytes]]

_BASE = INSIDE_BASE.encode()
_PATH = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=:@/-]*")
_QUERY = re.compile(rb"[!$-;=?-~]*")  # printable, without `"`, `#`, `<` and `>`
_ASKED = re.compile(
    rb"accept|accept-language|content-type|user-agent|idempotency-key|openai-beta"
    rb"|anthropic-version|anthropic-beta|x-stainless-[a-z-]+"
)
_ANSWERED = re.compile(
    rb"content-type|content-language|date|retry-after|retry-after-ms|x-should-retry|request-id"
    rb"|x-request-id|openai-processing-ms|openai-version|x-ratelimit-[a-z-]+"
)


class Refused(Exception):
    """A request that the proxy answers by itself, or a reply that it does not pass on."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def path_below(method: bytes, target: bytes, allow: Sequence[str]) -> bytes:
    """Give what comes after the base in a request's target: a path and perhaps a query.

    Raises:
        Refused: it is no path below the base, or not among what the endpoint allows.
    """
    path, mark, query = target.partition(b"?")
    rest = path.removeprefix(_BASE)
    if not path.startswith(_BASE) or (rest and not rest.startswith(b"/")):
        raise Refused(404, f"only paths below {INSIDE_BASE}/ lead to the endpoint")
    # Decoded once: what is then still encoded would be decoded again by some servers.
    plain = unquote_to_bytes(rest)
    if not _PATH.fullmatch(plain) or not _QUERY.fullmatch(query):
        raise Refused(400, "the path holds characters that are not passed on")
    parts = plain.split(b"/")[1:]
    if b"" in parts[:-1] or any(part.partition(b";")[0] in {b".", b".."} for part in parts):
        raise Refused(400, "the path holds an empty part, or one of dots")
    if not any(_matches(b"%s %s" % (method, plain), entry.encode()) for entry in allow):
        raise Refused(403, f"an endpoint allows only: {', '.join(allow)}")
    return rest + mark + query


def _matches(asked: bytes, entry: bytes) -> bool:
    return asked.startswith(entry[:-1]) if entry.endswith(b"*") else asked == entry


def asked_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Give those headers of a request that the endpoint gets.

    Raises:
        Refused: one of them is there twice, which servers understand differently.
    """
    passed = [(name, value) for name, value in headers if _ASKED.fullmatch(name)]
    if len({name for name, _ in passed}) < len(passed):
        raise Refused(400, "a header is there twice")
    return passed


def body_size(headers: Headers, method: bytes, limit: int) -> int:
    """Give the length of a request's body, once it is plain that it has one.

    Raises:
        Refused: no length, two ways to find the body's end, a change of protocol, or too long.
    """
    found = dict(headers)
    if b"transfer-encoding" in found:
        raise Refused(411, "a body needs a Content-Length: chunked requests are not passed on")
    if b"upgrade" in found:
        raise Refused(400, "there is no other protocol than HTTP/1.1 here")
    # Digits alone, as the parser has made sure.
    size = int(found.get(b"content-length", b"0"))
    if size and method == b"GET":
        raise Refused(400, "a GET has no body")
    if size > limit:
        raise Refused(413, f"the body is larger than {limit} bytes")
    return size


def answered_headers(headers: Headers, redactor: Redactor) -> list[tuple[bytes, bytes]]:
    """Give those headers of a reply that code inside gets."""
    return [
        (name, redactor.whole(value))
        for name, value in headers
        if _ANSWERED.fullmatch(name.lower())
    ]


def reply_size(status: int, headers: Mapping[str, str], limit: int, *, guarded: bool) -> int | None:
    """Give the length that a reply says it has; None: it doesn't say.

    Args:
        status: the reply's.
        headers: the reply's.
        limit: bytes that a reply may have.
        guarded: whether a key is looked for in it.

    Raises:
        Refused: a redirection, a compressed reply in which no key could be seen, or too long.
    """
    if not (200 <= status < 300 or 400 <= status < 600):
        raise Refused(502, f"the endpoint answered with {status}, which is not followed")
    encoding = headers.get("content-encoding", "identity")
    if encoding != "identity" and guarded:
        raise Refused(502, "the endpoint's reply is compressed, which was not asked for")
    length = headers.get("content-length", "")
    if not length.isdecimal() or "transfer-encoding" in headers:
        return None
    if int(length) > limit:
        raise Refused(502, f"the endpoint's reply is larger than {limit} bytes")
    return int(length)


class Redactor:
    """Replaces a key by as many `*` in bytes that come in parts.

    Only an end that may be the key's beginning is held back until the next part, so that events
    pass as they come.
    """

    def __init__(self, key: str | None) -> None:
        self._key = (key or "").encode()
        if len(self._key) < LEAST_KEY:
            self._key = b""
        self._held = b""

    @property
    def active(self) -> bool:
        """Whether there is a key to look for."""
        return bool(self._key)

    def feed(self, data: bytes) -> bytes:
        """Take a part, and give what is certain."""
        if not self._key:
            return data
        data = self.whole(self._held + data)
        keep = next(
            (n for n in range(min(len(self._key) - 1, len(data)), 0, -1)
             if data.endswith(self._key[:n])),
            0,
        )  # fmt: skip
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def end(self) -> bytes:
        """Give what was held back when nothing follows."""
        held, self._held = self._held, b""
        return held

    def whole(self, data: bytes) -> bytes:
        """Replace the key in bytes that are complete."""
        return data.replace(self._key, b"*" * len(self._key)) if self._key else data


__all__ = [
    "INSIDE_BASE",
    "METHODS",
    "Redactor",
    "Refused",
    "answered_headers",
    "asked_headers",
    "body_size",
    "path_below",
    "reply_size",
]
