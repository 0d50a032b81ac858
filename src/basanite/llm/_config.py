"""What the user says about a model, and how an endpoint is to be treated."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..errors import InputError
from ..schema import ModelIdentity
from ._types import Capabilities

CacheMode = Literal["use", "refresh", "off"]
"""`use` reads and writes, `refresh` asks anew and writes, `off` does neither."""

EMBEDDED = "embedded"
"""The `ModelSpec.endpoint` that means the model that is started in a child process."""

API_KEY_VARIABLE = "BASANITE_API_KEY"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model as named on the command line; `open_model` turns it into a `ChatModel`."""

    endpoint: str
    """URL of an OpenAI-compatible endpoint (with or without `/v1`), or `embedded`."""
    model: str | None = None
    """Name as the endpoint lists it; None takes the only one that it has. `embedded` has one
    only, and reads no name."""
    gguf: Path | None = None
    """Weights for `embedded`; None takes the installed ones."""
    concurrency: int = 8
    """Most requests in flight; fewer while the endpoint answers 429."""
    attempt_seconds: float = 180.0
    """Deadline of one attempt at one request."""
    cache: CacheMode = "use"
    api_key: str | None = field(default=None, repr=False)
    """None takes `BASANITE_API_KEY`, or `none` where that is not set."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and when a failed attempt is repeated."""

    attempts: int = 5
    """Most attempts in one call, the first included."""
    timeouts: int = 2
    """Most attempts that may end at their deadline: a slow server stays slow."""
    backoff_seconds: float = 0.5
    """Upper end of the first wait; doubles each time (full jitter: drawn from 0 up to it)."""
    backoff_cap_seconds: float = 20.0
    retry_after_cap_seconds: float = 60.0
    """Longest `Retry-After` that is waited for in full."""


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """One OpenAI-compatible endpoint and how to treat it."""

    url: str
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    concurrency: int = 8
    attempt_seconds: float = 180.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    known: Capabilities = field(default_factory=Capabilities)
    """What the caller knows better than a probe; a value that is not None wins."""
    identity: ModelIdentity | None = None
    """What the caller knows of the model (such as its weights' hash); None asks the server."""

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError(f"concurrency must be at least 1, not {self.concurrency}")
        if self.attempt_seconds <= 0:
            raise InputError(f"attempt_seconds must be above 0, not {self.attempt_seconds}")


def api_key_of(given: str | None) -> str:
    """The key to send: the given one, `BASANITE_API_KEY`, or `none`.

    No other variable is read: a key for a commercial service must not reach a local server.
    """
    return given or os.environ.get(API_KEY_VARIABLE) or "none"
