"""A critic at the end of any agent: it accepts an answer or sends the agent back to work.

- `EndCritic`: middleware of LangChain's `create_agent`.
- `with_end_critic`: around a compiled graph. `add_end_critic`: to a graph that is being built.
- `run_with_critic`, `arun_with_critic`: around a function, which may give a `Reply` of `Step`s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

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


__getattr__ = lazy(__name__, _HOMES)
