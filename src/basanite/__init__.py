"""Evaluate AI research agents on what they discover, with judges that you host."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graphs.end_critic import (
        EndCritic,
        add_end_critic,
        run_with_critic,
        with_end_critic,
    )
    from .graphs.plan_critic import (
        PlanCritic,
        add_plan_critic,
        run_with_plan_critic,
        with_plan_critic,
    )

__version__ = "0.1.0"

_HOMES = {
    "EndCritic": "end_critic",
    "PlanCritic": "plan_critic",
    "add_end_critic": "end_critic",
    "add_plan_critic": "plan_critic",
    "run_with_critic": "end_critic",
    "run_with_plan_critic": "plan_critic",
    "with_end_critic": "end_critic",
    "with_plan_critic": "plan_critic",
}

__all__ = [
    "EndCritic",
    "PlanCritic",
    "__version__",
    "add_end_critic",
    "add_plan_critic",
    "run_with_critic",
    "run_with_plan_critic",
    "with_end_critic",
    "with_plan_critic",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".graphs.{_HOMES[name]}", __name__), name)
