"""The methods by their names on the command line."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import InputError
from ._ard import ModelAveragedDesign, ModelAveragedGP
from ._estimator import Estimator
from ._gp import GPDesign, HammingGP
from ._path import Method
from ._published_design import PublishedLeverageDesign
from ._ridge import LeverageDesign, RandomDesign, Ridge

_METHODS: dict[str, Callable[[bool, int], Method]] = {
    "ridge-main": lambda published, seed: _ridge("ridge-main", 1, published),
    "ridge-pair": lambda published, seed: _ridge("ridge-pair", 2, published),
    "gp-grid": lambda published, seed: Method("gp-grid", GPDesign("grid"), HammingGP()),
    "gp-effect": lambda published, seed: Method("gp-effect", GPDesign("effect"), HammingGP()),
    "ard": lambda published, seed: Method("ard", ModelAveragedDesign(), ModelAveragedGP()),
    "random": lambda published, seed: Method("random", RandomDesign(seed), Ridge(2)),
}
METHODS = tuple(_METHODS)
"""A design with its estimator: what `evaluate` takes."""

_ESTIMATORS: dict[str, Callable[[], Estimator]] = {
    "ridge-main": lambda: Ridge(1),
    "ridge-pair": lambda: Ridge(2),
    "gp": HammingGP,
    "ard": ModelAveragedGP,
}
ESTIMATORS = tuple(_ESTIMATORS)
"""What completes a table from any observations."""


def method_named(name: str, *, published: bool = False, seed: int = 0) -> Method:
    """Give a method.

    Args:
        name: one of `METHODS`.
        published: take the ridge methods' designs as the published figures had them.
        seed: of the method `random`.

    Raises:
        InputError: there is none of that name.
    """
    if name not in _METHODS:
        raise InputError(f"there is no method {name[:40]!r}", todo=f"Name one of {_some(METHODS)}.")
    return _METHODS[name](published, seed)


def estimator_named(name: str) -> Estimator:
    """Give an estimator, one of `ESTIMATORS`.

    Raises:
        InputError: there is none of that name.
    """
    if name not in _ESTIMATORS:
        raise InputError(
            f"there is no estimator {name[:40]!r}", todo=f"Name one of {_some(ESTIMATORS)}."
        )
    return _ESTIMATORS[name]()


def _ridge(name: str, degree: int, published: bool) -> Method:
    design = PublishedLeverageDesign(degree) if published else LeverageDesign(degree)
    return Method(name, design, Ridge(degree))


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names)
