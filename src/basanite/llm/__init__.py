"""One way to ask a model: endpoints, LangChain models, the embedded model, and a cache.

Heavy clients load when a model is opened; importing this package loads none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy

if TYPE_CHECKING:
    from ._ask import Asked, ask, replies_of, usage_of
    from ._cache import CachedModel
    from ._config import CacheMode, EndpointConfig, ModelSpec, RetryPolicy
    from ._embedded import EmbeddedConfig, EmbeddedServer, find_model, install_model
    from ._endpoint import Endpoint
    from ._jsontext import read_json
    from ._langchain import LangChainModel, as_chat_model
    from ._open import check_spec, open_model
    from ._probe import open_endpoint
    from ._prompt import Prompt, fence, fence_mark
    from ._types import Capabilities, ChatModel, Completion, Message, Request, TokenLogprob
    from ._windows import (
        ASSUMED_CONTEXT_TOKENS,
        Window,
        check_window_count,
        sentence_spans,
        together,
        windows_by_chars,
        windows_by_tokens,
    )

_HOMES = {
    "ASSUMED_CONTEXT_TOKENS": "_windows",
    "Asked": "_ask",
    "CacheMode": "_config",
    "CachedModel": "_cache",
    "Capabilities": "_types",
    "ChatModel": "_types",
    "Completion": "_types",
    "EmbeddedConfig": "_embedded",
    "EmbeddedServer": "_embedded",
    "Endpoint": "_endpoint",
    "EndpointConfig": "_config",
    "LangChainModel": "_langchain",
    "Message": "_types",
    "ModelSpec": "_config",
    "Prompt": "_prompt",
    "Request": "_types",
    "RetryPolicy": "_config",
    "TokenLogprob": "_types",
    "Window": "_windows",
    "as_chat_model": "_langchain",
    "ask": "_ask",
    "check_spec": "_open",
    "check_window_count": "_windows",
    "fence": "_prompt",
    "fence_mark": "_prompt",
    "find_model": "_embedded",
    "install_model": "_embedded",
    "open_endpoint": "_probe",
    "open_model": "_open",
    "read_json": "_jsontext",
    "replies_of": "_ask",
    "sentence_spans": "_windows",
    "together": "_windows",
    "usage_of": "_ask",
    "windows_by_chars": "_windows",
    "windows_by_tokens": "_windows",
}


__getattr__ = lazy(__name__, _HOMES)


__all__ = [
    "ASSUMED_CONTEXT_TOKENS",
    "Asked",
    "CacheMode",
    "CachedModel",
    "Capabilities",
    "ChatModel",
    "Completion",
    "EmbeddedConfig",
    "EmbeddedServer",
    "Endpoint",
    "EndpointConfig",
    "LangChainModel",
    "Message",
    "ModelSpec",
    "Prompt",
    "Request",
    "RetryPolicy",
    "TokenLogprob",
    "Window",
    "as_chat_model",
    "ask",
    "check_spec",
    "check_window_count",
    "fence",
    "fence_mark",
    "find_model",
    "install_model",
    "open_endpoint",
    "open_model",
    "read_json",
    "replies_of",
    "sentence_spans",
    "together",
    "usage_of",
    "windows_by_chars",
    "windows_by_tokens",
]
