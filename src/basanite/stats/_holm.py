"""Correction of p-values for the number of tests."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Give Holm's step-down adjusted p-values, in the order of those given.

    The smallest of ``m`` p-values is multiplied by ``m``, the next by ``m - 1``, and so on; none
    is below the one before it, and none above 1. Rejecting where the adjusted value is at most
    alpha keeps the probability of any false rejection at alpha, however the tests depend on
    each other (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J.
    Statist. 6 (1979), 65-70).

    Args:
        p_values: each from 0 to 1. A test without one must be left out by the caller.

    Raises:
        InputError: a value is missing or outside of 0 to 1.
    """
    for position, value in enumerate(p_values):
        if value is None or not 0 <= value <= 1:
            raise InputError(
                f"p-value number {position + 1} is {value}", todo="Give numbers from 0 to 1."
            )
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    ordered = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, position in enumerate(ordered):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = highest
    return tuple(adjusted)
