"""`suite airs evaluate`: a submission scored by its task's own evaluator, in a sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from . import _options as opt
from ._console import print_json, reported, stderr, stdout
from ._sandbox_options import with_profile

if TYPE_CHECKING:
    from ..sandboxes import SandboxSpec
    from ..suites.airs import Evaluation

NOT_VALID = 4
"""Exit code: the evaluator ran, and the submission is not valid."""


def register(app: typer.Typer) -> None:
    """Add this file's command."""
    app.command("evaluate")(reported(_evaluate))


def _evaluate(
    folder: Annotated[
        Path, typer.Argument(help="A task's folder: metadata.yaml, evaluate.py, …", metavar="TASK")
    ],
    submission: Annotated[Path, typer.Argument(help="submission.csv", metavar="SUBMISSION")],
    *,
    data: Annotated[
        Path | None,
        typer.Option(help="What the evaluator sees as ./data: test_with_labels.", metavar="DIR"),
    ] = None,
    shared: Annotated[
        Path | None,
        typer.Option(
            help="Downloaded data, on which evaluate_prepare.py is run first.", metavar="DIR"
        ),
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option(
            help="bin/python of a virtual environment with what the evaluator imports.",
            metavar="PATH",
        ),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="base or scanpy: its Python instead.", metavar="NAME")
    ] = None,
    backend: Annotated[
        str | None, typer.Option(help="bubblewrap, oci or gvisor.", metavar="B")
    ] = None,
    wall: Annotated[float, typer.Option(help="Seconds until it is killed.", metavar="S")] = 3600.0,
    memory: Annotated[int, typer.Option(help="MB of memory.", metavar="MB")] = 4096,
    disk: Annotated[int, typer.Option(help="MB in the work folder.", metavar="MB")] = 1024,
    agent: Annotated[
        str | None, typer.Option(help="Print a row of runs for this agent.", metavar="NAME")
    ] = None,
    seed: Annotated[str, typer.Option(help="The seed of that row.", metavar="SEED")] = "0",
    as_json: opt.AsJson = False,
) -> int:
    """Run a task's evaluate.py on a submission in a sandbox, and take its one number.

    Exit code 4: the submission is not valid.
    """
    import json

    from ..suites.airs import EvaluationOptions, evaluate_submission, read_task_folder
    from ..suites.airs._import import run_record

    if agent is not None and as_json:
        raise InputError("--agent prints a row, --json an envelope", todo="Give one of the two.")
    task = read_task_folder(folder)
    limits = {"wall_s": wall, "memory_mb": memory, "disk_mb": disk}
    options = EvaluationOptions(data, shared, _spec(python, profile, limits), backend)
    found = asyncio.run(evaluate_submission(task, submission, options))
    if as_json:
        print_json({"schema": "basanite.suite.airs.evaluate/1", **_plain(found)})
    elif agent is not None:
        print(json.dumps(run_record(found.run(agent, seed))))  # noqa: T201
    elif found.valid:
        stdout.print(f"{found.task}: {found.metric} {found.score}", markup=False)
    for note in found.notes:
        stderr.print(f"note: {note}", markup=False)
    if not found.valid:
        stderr.print(f"not valid: {found.reason}: {found.detail}", markup=False)
    return 0 if found.valid else NOT_VALID


def _spec(python: Path | None, profile: str | None, limits: dict[str, float]) -> SandboxSpec:
    from ..sandboxes import SandboxSpec

    if python is not None and profile is not None:
        raise InputError("--python and --profile exclude each other", todo="Give one of the two.")
    fields: dict[str, object] = {"limits": limits}
    if python is not None:
        path = python.absolute()
        if not path.exists():
            raise InputError("no such file", where=str(python), todo="Check the path.")
        fields["python"] = str(path)
        prefixes = {path.parent.parent, path.resolve().parent.parent}
        fields["mounts"] = [
            {"source": prefix, "target": prefix, "kind": "environment"}
            for prefix in sorted(prefixes)
            if prefix not in (Path("/"), Path("/usr"))
        ]
    spec = SandboxSpec.create(**fields)
    return with_profile(spec, profile)


def _plain(found: Evaluation) -> dict[str, object]:
    return {
        "task": found.task,
        "score": found.score,
        "valid": found.valid,
        "metric": found.metric,
        "reason": found.reason,
        "detail": found.detail,
        "exit_code": found.exit_code,
        "wall_s": found.wall_s,
        "backend": found.backend,
        "policy_hash": found.policy_hash,
        "notes": list(found.notes),
    }


__all__ = ["register"]
