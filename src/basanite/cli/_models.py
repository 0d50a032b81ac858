"""Which model has which role in a judge: `--model NAME`, or `--model extract=… check=…`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import InputError

if TYPE_CHECKING:
    from ..llm import ModelSpec

EMBEDDED_CONCURRENCY = 2
DEFAULT_CONCURRENCY = 8

_ROLE = re.compile(r"([a-z]+)=(.*)")


@dataclass(frozen=True, slots=True)
class JudgeModels:
    """A model for each role of a judge."""

    roles: dict[str, ModelSpec]
    main: str
    """The role whose labels or ratings make the scores."""


def concurrency_for(endpoints: Sequence[str], given: int | None) -> int:
    """Items in flight: what was given, or fewer where the model runs on this machine."""
    embedded = any(one.rpartition("=")[2] == "embedded" for one in endpoints)
    return given or (EMBEDDED_CONCURRENCY if embedded else DEFAULT_CONCURRENCY)


def models_of(
    endpoints: Sequence[str],
    names: Sequence[str] | None,
    *,
    roles: tuple[str, ...],
    concurrency: int,
    gguf: Path | None = None,
    attempt_seconds: float = 180.0,
    cache: Literal["use", "refresh", "off"] = "use",
) -> JudgeModels:
    """Say which model each role has.

    Args:
        endpoints: URLs, each for all roles or as `ROLE=URL` for one.
        names: model names, likewise; several in one text may be separated by white space.
        roles: those of the judge, the main one first.
        concurrency: most requests in flight at each endpoint.
        gguf: weights for the embedded endpoint.
        attempt_seconds: deadline of one attempt at one request.
        cache: what the reply cache does.

    Raises:
        InputError: an unknown role, one that is given twice, or one without an endpoint.
    """
    from ..llm import ModelSpec

    urls = _by_role("--endpoint", endpoints, roles)
    chosen = _by_role("--model", names or (), roles)
    specs: dict[str, ModelSpec] = {}
    for role in roles:
        url = urls.get(role) or urls.get("")
        if url is None:
            raise InputError(
                f"the role {role!r} has no endpoint",
                where="--endpoint",
                todo=f"Add --endpoint URL for all roles, or --endpoint {role}=URL",
            )
        specs[role] = ModelSpec(
            endpoint=url,
            model=chosen.get(role) or chosen.get(""),
            gguf=gguf if url == "embedded" else None,
            concurrency=concurrency,
            attempt_seconds=attempt_seconds,
            cache=cache,
        )
    if gguf is not None and all(spec.endpoint != "embedded" for spec in specs.values()):
        raise InputError(
            "a GGUF file is for the embedded endpoint only",
            where=str(gguf),
            todo="Leave it out, or take `embedded` as the endpoint",
        )
    return JudgeModels(specs, roles[0])


def _by_role(option: str, given: Sequence[str], roles: tuple[str, ...]) -> dict[str, str]:
    """Read `VALUE` and `ROLE=VALUE`; the key "" is for all roles that have none of their own."""
    found: dict[str, str] = {}
    for value in (part for text in given for part in text.split()):
        match = _ROLE.fullmatch(value)
        role, value_of = ("", value) if match is None else match.groups()
        if role and role not in roles:
            raise InputError(
                f"this judge has no role {role!r}",
                where=f"{option} {value}",
                todo=f"Its roles are: {', '.join(roles)}",
            )
        if not value_of or role in found:
            what = "has no value" if not value_of else "is given twice"
            raise InputError(f"{f'the role {role!r}' if role else 'it'} {what}", where=option)
        found[role] = value_of
    return found
