"""Which model answered, how it was sampled, and what it used."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from ._base import Model, digest


class ModelIdentity(Model):
    """All that is known of a model; what an endpoint can't tell is `unknown`."""

    name: str
    """The name that requests carry."""
    kind: Literal["openai", "embedded", "langchain", "none"]
    """How it is reached; `none` for a judge without a model."""
    weights_sha256: str = "unknown"
    chat_template_sha256: str = "unknown"
    engine: str = "unknown"
    """Server software and version, such as `vllm 0.32.0`."""
    dtype: str = "unknown"
    """Data type or quantisation of the weights."""
    root: str = "unknown"
    """What the server says that it loaded (a path or a repository id); of a LangChain model its
    class, and a hash of its settings without secrets."""


class Sampling(Model):
    """Decoding parameters; always sent, so that no server default decides a score."""

    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int = 0
    max_tokens: int = Field(default=1024, gt=0)
    """Most tokens of one reply."""


class Usage(Model):
    """What was used: calls, tokens and seconds. Add two with `+`."""

    calls: int = 0
    """Requests that were sent to a model, failed attempts included."""
    cached_calls: int = 0
    """Replies that came from the cache and cost nothing."""
    calls_without_usage: int = 0
    """Calls whose server reported no token counts; their tokens are missing in the sums."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """Sum of the calls' durations; calls in parallel count each."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            cached_calls=self.cached_calls + other.cached_calls,
            calls_without_usage=self.calls_without_usage + other.calls_without_usage,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
        )


class Fingerprint(Model):
    """What makes two judgments comparable: same judge, prompts, model, sampling and parser."""

    judge: str
    parser_version: str
    """Changes whenever the reading of replies changes."""
    prompts: dict[str, str] = Field(default_factory=dict)
    """Name of each prompt to its SHA-256."""
    model: ModelIdentity
    sampling: Sampling | None = None
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the judge that change its scores."""

    @property
    def digest(self) -> str:
        """SHA-256 of the fingerprint's canonical JSON."""
        return digest(self.model_dump(mode="json"))
