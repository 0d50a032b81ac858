"""A critic of an agent's plan, before it begins.

- `PlanCritic`: middleware of LangChain's `create_agent`.
- `with_plan_critic`: before a compiled graph. `add_plan_critic`: to a graph that is being built.
- `run_with_plan_critic`, `arun_with_plan_critic`: before a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._door import lazy

if TYPE_CHECKING:
    from ._around import add_plan_critic, with_plan_critic
    from ._callable import Planned, arun_with_plan_critic, run_with_plan_critic
    from ._middleware import PlanCritic

_HOMES = {
    "PlanCritic": "_middleware",
    "Planned": "_callable",
    "add_plan_critic": "_around",
    "arun_with_plan_critic": "_callable",
    "run_with_plan_critic": "_callable",
    "with_plan_critic": "_around",
}

__all__ = [
    "PlanCritic",
    "Planned",
    "add_plan_critic",
    "arun_with_plan_critic",
    "run_with_plan_critic",
    "with_plan_critic",
]


__getattr__ = lazy(__name__, _HOMES)
