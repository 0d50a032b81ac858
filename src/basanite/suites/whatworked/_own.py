"""The workflows that come with the package: runnable, on data of other packages."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

from ...errors import InputError
from ._library import reference_from_json
from ._packaged import packaged
from ._reference import Reference
from ._workflow import Workflow, read_workflow

WORKFLOWS = ("cells", "diabetes", "digits", "growers", "mauna", "photo")
"""Names of the workflows that come with the package."""


def shipped_workflow(name: str) -> Workflow:
    """Give a workflow of the package, ready to be enumerated.

    Raises:
        InputError: there is none of that name.
    """
    _check(name)
    with as_file(files(__package__).joinpath("workflows")) as folder:
        return read_workflow(folder / f"{name}.toml")


@lru_cache
def shipped_reference(name: str) -> Reference:
    """Give the reference of one of the package's own workflows, as enumerated.

    `shipped_origin` says how it was made.

    Raises:
        InputError: there is none of that name.
    """
    return reference_from_json(_body(name))


def shipped_references() -> tuple[Reference, ...]:
    """Give the references of all of them."""
    return tuple(map(shipped_reference, WORKFLOWS))


def shipped_origin(name: str) -> dict[str, object]:
    """Say how a reference of the package was made: code, environment, each run.

    Raises:
        InputError: there is no workflow of that name.
    """
    found = _body(name)["made"]
    assert isinstance(found, dict)
    return found


def _check(name: str) -> None:
    if name not in WORKFLOWS:
        raise InputError(
            f"there is no workflow {name[:40]!r}", todo=f"Name one of {', '.join(WORKFLOWS)}."
        )


def _body(name: str) -> dict[str, object]:
    _check(name)
    return packaged("workflows", f"{name}.json")
