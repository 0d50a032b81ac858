"""Options of a critic of plans."""

from __future__ import annotations

from dataclasses import replace

from ...judges.critic import CriticOptions
from ..end_critic._checks import checked_options


def plan_options(options: CriticOptions | None) -> CriticOptions:
    """Options for plans, whatever they were for.

    Raises:
        InputError: they are no options.
    """
    return replace(checked_options(options), kind="plan")
