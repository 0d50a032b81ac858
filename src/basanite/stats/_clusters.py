"""What the functions of this room share: checked numbers and integer cluster codes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def finite_array(values: Sequence[float], *, what: str) -> NDArray[np.float64]:
    """Give the values as an array.

    Raises:
        InputError: a value is None, NaN or infinite. Missing values must be taken out and
            counted by the caller, so that no mean hides them.
    """
    import numpy as np

    for position, value in enumerate(values):
        if value is None or not math.isfinite(value):
            raise InputError(
                f"{what} number {position + 1} is {value}, not a finite number",
                todo="Leave values that are missing out, and count them.",
            )
    return np.asarray(values, dtype=np.float64)


def cluster_codes(clusters: Iterable[Hashable], *, n: int) -> tuple[NDArray[np.int64], int]:
    """Give each value's cluster as a number from 0, and how many clusters there are.

    Raises:
        InputError: there are not exactly `n` clusters' names, one for each value.
    """
    import numpy as np

    numbers: dict[Hashable, int] = {}
    codes = np.fromiter((numbers.setdefault(c, len(numbers)) for c in clusters), dtype=np.int64)
    if len(codes) != n:
        raise InputError(f"{n} values but {len(codes)} clusters", todo="Give one cluster a value.")
    return codes, len(numbers)


def check_level(level: float) -> None:
    """Refuse a confidence level outside of (0, 1).

    Raises:
        InputError: the level is 0, 1 or beyond, such as 95 where 0.95 was meant.
    """
    if not 0 < level < 1:
        raise InputError(f"the confidence level is {level}", todo="Give one between 0 and 1.")
