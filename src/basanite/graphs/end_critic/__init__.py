"""A critic at the end of any agent: it accepts an answer or sends the agent back to work.

- `EndCritic`: middleware of LangChain's `create_agent`.
- `with_end_critic`: around a compiled graph. `add_end_critic`: to a graph that is being built.
- `run_with_critic`, `arun_with_critic`: around a function, which may give a `Reply` of `Step`s.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...judges.critic import Step
    from ._agent import StateKeys
    from ._around import add_end_critic, with_end_critic
    from ._callable import Reply, arun_with_critic, run_with_critic
    from ._middleware import EndCritic
    from ._reviewing import CriticLedger

_HOMES = {
    "CriticLedger": "_reviewing",
    "EndCritic": "_middleware",
    "Reply": "_callable",
    "StateKeys": "_agent",
    "Step": "..judges.critic",
    "add_end_critic": "_around",
    "arun_with_critic": "_callable",
    "run_with_critic": "_callable",
    "with_end_critic": "_around",
}

__all__ = [
    "CriticLedger",
    "EndCritic",
    "Reply",
    "StateKeys",
    "Step",
    "add_end_critic",
    "arun_with_critic",
    "run_with_critic",
    "with_end_critic",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
