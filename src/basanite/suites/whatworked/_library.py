"""The published references, and folders of one's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...store import unique_names
from ._equivalence import InertRule, classes_by_rules
from ._packaged import packaged
from ._reference import Noise, Reference, is_number
from ._space import Factor, Space, letters, space_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

ADDED_FAMILIES = ("beat_detection", "graph_link_prediction")
"""The families that the published study added later, with a budget of their own."""

_SAME = 1e-12


@lru_cache(maxsize=1)
def _package() -> dict[str, Any]:
    return packaged("data", "references.json")


def origin() -> dict[str, str]:
    """Say where the published references come from, and under which licence."""
    return {name: str(_package()[name]) for name in ("origin", "licence", "note")}


@lru_cache(maxsize=1)
def published_references() -> tuple[Reference, ...]:
    """Give the 36 published tables: 22 of four factors and 14 of six.

    Those of six factors carry the published rules of inert factors where there are any.
    """
    package = _package()
    rules = package["inert_rules"]
    found = []
    for one in package["tables"]:
        k = len(one["levels"])
        own = [InertRule(*rule) for rule in rules.get(one["family"], [])] if k == 6 else []
        found.append(
            Reference.from_values(
                one["name"],
                one["values"],
                letters(k),
                source=one["source"],
                family=one["family"],
                rules=own,
            )
        )
    return tuple(found)


def read_references(folder: str | Path) -> tuple[Reference, ...]:
    """Read all `*.json` of a folder, or one file, as references.

    Raises:
        InputError: there are none, one can't be used, or two have the same name.
    """
    folder = Path(folder)
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else [folder]
    if not paths:
        raise InputError("holds no references", where=str(folder), todo="Put *.json into it.")
    found: dict[str, Reference] = {}
    for path in paths:
        one = read_reference(path)
        if one.name in found:
            raise InputError(f"a second reference is named {one.name!r}", where=str(path))
        found[one.name] = one
    return tuple(found.values())


def read_reference(path: str | Path) -> Reference:
    """Read one reference, of our layout or of the published one.

    Raises:
        InputError: it is no JSON, lacks a field, or its table can't be used.
    """
    path = Path(path)
    try:
        body = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique_names)
    except FileNotFoundError:
        raise InputError("there is no such file", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"can't be read as JSON: {error}", where=str(path)) from None
    try:
        return reference_from_json(body)
    except InputError as error:
        where = f"{path}: {error.where}" if error.where else str(path)
        raise InputError(error.what, where=where, todo=error.todo) from None


def reference_from_json(body: object) -> Reference:
    """Make a reference from a JSON object.

    Ours has `name` and `truth` (utility by mask), and perhaps `factors`, `source`, `family`,
    `classes`, `rules`, `costs` and `noise`. The published layout has `instance`,
    `source_instance`, `family`, `dimensions` and `truth`; it gets the published rules of its
    family where it has six factors and the table obeys them.

    Raises:
        InputError: a field is missing or can't be used.
    """
    if not isinstance(body, Mapping):
        raise InputError("is no JSON object")
    name = body.get("name", body.get("instance"))
    truth = body.get("truth")
    if not isinstance(name, str) or not name.strip():
        raise InputError("has no name", todo='Give it a field "name".')
    if not isinstance(truth, Mapping) or not truth:
        raise InputError("has no truth", where=name, todo="Give utilities by mask.")
    factors = _factors(body, truth, name)
    space = space_of(tuple(len(one.levels) for one in factors))
    source = _text(body, "source", "source_instance", where=name)
    family = _text(body, "family", where=name) or "own"
    rules = _rules(body.get("rules"), name)
    if "instance" in body and "rules" not in body:
        rules = _published_rules(family, space, truth)
    return Reference.from_values(
        name,
        truth,
        factors,
        source=source,
        family=family,
        rules=rules,
        classes=_classes(body.get("classes"), space, name),
        costs=body.get("costs"),
        noise=_noise(body.get("noise"), name),
    )


def _text(body: Mapping[str, object], *names: str, where: str) -> str | None:
    """Give the first of some fields that is there; null is as if it were not."""
    for name in names:
        value = body.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise InputError(f"{name} is {str(value)[:40]!r}, no text", where=where)
        return value
    return None


def _factors(
    body: Mapping[str, object], truth: Mapping[str, object], where: str
) -> tuple[Factor, ...]:
    given = body.get("factors")
    if given is None:
        masks = [mask for mask in truth if isinstance(mask, str) and mask.isdigit()]
        k = len(masks[0]) if masks else 0
        if len(masks) < len(truth) or any(len(mask) != k for mask in masks) or not k:
            raise InputError("the masks are not equally many digits", where=where)
        sizes = [max(2, 1 + max(int(mask[i]) for mask in masks)) for i in range(k)]
        return letters(k, sizes)
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError("the factors are no list", where=where)
    factors = []
    for one in given:
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
            raise InputError("a factor has no name", where=where)
        levels = one.get("levels", ["off", "on"])
        if not isinstance(levels, Sequence) or isinstance(levels, str):
            raise InputError(f"the levels of {one['name']!r} are no list", where=where)
        text = str(one.get("description", ""))
        factors.append(Factor(one["name"], text, tuple(map(str, levels))))
    if len({one.name for one in factors}) < len(factors):
        raise InputError("two factors have the same name", where=where)
    return tuple(factors)


def _published_rules(
    family: str, space: Space, truth: Mapping[str, object]
) -> tuple[InertRule, ...]:
    """The published files name no rules; a table that breaks a rule is of other factors."""
    rules = tuple(InertRule(*rule) for rule in _package()["inert_rules"].get(family, []))
    if not rules or space.levels != (2,) * 6:
        return ()
    pairs = zip(space.masks, classes_by_rules(space, rules), strict=True)
    for mask, first in pairs:
        one, other = truth.get(mask), truth.get(space.masks[first])
        if not (is_number(one) and is_number(other)) or abs(one - other) > _SAME:  # type: ignore[operator]
            return ()
    return rules


def _rules(given: object, where: str) -> tuple[InertRule, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(
        isinstance(one, list) and len(one) == 3 and all(type(n) is int for n in one)
        for one in given
    ):
        raise InputError(
            "the rules are no list of [guard, level, inert]",
            where=where,
            todo="Give factors by number, the first is 0.",
        )
    return tuple(InertRule(*one) for one in given)


def _classes(given: object, space: Space, where: str) -> NDArray[np.int64] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != space.n_cells:
        raise InputError(f"the classes are no list of {space.n_cells} masks", where=where)
    cells = np.array([space.cell(mask) for mask in given])
    if not np.array_equal(cells[cells], cells) or (cells > np.arange(space.n_cells)).any():
        raise InputError("a class is not named by its first mask", where=where)
    return cells


def _noise(given: object, where: str) -> Noise | None:
    if given is None:
        return None
    sd = given.get("sd") if isinstance(given, Mapping) else None
    replicates = given.get("replicates", 1) if isinstance(given, Mapping) else None
    if isinstance(sd, bool) or not isinstance(sd, int | float) or type(replicates) is not int:
        raise InputError('the noise is no {"sd": number, "replicates": number}', where=where)
    return Noise(float(sd), replicates)
