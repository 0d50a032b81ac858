"""Takes the answer of one run out of what its sandbox left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from ...schema import Model, digest
from ...store import unique_names

if TYPE_CHECKING:
    from ...sandboxes import ExecResult
    from ._workflow import Workflow

_RESULT = "result.json"
_SAID = 400
"""Most characters of a run's own words in a detail."""
_LARGEST = 1_000_000
"""Most bytes of a result: its output is in it as a hash alone."""

Finite = Annotated[float, Field(allow_inf_nan=False)]


class CellAnswer(Model):
    """What one run gave, before it is known to be in the workflow's range."""

    score: Finite
    metrics: dict[str, Finite] = Field(default_factory=dict)
    output_sha256: str | None = None
    warnings: tuple[str, ...] = ()
    wall_s: float = Field(ge=0, allow_inf_nan=False)


class NoScore(NamedTuple):
    """Why a run gave none; the fields are those of `CellFailure`."""

    reason: str
    detail: str


class _Printed(Model):
    score: Finite
    metrics: dict[str, Finite] = Field(default_factory=dict)


def answer_of_function(done: ExecResult) -> CellAnswer | NoScore:
    """Read what `_cell_program` wrote."""
    if (why := _ended(done)) is not None:
        return why
    kept = next((one for one in done.artifacts if one.path == _RESULT), None)
    if kept is None or kept.file is None or kept.size > _LARGEST:
        return NoScore("no_score", "the run left no result, or one that is too large")
    try:
        text = kept.file.read_text(encoding="utf-8")
        body = json.loads(text, object_pairs_hook=unique_names)
        if "error" in body:
            return NoScore("raised", str(body["error"]))
        return CellAnswer.model_validate(body)
    except (ValueError, TypeError, RecursionError) as error:  # also what pydantic raises
        return NoScore("no_score", _end(str(error)))


def answer_of_command(workflow: Workflow, done: ExecResult, wall_s: float) -> CellAnswer | NoScore:
    """Read the last line that a command printed, and the hashes of the files it left.

    Args:
        workflow: whose command it was.
        done: how it ended.
        wall_s: its duration as seen from outside; taken where the sandbox measured none.
    """
    if (why := _ended(done)) is not None:
        return why
    lines = done.stdout.text.strip().splitlines()
    try:
        given = json.loads(lines[-1] if lines else "", object_pairs_hook=unique_names)
        body = given if isinstance(given, dict) else {"score": given}
        printed = _Printed.model_validate(body, strict=True)
    except (ValueError, RecursionError):  # also what pydantic raises
        said = _end(lines[-1]) if lines else "nothing was printed"
        return NoScore("no_score", f"the last line is neither a number nor has a score: {said}")
    digests = {one.path: one.sha256 for one in done.artifacts}
    if missing := [name for name in workflow.outputs if name not in digests]:
        return NoScore("no_score", f"the run left no {missing[0]}")
    wanted = {name: digests[name] for name in workflow.outputs}
    return CellAnswer(
        score=printed.score,
        metrics=printed.metrics,
        output_sha256=digest(wanted) if wanted else None,
        wall_s=done.usage.wall_s or wall_s,
    )


def _ended(done: ExecResult) -> NoScore | None:
    if done.ok:
        return None
    reason = "exit_code" if done.status == "exited" else str(done.status)
    return NoScore(reason, f"{done.exit_code}, {_end(done.stderr.text)}")


def _end(text: str) -> str:
    shown = text.strip()
    return shown if len(shown) <= _SAID else "…" + shown[-_SAID:]
