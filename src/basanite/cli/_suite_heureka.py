"""`suite heureka`: HeurekaBench's questions, and the figures of agents on them."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..errors import InputError
from . import _options as opt
from . import _suite_heureka_match, _suite_heureka_score, _suite_heureka_studies
from ._console import check_output_file, print_json, reported, stderr, stdout
from ._data import Force
from ._suite_heureka_files import read_in, read_questions

if TYPE_CHECKING:
    from ..suites.heureka import HeurekaFigures, PlacedQuestion, PublishedSet, QuestionSet

_NAME = "basanite.suite.heureka"
_PADDING = (0, 1, 0, 0)
_FIGURES = ("table", "set", "measure", "value", "runs", "SD runs")

heureka_app = typer.Typer(
    help="HeurekaBench: open and multiple-choice questions, code matching, critics, experts.",
    no_args_is_help=True,
)

QuestionFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help="Question file, in the published or the structured form.",
        metavar="FILE",
        show_default=False,
    ),
]


class Form(StrEnum):
    """What a question file is made into."""

    STRUCTURED = "structured"
    RAW = "raw"
    TASKS = "tasks"
    ROWS = "rows"


def register(app: typer.Typer) -> None:
    """Add this suite's commands to those of all suites."""
    heureka_app.command("list")(reported(_list))
    heureka_app.command("show")(reported(_show))
    heureka_app.command("import")(reported(_import))
    _suite_heureka_score.register(heureka_app)
    _suite_heureka_studies.register(heureka_app)
    _suite_heureka_match.register(heureka_app)
    app.add_typer(heureka_app, name="heureka")


def _list(
    *,
    questions: QuestionFile = None,
    results: Annotated[
        bool, typer.Option("--results", help="The published results instead of the sets.")
    ] = False,
    as_json: opt.AsJson = False,
) -> None:
    """List the published sets, the published results, or the questions of a file."""
    if questions is not None:
        if results:
            raise InputError("--results are the published ones", todo="Leave --questions away.")
        _list_questions(read_questions(questions), as_json=as_json)
        return
    from ..suites.heureka import published_figures

    figures = published_figures()
    if as_json:
        sets = {name: _counts(one) for name, one in figures.sets.items()}
        published = figures.model_dump(mode="json", exclude={"sets"}, by_alias=True)
        print_json({"schema": f"{_NAME}.list/1", "sets": sets, "published": published})
    elif results:
        _print_results(figures)
    else:
        table = _table("set", "kind", "papers", "insights", "questions")
        for name, one in figures.sets.items():
            counts = _counts(one)
            table.add_row(name, *(str(counts[key]) for key in counts))
        stdout.print(table)
        stdout.print(figures.source, style="dim", markup=False)


def _show(
    name: Annotated[
        str,
        typer.Argument(
            help="A published set, or the id of a question of --questions.", metavar="NAME"
        ),
    ],
    *,
    questions: QuestionFile = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show a question with its answer and its insight, or the ids of a published set."""
    from ..suites.heureka import published_set

    shown: dict[str, JsonValue]
    if questions is None:
        found = published_set(name)
        shown = {"name": name, **_counts(found), "ids": list(found.papers)}
    else:
        shown = _placed(read_questions(questions).find(name))
    if as_json:
        print_json({"schema": f"{_NAME}.show/1", **shown})
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for key, value in shown.items():
        if isinstance(value, dict):
            text = "\n".join(f"{one}: {said}" for one, said in value.items())
        elif isinstance(value, list):
            text = "\n".join(map(str, value))
        else:
            text = "-" if value is None else str(value)
        table.add_row(key, Text(text))
    stdout.print(table)


def _import(
    source: Annotated[
        Path, typer.Argument(help="Question file, in either form.", metavar="QUESTIONS")
    ],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="File to write.", metavar="FILE")],
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="structured or raw (the published form), as JSON; tasks (what an agent may see, "
            "without answers) or rows (answers for `basanite judge`), as JSONL.",
        ),
    ] = Form.STRUCTURED,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="JSON of an agent's answers, for rows: {id: answer}, or nested as published.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Who answered, for rows.", show_default=False)
    ] = None,
    trial: Annotated[
        str | None, typer.Option(help="Names the run, for rows.", show_default=False)
    ] = None,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Turn a question file into the other form, into agents' tasks, or into rows to judge."""
    from ..store import write_atomically
    from ..suites.heureka import agent_tasks, question_json

    if (form is Form.ROWS) != (answers is not None and agent is not None):
        raise InputError(
            f"--as {form.value} {'needs' if form is Form.ROWS else 'takes no'} --answers and "
            "--agent",
            todo="Rows are made of an agent's answers.",
        )
    check_output_file(out, what="the questions", force=force)
    asked = read_questions(source)
    unanswered: list[JsonValue] = []
    if form in (Form.STRUCTURED, Form.RAW):
        whole = question_json(asked, raw=form is Form.RAW)
        content, n = json.dumps(whole, indent=2), len(asked.by_id)
    else:
        rows = agent_tasks(asked)
        if answers is not None and agent is not None:
            rows = _rows(asked, answers, agent, trial)
            given = {row["id"] for row in rows}
            unanswered = [id_ for id_ in asked.by_id if id_ not in given]
        content, n = "".join(json.dumps(row) + "\n" for row in rows), len(rows)
    write_atomically(out, content.encode("ascii"))
    if as_json:
        counts = {"form": form.value, "n": n, "unanswered": unanswered, "out": str(out)}
        print_json({"schema": f"{_NAME}.import/1", **counts})
        return
    stderr.print(f"wrote {n} to {out}", markup=False)
    if unanswered:
        stderr.print(f"no answer to {len(unanswered)}: {unanswered[0]} …", markup=False)


def _rows(
    asked: QuestionSet, answers: Path, agent: str, trial: str | None
) -> list[dict[str, JsonValue]]:
    from ..judges import choice_predictions
    from ..suites.heureka import judge_rows

    return judge_rows(asked, read_in(answers, choice_predictions), agent, trial)


def _list_questions(asked: QuestionSet, *, as_json: bool) -> None:
    from ..suites.heureka import AskedQuestions, question_baselines

    if as_json:
        found = [
            {"id": one.id, "paper": one.paper, "question": one.question.question}
            for one in asked.placed()
        ]
        baselines = question_baselines(AskedQuestions.of(asked))
        print_json(
            {
                "schema": f"{_NAME}.list/1",
                "kind": asked.kind.value,
                "n_papers": len(set(asked.papers.values())),
                "n_insights": len(asked.insights),
                "n_questions": len(found),
                "questions": found,
                "baselines": baselines,
            }
        )
        return
    table = _table("id", "question")
    for placed in asked.placed():
        table.add_row(Text(placed.id), Text(" ".join(placed.question.question.split())))
    stdout.print(table)


def _counts(one: PublishedSet) -> dict[str, JsonValue]:
    papers = one.papers
    return {
        "kind": one.kind.value,
        "n_papers": len(set(papers.values())),
        "n_insights": one.n_insights,
        "n_questions": len(papers),
    }


def _placed(found: PlacedQuestion) -> dict[str, JsonValue]:
    insight = found.insight.model_dump(mode="json", exclude={"questions"}, exclude_none=True)
    question = found.question.model_dump(mode="json", exclude_none=True)
    return {"id": found.id, **question, **insight}


def _print_results(figures: HeurekaFigures) -> None:
    table = _table("table", "agent", "model", "set", "measure", "value", "runs", "SD runs")
    for one in figures.results:
        extra = "" if one.critic is None else f", critic {one.critic}"
        if one.retriever is not None:
            extra = ", with retriever" if one.retriever else ", without retriever"
        spread = "-" if one.sd_runs is None else f"{one.sd_runs:.2f}"
        numbers = f"{one.value:.4g}", str(one.runs), spread
        names = one.agent + extra, one.llm, one.set, one.measure
        table.add_row(str(one.table), *names, *numbers)
    stdout.print(table)
    stdout.print(figures.source, style="dim", markup=False)


def _table(*heads: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=_PADDING)
    for head in heads:
        # Figures stay on one line; names may go over several.
        table.add_column(head, overflow="fold", no_wrap=head in _FIGURES)
    return table


__all__ = ["register"]
