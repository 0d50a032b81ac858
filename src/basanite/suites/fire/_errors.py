"""Why claims are wrong: the benchmark's taxonomy, and how an agent's errors spread over it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import JsonValue

from ...errors import InputError
from ...stats import Estimate, clustered_mean
from ...store import Columns, read_rows
from .._rows import collect_rows, name_of, spelt, text_in
from ._json import SCHEMA, estimate
from ._tasks import FireTasks, fire_tasks

FALSE_NEGATIVE = "false_negative"
FALSE_POSITIVE = "false_positive"

ERROR_TYPES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        FALSE_NEGATIVE: MappingProxyType(
            {
                "method_deviation": "planning",
                "goal_deviation": "planning",
                "unsound_implementation": "implementation",
                "laziness": "execution",
                "endless_loop": "execution",
                "premature_termination": "execution",
                "analysis_failure": "analysis",
                "environment_setup": "system",
                "api_call_issues": "system",
                "policy_violation": "system",
                "timeout": "system",
                "other_system_errors": "system",
            }
        ),
        FALSE_POSITIVE: MappingProxyType(
            {
                "contradictory": "claim",
                "unrelated": "claim",
                "overgeneralized": "claim",
                "alternative": "claim",
            }
        ),
    }
)
"""Kind to error type to its stage: a missed finding has one of twelve types in five stages (the
paper's text says four), a wrong claim one of four."""

UNREADABLE = "unreadable"
"""Type of a claim whose error the analysis did not name."""
_UNREADABLE = frozenset({"unparsed_or_missing_error_type", UNREADABLE, ""})
_SAME = {"overgeneralised": "overgeneralized", "api_call_issue": "api_call_issues"}
_CONCLUSION = "{}_conclusion"
_COLUMNS = Columns(
    required=("agent", "task", "trial", "error_type"),
    known=frozenset(
        {"agent", "task", "trial", "kind", "error_type"}
        | {_CONCLUSION.format(kind) for kind in ERROR_TYPES}
    ),
)


@dataclass(frozen=True, slots=True)
class FireError:
    """One wrong claim, or one missed finding.

    Raises:
        InputError: a kind, or a type of that kind, that is not known.
    """

    agent: str
    task: str
    trial: str
    kind: str
    """`false_negative` or `false_positive`."""
    error_type: str
    """A key of `ERROR_TYPES[kind]`, or `unreadable`."""

    def __post_init__(self) -> None:
        if self.kind not in ERROR_TYPES:
            kinds = " or ".join(ERROR_TYPES)
            raise InputError(f"kind is {spelt(self.kind)}", todo=f"Give {kinds}.")
        known = ERROR_TYPES[self.kind]
        if self.error_type != UNREADABLE and self.error_type not in known:
            raise InputError(
                f"{spelt(self.error_type)} is no type of a {self.kind.replace('_', ' ')}",
                todo=f"Give one of {', '.join(known)}, or {UNREADABLE}.",
            )


@dataclass(frozen=True, slots=True)
class ErrorShares:
    """How one agent's errors of one kind spread."""

    counts: dict[str, int]
    """By type, those of the taxonomy that did not occur with 0."""
    unreadable: int
    """Errors without a type; they are in no share."""
    shares: dict[str, Estimate]
    """Share (0 to 1) of each type, with an interval that respects tasks."""
    stages: dict[str, Estimate]
    """The same by stage."""

    @property
    def n(self) -> int:
        """Errors with a type."""
        return sum(self.counts.values())


def read_errors(path: str | Path, tasks: FireTasks | None = None) -> list[FireError]:
    """Read a file of errors.

    Args:
        path: JSONL, CSV or Parquet with `agent`, `task`, `trial`, `error_type`, and `kind` or one
            of the published keys `false_negative_conclusion` and `false_positive_conclusion`.
            Types may be spelt as in the paper ("Method Deviation"). An error that the analysis
            could not name has a null, or `unparsed_or_missing_error_type`.
        tasks: the tasks that are known; left out, those of the benchmark.

    Raises:
        RowError: rows can't be used; the message names the first three.
        InputError: the file can't be used as a whole.
    """
    path = Path(path)
    known = tasks or fire_tasks()

    def parse(record: Mapping[str, object]) -> FireError:
        error = _error(record)
        known.find(error.task)
        return error

    # A run may have several errors of one type: no row is too many.
    return [error for _, error in collect_rows(path, read_rows(path, _COLUMNS), parse)]


def error_shares(
    errors: Iterable[FireError], level: float = 0.95
) -> dict[str, dict[str, ErrorShares]]:
    """Give agent to kind to the distribution of its errors.

    A task's errors go together (one wrong design misses all of its findings), so that
    intervals take tasks as clusters. They are not cut to 0 and 1.
    """
    groups: dict[tuple[str, str], list[FireError]] = {}
    for error in errors:
        groups.setdefault((error.agent, error.kind), []).append(error)
    found: dict[str, dict[str, ErrorShares]] = {}
    for (agent, kind), of_kind in groups.items():
        found.setdefault(agent, {})[kind] = _shares(of_kind, kind, level)
    return found


def errors_envelope(
    found: Mapping[str, Mapping[str, ErrorShares]], level: float = 0.95
) -> dict[str, JsonValue]:
    """Give distributions as plain JSON values."""
    return {
        "schema": SCHEMA.format("errors"),
        "level": level,
        "agents": {
            agent: {
                kind: {
                    "n": one.n,
                    "unreadable": one.unreadable,
                    "types": {
                        name: {
                            "n": one.counts[name],
                            **estimate("share", share),
                            "stage": ERROR_TYPES[kind][name],
                        }
                        for name, share in one.shares.items()
                    },
                    "stages": {
                        name: estimate("share", share) for name, share in one.stages.items()
                    },
                }
                for kind, one in kinds.items()
            }
            for agent, kinds in found.items()
        },
    }


def _shares(errors: list[FireError], kind: str, level: float) -> ErrorShares:
    known = ERROR_TYPES[kind]
    named = [error for error in errors if error.error_type != UNREADABLE]
    clusters = [error.task for error in named]
    counts = Counter(error.error_type for error in named)

    def share(types: set[str]) -> Estimate:
        return clustered_mean([float(e.error_type in types) for e in named], clusters, level)

    stages = {stage: {t for t in known if known[t] == stage} for stage in known.values()}
    return ErrorShares(
        counts={name: counts[name] for name in known},
        unreadable=len(errors) - len(named),
        shares={name: share({name}) for name in known},
        stages={stage: share(types) for stage, types in stages.items()},
    )


def _error(record: Mapping[str, object]) -> FireError:
    kinds = [kind for kind in ERROR_TYPES if _CONCLUSION.format(kind) in record]
    if record.get("kind") is not None:
        kinds = [name_of(record, "kind")]
    if len(kinds) != 1:
        raise InputError("the kind is not said", todo=f"Give kind: {' or '.join(ERROR_TYPES)}")
    given = text_in(record, "error_type") or ""
    name = re.sub(r"[\s/-]+", "_", given.strip().lower())
    name = UNREADABLE if name in _UNREADABLE else _SAME.get(name, name)
    return FireError(
        agent=name_of(record, "agent"),
        task=name_of(record, "task"),
        trial=name_of(record, "trial"),
        kind=kinds[0],
        error_type=name,
    )
