"""The seam between judges and models: what is asked, what comes back, what a model offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from ..schema import ModelIdentity, Sampling, Usage


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model, whole: what the cache's key is made of."""

    messages: tuple[Message, ...]
    sampling: Sampling
    role: str
    """What is asked for (`extract:answer`, `check:truth`); a label, no part of the key."""
    parser_version: str
    """Version of the code that reads the reply; a new one makes new calls."""
    schema: Mapping[str, object] | None = None
    """JSON schema of the reply: enforced by the server where it can, validated here always."""
    top_logprobs: int | None = None
    """Alternatives to report per token; None asks for no log probabilities."""
    replicate: int = 0
    """0, 1, 2, …: repeats of one request that must each be asked; an endpoint adds it to the
    seed, so that sampled repeats differ."""


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply with its natural-log probability and the alternatives to it."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a model."""

    text: str
    finish_reason: str | None
    usage: Usage = field(default_factory=Usage)
    """What this reply cost, all attempts at it included; a cached one costs no calls."""
    reasoning: str | None = None
    """What a reasoning model thought before, where the server keeps it apart."""
    logprobs: tuple[TokenLogprob, ...] | None = None
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an endpoint can do, as probed; None where it could not be found out."""

    json_schema: bool | None = None
    """The server keeps to a JSON schema sent as `response_format`."""
    logprobs: bool | None = None
    context_tokens: int | None = None
    """Most tokens of prompt and reply together."""
    tokenizer: bool | None = None
    """The server counts tokens (`/tokenize`); without, counts are a cautious estimate."""


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers chats: an endpoint, a LangChain model, or a cache around either."""

    @property
    def identity(self) -> ModelIdentity: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            CallError: no usable reply came, after bounded retries.
            ReplyError: with `CONTEXT_OVERFLOW` if the prompt does not fit, `REFUSED` if a
                filter stopped the reply.
            EndpointError: no request can work (wrong key, wrong model); ends a run.
            CapabilityError: log probabilities are asked for and the model gives none.
        """
        ...

    async def count_tokens(self, text: str) -> int:
        """Tokens of a text: the server's count, or an estimate that errs on the high side."""
        ...

    async def aclose(self) -> None:
        """Close connections; a closed model can't be used again."""
        ...
