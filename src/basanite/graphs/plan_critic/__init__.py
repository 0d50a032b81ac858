"""A critic of an agent's plan, before it begins.

- `PlanCritic`: middleware of LangChain's `create_agent`.
- `with_plan_critic`: before a compiled graph. `add_plan_critic`: to a graph that is being built.
- `run_with_plan_critic`, `arun_with_plan_critic`: before a function.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
