"""What sets a LangChain chat model apart from another of its class, without its secrets."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel

_SECRET = re.compile(r"key|secret|password|credential|auth|header|(access|api|bearer)_?token", re.I)
_RUNNING = frozenset(
    {
        *("cache", "callbacks", "custom_get_token_ids", "disable_streaming", "max_retries"),
        *("metadata", "name", "profile", "rate_limiter", "request_timeout", "streaming", "tags"),
        *("timeout", "verbose"),
        *("ls_max_tokens", "ls_stop", "ls_temperature"),
    }
)
"""Settings of how a model is run and watched, which change nothing of what it says."""


def name_of(chat: BaseChatModel) -> str:
    """The model's name as the chat model gives it, or else the name of its class."""
    for field in ("model_name", "model", "model_id"):
        value = getattr(chat, field, None)
        if isinstance(value, str) and value:
            return value
    said = _said(chat._get_ls_params).get("ls_model_name")
    return said if isinstance(said, str) and said else type(chat).__name__


def settings_sha256(chat: BaseChatModel, without: Collection[str]) -> str:
    """Hash what a chat model says of itself: its identifying parameters and its plain fields.

    Args:
        chat: the model.
        without: fields that each request sets.
    """
    left_out = _RUNNING | set(without)
    found = {
        "fields": _plain(_fields(chat), left_out),
        "identifying": _plain(_said(lambda: chat._identifying_params), left_out),
        "tracing": _plain(_said(chat._get_ls_params), left_out),
        "attributes": _plain(_said(lambda: chat.lc_attributes), left_out),
    }
    text = json.dumps(found, sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _fields(chat: BaseChatModel) -> Mapping[str, object]:
    return {name: getattr(chat, name, None) for name in type(chat).model_fields}


def _said(ask: Callable[[], Any]) -> Mapping[str, object]:
    """What a model says where it is asked; nothing where it can't."""
    try:
        said = ask()
    # These are written by each provider's package; a model that works must not fail for them.
    except Exception:  # noqa: BLE001
        return {}
    return said if isinstance(said, Mapping) else {}


def _plain(values: Mapping[str, object], left_out: Collection[str]) -> dict[str, object]:
    """The values that are plain and no secrets; objects have no form that lasts."""
    return {
        str(name): kept
        for name, value in values.items()
        if str(name) not in left_out and not _SECRET.search(str(name))
        for kept in _kept(value)
    }


def _kept(value: object) -> list[object]:
    if isinstance(value, bool | int | float | str):
        return [value]
    if isinstance(value, Mapping):
        return [_plain({str(name): one for name, one in value.items()}, ())]
    if isinstance(value, list | tuple | set | frozenset):
        kept = [one for item in value for one in _kept(item)]
        ordered = not isinstance(value, set | frozenset)
        return [kept if ordered else sorted(map(str, kept))]
    return []
