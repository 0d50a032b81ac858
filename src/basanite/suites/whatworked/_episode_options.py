"""What an agent is given in an episode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...errors import InputError

if TYPE_CHECKING:
    from ._reference import Reference

View = Literal["full", "opaque", "rules"]
VIEWS: tuple[View, ...] = ("full", "opaque", "rules")


@dataclass(frozen=True)
class EpisodeOptions:
    """What the agent is given."""

    budget: float = 8
    """Measurements beyond the anchors, or cost where the reference has costs."""
    view: View = "opaque"
    """`full`: names, descriptions and code. `opaque`: letters. `rules`: letters, and which
    factor does nothing under which level of another."""
    code: str | None = None
    """The workflow's code, for the view `full`."""
    helpers: bool = True
    """Whether `fit` and `suggest` may be called."""
    calculate_calls: int = 20
    calculate_cpu_s: float = 10.0
    """CPU seconds of all calculations together."""
    calculate_call_s: int = 2
    """CPU seconds of one."""
    seed: int = 0
    """Of a noisy workflow's errors."""


def check_options(options: EpisodeOptions, reference: Reference) -> None:
    """Check that options can be used, and fit a reference.

    Raises:
        InputError: they can't, or don't.
    """
    if options.view not in VIEWS:
        raise InputError(f"there is no view {options.view!r}", todo=f"Name one of {VIEWS}.")
    if options.view == "full" and options.code is None:
        raise InputError(
            "the view full needs the workflow's code",
            where=reference.name,
            todo="Give it; the published tasks come without code.",
        )
    if options.view == "rules" and not reference.rules:
        raise InputError("the view rules needs rules", where=reference.name, todo="Take opaque.")
    if options.budget < 0 or not math.isfinite(options.budget):
        raise InputError(f"the budget is {options.budget}", todo="Give 0 or more.")
    if options.seed < 0:
        raise InputError(f"the seed is {options.seed}", todo="Give 0 or more.")
