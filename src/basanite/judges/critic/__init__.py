"""A critic of agents' drafts: accept, or revise with what is missing and which check to run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._critic import Critic, CriticKind, CriticOptions, feedback
    from ._steps import Step

_HOMES = {
    "Critic": "_critic",
    "CriticKind": "_critic",
    "CriticOptions": "_critic",
    "Step": "_steps",
    "feedback": "_critic",
}

__all__ = ["Critic", "CriticKind", "CriticOptions", "Step", "feedback"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
