"""Ties that rounding would break by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def first_best(gain: NDArray[np.float64], *, least: float = 1e-12) -> int:
    """Give the first place whose gain equals the largest but for rounding.

    Args:
        gain: finite numbers, (n,).
        least: differences up to this, or to 1e-10 of the largest size, are none.
    """
    top = float(gain.max())
    slack = max(least, 1e-10 * abs(top))
    return int(np.argmax(gain >= top - slack))
