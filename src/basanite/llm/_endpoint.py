"""A model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from ..errors import (
    BasaniteError,
    CallError,
    CapabilityError,
    EndpointError,
    ItemError,
    ReplyError,
    UnscoredReason,
)
from ..schema import ModelIdentity, Usage
from ._address import Address
from ._config import EndpointConfig
from ._failure import Failure
from ._limiter import AdaptiveLimiter
from ._profile import Profile
from ._tokens import estimate_tokens
from ._types import Capabilities, Completion, Request
from ._wire import body_of

_TOKENIZE_SECONDS = 30.0
_COUNTS_KEPT = 512
_SURELY_SHORT = 256
"""Estimated tokens up to which a text is not sent for counting where the context is unknown."""


class Attempts(Protocol):
    """What makes one attempt at a request, and gives a failed one instead of raising it."""

    async def chat(self, body: bytes, seconds: float) -> Completion | Failure:
        """Ask for a chat completion, given the JSON body of OpenAI's API."""
        ...

    async def post(
        self, path: str, body: Mapping[str, object], seconds: float
    ) -> Mapping[str, object] | Failure:
        """Ask for something else that servers offer, such as `/tokenize`."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class Endpoint:
    """A `ChatModel` over HTTP: one client, one limiter and one retry policy for all callers.

    Made by `open_endpoint`, which probes it. Safe to share between tasks of one event loop.
    """

    def __init__(
        self, config: EndpointConfig, address: Address, transport: Attempts, profile: Profile
    ) -> None:
        self._config = config
        self._address = address
        self._transport = transport
        self._profile = profile
        self._limiter = AdaptiveLimiter(config.concurrency)
        self._random = random.Random()  # jitter only; no result depends on it
        self._on_lesson: Callable[[Profile], None] | None = None
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    @property
    def identity(self) -> ModelIdentity:
        """Which model answers."""
        return self._profile.identity

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; a refusal in use is learned from."""
        return self._profile.capabilities

    @property
    def profile(self) -> Profile:
        """All that is known of it; another object once something was learned."""
        return self._profile

    def settle(self, profile: Profile, on_lesson: Callable[[Profile], None] | None) -> None:
        """Take what a probe has found, and whom to tell of what is learned later."""
        self._profile = profile
        self._on_lesson = on_lesson

    @property
    def address(self) -> str:
        """Base URL with `/v1`, without credentials."""
        return self._address.base

    @property
    def limiter(self) -> AdaptiveLimiter:
        """The limit on requests in flight, for progress displays."""
        return self._limiter

    def wire(self, request: Request) -> bytes:
        """The body that `complete` would send now."""
        return body_of(request, self.identity.name, send_schema=self._profile.sends_schema(request))

    async def complete(self, request: Request) -> Completion:
        """Answer one request; cancelling the caller cancels the HTTP request.

        Raises:
            CallError: no usable reply came, after bounded retries.
            ReplyError: `CONTEXT_OVERFLOW` if the prompt does not fit, `REFUSED` if a filter
                stopped the reply. Both say what was used (`usage_of`).
            EndpointError: no request can work: wrong key, wrong model, wrong address.
            CapabilityError: log probabilities are asked for and the endpoint has none.
        """
        call = _Call()
        while True:
            self._check_logprobs(request)
            sent = self.wire(request)
            outcome = await self._persist(sent, call)
            if not isinstance(outcome, Failure):
                break
            learned = outcome.rejects is not None and self._learn(request, outcome.rejects)
            # Another request in flight may have learned the same a moment before.
            if not learned and (outcome.rejects is None or self.wire(request) == sent):
                raise self._error(outcome, call)
        completion = replace(outcome, usage=call.usage(outcome.usage))
        if completion.finish_reason == "content_filter":
            what = f"the endpoint's filter stopped the reply: {completion.text[:200]}"
            raise _spent(ReplyError(UnscoredReason.REFUSED, what), completion.usage)
        return completion

    async def attempt(self, request: Request) -> Completion | Failure:
        """As `complete`, but give the last failure instead of raising it, and learn nothing.

        Raises:
            EndpointError: no request can work.
        """
        call = _Call()
        outcome = await self._persist(self.wire(request), call)
        if isinstance(outcome, Failure) and outcome.fatal is not None:
            raise self._error(outcome, call)
        return outcome

    async def count_tokens(self, text: str) -> int:
        """Tokens of a text.

        A text that surely fits, or surely does not, is only estimated: a count costs a request.
        """
        estimate = estimate_tokens(text)
        context = self.capabilities.context_tokens
        field = self._profile.tokenize
        small = _SURELY_SHORT if context is None else context // 8
        if field is None or estimate <= small or (context is not None and estimate > 16 * context):
            return estimate
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if key in self._counts:
            self._counts.move_to_end(key)
            return self._counts[key]
        body = {"model": self.identity.name, field: text, "add_special_tokens": False}
        answer = await self._transport.post("/tokenize", body, _TOKENIZE_SECONDS)
        count = None if isinstance(answer, Failure) else token_count(answer)
        if count is None:
            return estimate
        self._counts[key] = count
        if len(self._counts) > _COUNTS_KEPT:
            self._counts.popitem(last=False)
        return count

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.close()

    async def _persist(self, body: bytes, call: _Call) -> Completion | Failure:
        """Attempts until one succeeds or no further one is due."""
        policy = self._config.retry
        while True:
            outcome = await self._try(body, call)
            if not isinstance(outcome, Failure) or not outcome.retry:
                return outcome
            call.failures += 1
            call.timeouts += outcome.reason is UnscoredReason.TIMEOUT
            if call.failures >= policy.attempts or call.timeouts >= policy.timeouts:
                return outcome
            if not outcome.busy:  # a busy endpoint's pause is the limiter's, for all callers
                await asyncio.sleep(self._wait_seconds(outcome, call))

    async def _try(self, body: bytes, call: _Call) -> Completion | Failure:
        """One attempt, in a place of the limiter."""
        limiter = self._limiter
        epoch = await limiter.acquire()
        started = time.monotonic()
        try:
            outcome = await self._transport.chat(body, self._config.attempt_seconds)
            if not isinstance(outcome, Failure):
                limiter.succeeded()
            elif outcome.busy:  # before the place is given on: the next one has to wait as well
                limiter.overloaded(epoch, self._wait_seconds(outcome, call))
            return outcome
        finally:
            call.attempts += 1
            call.seconds += time.monotonic() - started
            limiter.release()

    def _error(self, failure: Failure, call: _Call) -> BasaniteError:
        """What a failure that is not repeated means."""
        where = self._address.base
        if failure.fatal is not None:
            return EndpointError(failure.what, where=where, todo=failure.fatal)
        tries = f" ({call.attempts} attempts)" if call.attempts > 1 else ""
        kind = ReplyError if failure.reason is UnscoredReason.CONTEXT_OVERFLOW else CallError
        error = kind(failure.reason, failure.what + tries, where=where, todo=failure.todo)
        return _spent(error, call.usage(Usage()))

    def _wait_seconds(self, failure: Failure, call: _Call) -> float:
        policy = self._config.retry
        if failure.retry_after is not None:
            wait = min(failure.retry_after, policy.retry_after_cap_seconds)
            return wait + self._random.uniform(0.0, min(1.0, wait / 10))
        # Not above 2**16: a float must not overflow, and the cap is reached long before.
        top = min(policy.backoff_cap_seconds, policy.backoff_seconds * 2 ** min(call.failures, 16))
        return self._random.uniform(0.0, top)

    def _check_logprobs(self, request: Request) -> None:
        if request.top_logprobs is not None and self.capabilities.logprobs is False:
            raise CapabilityError(
                "the endpoint gives no log probabilities",
                where=self._address.base,
                todo="Use a mode that needs none, or an endpoint that has them (vLLM, llama.cpp)",
            )

    def _learn(self, request: Request, rejects: str) -> bool:
        """Take note of what the endpoint does not take; True if another attempt makes sense."""
        learned = self._profile.after_refusal(request, rejects)
        if learned is None:
            return False
        if learned != self._profile:
            self._profile = learned
            if self._on_lesson is not None:
                self._on_lesson(learned)
        return True


@dataclass(slots=True)
class _Call:
    """Counters of one `complete`."""

    attempts: int = 0
    failures: int = 0
    timeouts: int = 0
    seconds: float = 0.0

    def usage(self, last: Usage) -> Usage:
        """Usage of the whole call, given that of the last reply."""
        return Usage(
            calls=self.attempts,
            # An attempt that ran into its deadline has used tokens that nobody reports.
            calls_without_usage=last.calls_without_usage + self.timeouts,
            prompt_tokens=last.prompt_tokens,
            completion_tokens=last.completion_tokens,
            seconds=self.seconds,
        )


def token_count(answer: object) -> int | None:
    """The count in an answer of `/tokenize`, from vLLM or llama.cpp."""
    if not isinstance(answer, dict):
        return None
    count, tokens = answer.get("count"), answer.get("tokens")
    if isinstance(count, int):
        return count
    return len(tokens) if isinstance(tokens, list) else None


def _spent(error: ItemError, usage: Usage) -> ItemError:
    error.usage = usage
    return error
