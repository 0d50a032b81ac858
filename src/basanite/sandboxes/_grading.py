"""Grade what an agent left: in a sandbox of its own, from its files alone.

What an agent prints, and what its kernel sends, is under its control, and so is everything in its
work folder: a module there called `json.py` would be imported by a grader that ran beside it. So a
grader runs in a fresh sandbox, by an interpreter that looks at nothing but its own library
(`python -I`), with the artifacts read-only in one folder and the truth in another. The truth is
mounted nowhere else. What counts is the one file that the grader writes.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from ..errors import GraderFailed, PolicyError
from ._collect import keep_artifacts
from ._probe import open_sandbox
from ._result import Artifact, ExecResult, Status
from ._spec import Limits, Mount, SandboxSpec

T = TypeVar("T")

ARTIFACTS = PurePosixPath("/artifacts")
TRUTH = PurePosixPath("/truth")
GRADE = "grade.json"
_LIMITS = Limits(wall_s=300, artifacts=16, artifacts_mb=16)
_SAID = 500


async def grade(
    result: ExecResult,
    grader: str,
    returns: type[T],
    *,
    wanted: Sequence[str] = (),
    truth: Iterable[Path] = (),
    spec: SandboxSpec | None = None,
    backend: str | None = None,
) -> T:
    """Run a grader over the artifacts of an execution and give what it found.

    Args:
        result: the agent's execution; its sandbox must still be open.
        grader: Python source. Inside, `$ARTIFACTS` and `$TRUTH` are folders, and it writes JSON to
            the file `$GRADE`. It must take the artifacts for hostile: who unpickles one of them
            lets the agent write the grade.
        returns: what the JSON is validated as.
        wanted: paths of artifacts without which there is nothing to grade.
        truth: files and folders that are seen in `$TRUTH`, by their names.
        spec: limits, interpreter and other settings of the grader's sandbox.
        backend: see `open_sandbox`.

    Raises:
        ArtifactRejected: an artifact that is wanted is missing or was not taken.
        GraderFailed: the grader wrote no valid grade. That is no grade of 0: it tells nothing.
        PolicyError: the agent's sandbox is closed, or two files of the truth have one name.
        SandboxLost, SandboxUnavailable, IsolationFloorNotMet: as for any sandbox.
    """
    for path in wanted:
        result.artifact(path)
    with _laid_out(result.artifacts) as folder:
        spec = _spec(spec or SandboxSpec(limits=_LIMITS), folder, list(truth))
        async with await open_sandbox(spec, backend=backend) as sandbox:
            done = await sandbox.execute(code=grader, isolated=True)
            return _read(done, returns)


@contextmanager
def _laid_out(artifacts: Sequence[Artifact]) -> Iterator[Path]:
    """Copies under their own names, since the sandbox shows whole folders."""
    gone = [one.path for one in artifacts if one.file is None or not one.file.exists()]
    if gone:
        raise PolicyError(
            f"the copies of the artifacts are gone: {gone[0]} and {len(gone) - 1} more"
            if len(gone) > 1
            else f"the copy of an artifact is gone: {gone[0]}",
            where="grading",
            todo="Grade before the agent's sandbox is closed: open_sandbox, not run_sandboxed.",
        )
    folder = Path(tempfile.mkdtemp(prefix="basanite-grading-"))
    try:
        keep_artifacts(artifacts, folder)
        for place, _, names in os.walk(folder):
            Path(place).chmod(0o755)  # read by the sandbox's user, who is another
            for name in names:
                Path(Path(place) / name).chmod(0o644)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _spec(spec: SandboxSpec, artifacts: Path, truth: Sequence[Path]) -> SandboxSpec:
    mounts = [*spec.mounts, Mount(source=artifacts, target=ARTIFACTS)]
    for path in truth:
        source = path.resolve()
        mounts.append(Mount(source=source, target=TRUTH / source.name))
    places = {"ARTIFACTS": str(ARTIFACTS), "TRUTH": str(TRUTH), "GRADE": f"/work/{GRADE}"}
    fields = {name: getattr(spec, name) for name in type(spec).model_fields}
    fields |= {"mounts": mounts, "environment": {**spec.environment, **places}}
    return SandboxSpec.create(**{**fields, "command": None, "code": None})


def _read(done: ExecResult, returns: type[T]) -> T:
    if not done.ok:
        how = f"exit code {done.exit_code}" if done.status is Status.EXITED else done.status.value
        raise GraderFailed(f"the grader failed ({how}): {_end(done)}", where="grading")
    file = done.artifact(GRADE).file if _wrote(done) else None
    if file is None:
        raise GraderFailed(
            "the grader wrote no grade", where="grading", todo="It must write JSON to $GRADE."
        )
    text = file.read_bytes()
    try:
        json.loads(text, parse_constant=_no_number)
        return TypeAdapter(returns).validate_json(text)
    except ValidationError as error:
        one = error.errors(include_url=False)[0]
        where = ".".join(map(str, one["loc"]))
        why = f"{where}: {one['msg']}" if where else str(one["msg"])
    except ValueError as error:
        why = str(error)
    raise GraderFailed(f"the grade is not what was asked for: {why}", where="grading")


def _wrote(done: ExecResult) -> bool:
    return any(one.path == GRADE for one in done.artifacts)


def _no_number(name: str) -> Mapping[str, object]:
    raise ValueError(f"{name} is no grade")


def _end(done: ExecResult) -> str:
    return done.stderr.text.strip()[-_SAID:] or "it said nothing"


__all__ = ["ARTIFACTS", "GRADE", "TRUTH", "grade"]
