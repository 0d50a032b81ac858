"""Holm's procedure against worked examples and its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.stats import holm


def test_worked_examples() -> None:
    # Four hypotheses, of which the first and the last are rejected at 0.05.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    # R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx((0.05, 0.08, 0.09, 0.09, 0.09))
    assert holm([0.7, 0.9]) == (1.0, 1.0)
    assert holm([0.04]) == (0.04,)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.2))
def test_adjusted_values_reject_what_the_sequential_procedure_rejects(
    p_values: list[float], alpha: float
) -> None:
    rejected: set[int] = set()
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if (len(p_values) - rank) * p_values[position] > alpha:
            break
        rejected.add(position)
    adjusted = holm(p_values)
    assert {position for position, p in enumerate(adjusted) if p <= alpha} == rejected
    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))


@pytest.mark.parametrize("bad", [None, float("nan"), -0.1, 1.1])
def test_what_is_no_p_value_is_refused(bad: float | None) -> None:
    with pytest.raises(InputError, match="p-value number 2"):
        holm([0.5, bad])  # type: ignore[list-item]
