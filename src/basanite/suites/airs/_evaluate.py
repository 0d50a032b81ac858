"""A submission scored by its task's own evaluator, in a sandbox."""

from __future__ import annotations

import ast
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ...errors import GraderFailed, InputError, SetupError
from ._folder import TaskFolder
from ._printed import NoNumber, printed_number
from ._runs import AirsRun

if TYPE_CHECKING:
    from ...sandboxes import ExecResult, Sandbox, SandboxSpec

_TASK, _DATA, _SHARED = map(PurePosixPath, ("/task", "/labels", "/shared"))
_SUBMISSION = "submission.csv"
_MARGIN_MB = 64
_LONGEST = 1_000_000
"""Bytes of output that are read for a number."""
_SAID = 2000

_EVALUATE = """
import os, sys
os.makedirs("data", exist_ok=True)
for name in os.listdir({data!r}) if os.path.isdir({data!r}) else []:
    # An older submission that lies there must not be graded.
    if name != {submission!r} and not os.path.lexists("data/" + name):
        os.symlink(os.path.join({data!r}, name), "data/" + name)
script = {task!r} + "/evaluate.py"
os.execv(sys.executable, [sys.executable, script, "--submission-file", "./data/" + {submission!r}])
"""
_PREPARE = """
import os, sys
os.makedirs("data", exist_ok=True)
os.execv(sys.executable, [sys.executable, {task!r} + "/evaluate_prepare.py",
    "--global-shared-data-dir", {shared!r}, "--agent-data-mount-dir", "/work/data",
    "--agent-log-dir", "/work/log"])
"""
_MODULES = """
import importlib.util, sys
sys.path.insert(0, {task!r})
print(*[name for name in {names!r} if importlib.util.find_spec(name) is None])
"""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Where an evaluator runs, and on what."""

    data: Path | None = None
    """The prepared folder that the evaluator sees as `./data`: `test_with_labels` and the like."""
    shared: Path | None = None
    """The folder of downloaded data, to run the task's `evaluate_prepare.py` on first; instead of
    `data`."""
    spec: SandboxSpec | None = None
    """Limits, interpreter and environment; the interpreter must have what the evaluator imports.
    None: the system's Python, 3600 s and 4 GB."""
    backend: str | None = None
    """See `sandboxes.open_sandbox`."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of it."""

    task: str
    score: float | None
    """None where the submission is not valid."""
    metric: str | None
    """The key of the printed number."""
    reason: str | None
    """Why it is not valid: `exit_code`, `timeout` or another limit, `no_json`,
    `several_results`, `not_one_number`, `not_finite`, `out_of_range`, `too_much_output`."""
    detail: str
    """The reason in a sentence, with the end of what the evaluator said on stderr."""
    exit_code: int | None
    wall_s: float
    backend: str
    policy_hash: str
    notes: tuple[str, ...] = field(default=())
    """In what the folder differs from the shipped facts."""

    @property
    def valid(self) -> bool:
        """Whether there is a score."""
        return self.score is not None

    def run(self, agent: str, seed: str, cost: float | None = None) -> AirsRun:
        """Give it as a run to score.

        Raises:
            InputError: the task is none of the benchmark's.
        """
        return AirsRun(agent, self.task, seed, self.score, self.valid, cost)


async def evaluate_submission(
    folder: TaskFolder, submission: Path, options: EvaluationOptions | None = None
) -> Evaluation:
    """Run a task's `evaluate.py` on a submission and take its one number.

    In the sandbox the task's folder and the data are read-only, and the work folder holds
    `data/submission.csv` beside links to the data. The evaluator runs as published,
    `evaluate.py --submission-file ./data/submission.csv`, with its own folder first on the path
    of imports. A submission is not valid where the evaluator exits with an error, runs into a
    limit, or prints anything but one finite number (see `printed_number`) in the metric's range.

    Evaluators that execute submitted programs do so in the same sandbox, where such a program
    can see the labels and print: what it prints beside the evaluator's result makes two
    results, which count as none, but a program that ends the evaluator after printing one
    can't be told from it.

    Raises:
        InputError: the submission is no regular file, or is too large for the sandbox.
        SetupError: the interpreter lacks modules that the evaluator imports. That is found before
            the submission is looked at, and is no fault of it.
        GraderFailed: `evaluate_prepare.py` failed; the submission is neither valid nor not.
        SandboxLost, SandboxUnavailable, IsolationFloorNotMet, PolicyError: as for any sandbox.
    """
    from ...sandboxes import open_sandbox

    options = options or EvaluationOptions()
    content = _content(submission)
    spec = _spec(folder, options, len(content))
    async with await open_sandbox(spec, backend=options.backend) as sandbox:
        await _check_modules(sandbox, folder)
        if options.shared is not None:
            await _prepare(sandbox, content)
        await sandbox.upload(f"data/{_SUBMISSION}", content)
        code = _EVALUATE.format(data=str(_DATA), submission=_SUBMISSION, task=str(_TASK))
        done = await sandbox.execute(code=code, collect=False)
        return _evaluation(folder, done)


def _content(submission: Path) -> bytes:
    try:
        kind = submission.lstat().st_mode
    except OSError as error:
        raise InputError(
            error.strerror or "can't be read", where=str(submission), todo="Check the path."
        ) from None
    if not stat.S_ISREG(kind):
        raise InputError("is no regular file", where=str(submission), todo="Name a CSV file.")
    return submission.read_bytes()


def _spec(folder: TaskFolder, options: EvaluationOptions, size: int) -> SandboxSpec:
    from ...sandboxes import Limits, Mount, SandboxSpec

    if options.data is not None and options.shared is not None:
        raise InputError("data and shared exclude each other", todo="Give one of the two.")
    spec = options.spec or SandboxSpec(limits=Limits(wall_s=3600, memory_mb=4096))
    mounts = [*spec.mounts, Mount(source=folder.path, target=_TASK)]
    for source, target in ((options.data, _DATA), (options.shared, _SHARED)):
        if source is not None:
            if not source.is_dir():
                raise InputError("is no folder", where=str(source), todo="Check the path.")
            mounts.append(Mount(source=source.resolve(), target=target))
    fields = {name: getattr(spec, name) for name in type(spec).model_fields}
    fields |= {"mounts": mounts, "command": None, "code": None}
    fields["environment"] = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", **spec.environment}
    if size > (spec.limits.disk_mb - _MARGIN_MB) * 2**20 // (2 if options.shared else 1):
        raise InputError(
            f"the submission has {size} bytes, too many for a work folder of "
            f"{spec.limits.disk_mb} MB",
            todo="Raise the limit of the sandbox's disk.",
        )
    return SandboxSpec.create(**fields)


async def _check_modules(sandbox: Sandbox, folder: TaskFolder) -> None:
    names = sorted(set(_imports(folder)))
    code = _MODULES.format(task=str(_TASK), names=names)
    found = await sandbox.execute(code=code, collect=False, wall_s=60)
    if not found.ok:
        raise SetupError(
            f"the sandbox's Python does not run: {_end(found)}",
            where=folder.name,
            todo="Name another interpreter.",
        )
    missing = found.stdout.text.split()
    if missing:
        raise SetupError(
            f"the sandbox's Python lacks {', '.join(missing)}, which evaluate.py imports",
            where=folder.name,
            todo=f"Give one that has: {', '.join(folder.requirements) or 'them'}.",
        )


def _imports(folder: TaskFolder) -> Iterator[str]:
    """Give the modules that the evaluator imports at its top, by their first name."""
    path = folder.path / "evaluate.py"
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"is no Python ({error})", where=str(path)) from None
    for statement in tree.body:
        names: list[str] = []
        if isinstance(statement, ast.Import):
            names = [one.name for one in statement.names]
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            names = [statement.module or ""]
        for name in names:
            first = name.partition(".")[0]
            if first and first not in sys.stdlib_module_names:
                yield first


async def _prepare(sandbox: Sandbox, content: bytes) -> None:
    await sandbox.upload(f"log/{_SUBMISSION}", content)
    code = _PREPARE.format(task=str(_TASK), shared=str(_SHARED))
    done = await sandbox.execute(code=code, collect=False)
    if not done.ok:
        raise GraderFailed(
            f"evaluate_prepare.py failed ({_how(done)}): {_end(done)}", where="preparing"
        )


def _evaluation(folder: TaskFolder, done: ExecResult) -> Evaluation:
    score, metric, reason, detail = None, None, None, ""
    if not done.ok:
        reason = "exit_code" if done.exit_code is not None else done.status.value
        detail = f"the evaluator ended with {_how(done)}: {_end(done)}"
    elif done.stdout.total_bytes > _LONGEST or done.stdout.log is None:
        reason, detail = "too_much_output", f"{done.stdout.total_bytes} bytes were printed"
    else:
        try:
            printed = done.stdout.log.read_text(encoding="utf-8", errors="replace")
            metric, score = printed_number(printed)
        except NoNumber as error:
            reason, detail = error.reason, f"{error}. {_end(done)}"
    refusal = folder.known.refusal(score) if score is not None and folder.known else None
    if refusal is not None:
        score, reason, detail = None, "out_of_range", refusal
    return Evaluation(
        task=folder.name,
        score=score,
        metric=metric,
        reason=reason,
        detail=detail,
        exit_code=done.exit_code,
        wall_s=done.usage.wall_s,
        backend=done.backend,
        policy_hash=done.policy_hash,
        notes=folder.differences(),
    )


def _how(done: ExecResult) -> str:
    return f"exit code {done.exit_code}" if done.exit_code is not None else done.status.value


def _end(done: ExecResult) -> str:
    return done.stderr.text.strip()[-_SAID:] or "it said nothing"
