"""Evaluate AI research agents on what they discover, with judges that you host."""

from typing import TYPE_CHECKING

from ._door import lazy

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
    "EndCritic": "graphs.end_critic",
    "PlanCritic": "graphs.plan_critic",
    "add_end_critic": "graphs.end_critic",
    "add_plan_critic": "graphs.plan_critic",
    "run_with_critic": "graphs.end_critic",
    "run_with_plan_critic": "graphs.plan_critic",
    "with_end_critic": "graphs.end_critic",
    "with_plan_critic": "graphs.plan_critic",
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


__getattr__ = lazy(__name__, _HOMES)
