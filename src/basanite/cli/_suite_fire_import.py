"""`suite fire import`: the published layout and judged runs, as files that other commands read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from . import _options as opt
from ._console import check_output_file, print_json, reported, stderr, stdout
from ._data import Force

if TYPE_CHECKING:
    from ..suites.fire import FirePaper, FireTruth

_SCHEMA = "basanite.suite.fire.import/1"
_CLAIMS = frozenset({"claims"})
"""Judges whose F1 is that of claims, as the benchmark has it."""
_MOST = 5
"""Most notes that are printed; JSON has all."""

Out = Annotated[
    Path | None, typer.Option("-o", "--out", help="File to write (JSONL).", metavar="FILE")
]
Truths = Annotated[
    Path | None,
    typer.Option(
        help="Where questions and truths stand, for logs: the benchmark's folder with "
        "conclusion.txt, or the evaluation's utils.py.",
        metavar="PATH",
        show_default=False,
    ),
]
TruthsOut = Annotated[
    Path | None,
    typer.Option(
        help="File to write the truths of a folder of tasks to; no agent may see it.",
        metavar="FILE",
        show_default=False,
    ),
]
Logs = Annotated[
    Path | None,
    typer.Option(
        help="The logs that a judged run's answers came from, for what each cost.",
        metavar="FOLDER",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add this file's command."""
    app.command("import")(reported(_import))


def _import(
    source: Annotated[
        Path,
        typer.Argument(
            help="Folder of logs (AGENT/MODEL/TASK/TIME/log.log), a run of `basanite judge`, "
            "folder of tasks (TASK/instruction/instruction.txt), or JSON file of trees.",
            metavar="SOURCE",
        ),
    ],
    *,
    out: Out = None,
    truths: Truths = None,
    truths_out: TruthsOut = None,
    logs: Logs = None,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Make answers from logs, trials from a judged run, or tasks and truths from folders."""
    for path, what in ((out, "the rows"), (truths_out, "the truths")):
        if path is not None:
            check_output_file(path, what=what, force=force)
    if source.is_file():
        counts = _trees(source, out)
    elif not source.is_dir():
        raise InputError("no such file or folder", where=str(source), todo="Check the path.")
    elif (source / "manifest.json").is_file():
        counts = _judged(source, out, logs)
    elif _holds_tasks(source):
        counts = _tasks(source, out, truths_out)
    else:
        counts = _answers(source, out, truths)
    notes = counts.pop("notes", [])
    assert isinstance(notes, list)
    if as_json:
        print_json({"schema": _SCHEMA, **counts, "notes": notes})
        return
    stdout.print(", ".join(_told(counts)), markup=False)
    for note in notes[:_MOST]:
        stderr.print(f"note: {note}", markup=False)
    if len(notes) > _MOST:
        stderr.print(f"{len(notes) - _MOST} more notes; --json has all", markup=False)


def _told(counts: Mapping[str, object]) -> list[str]:
    told = []
    for name, value in counts.items():
        if isinstance(value, dict):
            if value:
                inside = ", ".join(f"{count} {key}" for key, count in value.items())
                told.append(f"{name.replace('_', ' ')}: {inside}")
        else:
            told.append(f"{name.replace('_', ' ')}: {value}")
    return told


def _holds_tasks(source: Path) -> bool:
    inside = (source, source / "papers", source / "benchmark" / "papers")
    return (source / "instruction").is_dir() or any(
        next(folder.glob("*/instruction/instruction.txt"), None) is not None for folder in inside
    )


def _answers(source: Path, out: Path | None, truths: Path | None) -> dict[str, object]:
    from ..store import write_atomically
    from ..suites.fire import answers_of_runs, read_run_folders

    if truths is None:
        raise InputError(
            "logs hold no truths",
            where=str(source),
            todo="Give --truths: the benchmark's folder with conclusion.txt, or its utils.py.",
        )
    questions, known = _truths(truths)
    found = answers_of_runs(read_run_folders(source), questions, known)
    write_atomically(_needed(out), found.lines())
    return {
        "kind": "answers",
        "n_rows": len(found.rows),
        "no_conclusion": found.without,
        "doubts": found.doubts,
        "notes": list(found.notes),
        "out": str(out),
    }


def _truths(path: Path) -> tuple[dict[str, str], list[FireTruth]]:
    from ..suites.fire import questions_of, read_papers, read_truth_table

    if path.is_dir():
        papers, truths = read_papers(path)
        return questions_of(papers), truths
    return read_truth_table(path)


def _judged(source: Path, out: Path | None, logs: Path | None) -> dict[str, object]:
    from ..store import RunFolder, write_atomically
    from ..suites.fire import read_run_folders, trial_lines, trials_of_run

    costs = {}
    if logs is not None:
        costs = {
            run.id: run.log.cost_usd
            for run in read_run_folders(logs)
            if run.log.cost_usd is not None
        }
    target = _needed(out)
    with RunFolder.open(source) as run:
        judge = next((one.judge for one in run.judgments()), "none")
        trials = trials_of_run(run, costs)
        missing = max(0, run.manifest.input.rows - len(trials))
    notes = [f"{missing} answers are not judged yet"] if missing else []
    if judge not in _CLAIMS:
        notes.append(f"the judge {judge} holds no claims against a truth")
    write_atomically(target, trial_lines(trials))
    return {
        "kind": "trials",
        "n_rows": len(trials),
        "n_scored": sum(trial.f1 is not None for trial in trials),
        "n_not_judged": missing,
        "n_costs": sum(trial.cost is not None for trial in trials),
        "judge": judge,
        "out": str(out),
        "notes": notes,
    }


def _tasks(source: Path, out: Path | None, truths_out: Path | None) -> dict[str, object]:
    from ..store import write_atomically
    from ..suites.fire import fire_tasks, read_papers

    papers, truths = read_papers(source)
    if out is not None:
        write_atomically(out, _lines(papers))
    if truths_out is not None:
        write_atomically(truths_out, _lines(truths))
    notes = [f"{p.task}: no research question in quotes" for p in papers if p.question is None]
    notes += [
        f"{p.task}: the section {name} is empty"
        for p in papers
        for name, text in p.sections.items()
        if not text
    ]
    known = fire_tasks().tasks
    return {
        "kind": "tasks",
        "n_rows": len(papers),
        "n_known": sum(paper.task in known for paper in papers),
        "n_truths": len(truths),
        "data_files": sum(len(paper.data_files) for paper in papers),
        "out": None if out is None else str(out),
        "truths_out": None if truths_out is None else str(truths_out),
        "notes": notes,
    }


def _lines(models: list[FirePaper] | list[FireTruth]) -> bytes:
    import json

    rows = (json.dumps(one.model_dump(mode="json")) + "\n" for one in models)
    return "".join(rows).encode("ascii")


def _trees(source: Path, out: Path | None) -> dict[str, object]:
    from ..store import write_atomically
    from ..suites.fire import read_trees, tree_json

    logs = "Of logs, give the folder that holds AGENT/MODEL/TASK/TIME/log.log."
    if source.suffix.lower() == ".log":
        raise InputError("is one log: its path says whose it is", where=str(source), todo=logs)
    try:
        trees = read_trees(source)
    except InputError as error:
        todo = error.todo or f"Give trees as JSON. {logs}"
        raise InputError(error.what, where=error.where, todo=todo) from None
    if out is not None:
        write_atomically(out, tree_json(trees).encode())
    return {
        "kind": "trees",
        "n_rows": len(trees),
        "n_leaves": sum(len(tree.leaves) for tree in trees),
        "out": None if out is None else str(out),
        "notes": [f"{tree.paper.title}: {fault}" for tree in trees for fault in tree.faults()],
    }


def _needed(out: Path | None) -> Path:
    if out is None:
        raise InputError("there is no file to write to", todo="Give -o FILE.jsonl.")
    return out


__all__ = ["register"]
