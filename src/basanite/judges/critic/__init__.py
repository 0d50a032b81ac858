"""A critic of agents' drafts: accept, or revise with what is missing and which check to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

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


__getattr__ = lazy(__name__, _HOMES)
