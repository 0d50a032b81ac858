"""What one attempt at a request can end in, other than a reply."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UnscoredReason
from ._address import Address

_OVERFLOW = re.compile(
    r"context[ _](length|size|window)|maximum context|max_model_len|exceed_context_size"
    r"|(prompt|input).{0,40}too long|too many tokens|longer than the model",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"response_format|json.?schema|guided|grammar|structured.?output|xgrammar|outlines",
    re.IGNORECASE,
)
_LOGPROBS = re.compile(r"log_?probs?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt, with all that decides what comes next."""

    reason: UnscoredReason
    what: str
    retry: bool
    """Whether the same request may do better later."""
    busy: bool = False
    """The endpoint asks for fewer requests: pause and slow down all callers."""
    retry_after: float | None = None
    """Seconds that the endpoint asks to wait."""
    fatal: str | None = None
    """What the user has to do, where no request at all can work."""
    rejects: str | None = None
    """`schema` or `logprobs`: what in the request the endpoint does not take."""
    todo: str | None = None


def of_status(status: int, headers: Mapping[str, str], content: bytes, address: Address) -> Failure:
    """Read an answer with an HTTP error status.

    Args:
        status: the HTTP status, 300 or above.
        headers: of the answer; looked up by lower-case name.
        content: the body.
        address: of the endpoint, for scrubbing secrets that the body may echo.
    """
    said = address.scrub(_message_of(content))
    what = f"HTTP {status}" + (f": {said}" if said else "")
    error = UnscoredReason.HTTP_ERROR
    wait = retry_after_seconds(headers.get("retry-after"), time.time())
    if status == 429:
        return Failure(UnscoredReason.RATE_LIMITED, what, retry=True, busy=True, retry_after=wait)
    if status in {408, 409, 425} or (status >= 500 and status != 501):
        # 503 with Retry-After is how some servers say 429.
        busy = status == 503 and wait is not None
        if _OVERFLOW.search(said) and not busy:  # llama.cpp has answered overflows with 500
            return Failure(UnscoredReason.CONTEXT_OVERFLOW, what, retry=False)
        return Failure(error, what, retry=True, busy=busy, retry_after=wait)
    fatal = _FATAL.get(status)
    if status < 400:
        target = headers.get("location")
        aim = f" to {address.scrub(target)}" if target else ""
        fatal = f"It redirects{aim}; give the address that it redirects to"
    if fatal is not None:
        return Failure(error, what, retry=False, fatal=fatal)
    if status == 413 or _OVERFLOW.search(said):
        return Failure(UnscoredReason.CONTEXT_OVERFLOW, what, retry=False)
    rejects = None
    if status in {400, 422, 501}:
        rejects = "schema" if _SCHEMA.search(said) else None
        rejects = "logprobs" if rejects is None and _LOGPROBS.search(said) else rejects
    return Failure(error, what, retry=False, rejects=rejects)


_FATAL = {
    401: "Put the endpoint's key into the environment variable BASANITE_API_KEY",
    403: "The key in BASANITE_API_KEY may not use this model; ask whoever runs the endpoint",
    404: "Check the address (it should end in /v1) and the model's name",
    405: "Check the address (it should end in /v1)",
}


def of_connection(error: BaseException) -> Failure:
    """Read an error that came before any HTTP status: refused, reset, no such host."""
    causes: list[BaseException] = []
    cause: BaseException | None = error.__cause__
    while cause is not None and len(causes) < 5:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    texts = (str(one) or type(one).__name__ for one in causes)
    what = next(texts, str(error))
    return Failure(UnscoredReason.CONNECTION_FAILED, f"no connection: {what}", retry=True)


def of_timeout(seconds: float) -> Failure:
    """An attempt that ran into its deadline."""
    what = f"no reply within {seconds:g} s"
    todo = "Raise the deadline of an attempt, or lower the concurrency"
    return Failure(UnscoredReason.TIMEOUT, what, retry=True, todo=todo)


def of_body(what: str) -> Failure:
    """A 200 whose body is no completion; a proxy's page may be gone at the next attempt."""
    return Failure(UnscoredReason.HTTP_ERROR, f"HTTP 200 with {what}", retry=True)


def retry_after_seconds(value: str | None, now: float) -> float | None:
    """Seconds to wait by a `Retry-After` header: a number or an HTTP date.

    Args:
        value: the header, None where there is none.
        now: the time in seconds since the epoch.

    Returns:
        Seconds, not below 0; None for no header or one that can't be read.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None  # noqa: PLR0124 - not NaN


def _message_of(content: bytes) -> str:
    """What an error body says, without its wrapping."""
    text = content[:20_000].decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        start = text.lstrip()[:9].lower()
        return "a web page" if start.startswith(("<!doctype", "<html")) else text
    for name in ("error", "detail", "message"):
        inner = body.get(name) if isinstance(body, dict) else None
        if isinstance(inner, dict):
            inner = inner.get("message", inner)
        if isinstance(inner, list):
            inner = "; ".join(_field_error(one) for one in inner)
        if inner:
            return inner if isinstance(inner, str) else json.dumps(inner)
    return text


def _field_error(one: object) -> str:
    """Place and text of one of FastAPI's field errors, without the input that it repeats."""
    if not isinstance(one, dict):
        return str(one)
    place = one.get("loc")
    parts = [str(part) for part in place] if isinstance(place, list) else []
    return f"{'.'.join(parts)}: {one.get('msg', 'invalid')}"
