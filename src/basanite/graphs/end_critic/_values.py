"""Answers that are no texts: objects and dicts, as a structured response is one."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ._messages import text_of


def text_of_value(value: object) -> str:
    """Write an answer down for a critic: a text as it is, None as nothing, the rest as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, BaseMessage):
        return text_of(value)
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    return str(value)


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
