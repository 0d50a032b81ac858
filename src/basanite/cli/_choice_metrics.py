"""`metrics choice`: what a set of multiple-choice questions gives away, and to predictions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from ..errors import InputError
from ._choice_table import choice_table, percent
from ._console import print_json, reported, stdout
from ._data import read_json

if TYPE_CHECKING:
    from ..judges import ChoiceQuestion

_PUBLISHED = "published_"


def register(metrics: typer.Typer) -> None:
    """Add this file's command to the group `metrics`."""
    metrics.command("choice")(reported(_metrics_choice))


def _metrics_choice(
    file: Annotated[
        Path,
        typer.Argument(
            help="HeurekaBench's mcq.json, or JSONL, CSV or Parquet with options and truth.",
            show_default=False,
        ),
    ],
    *,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="JSON of answers: {id: answer}, or nested as HeurekaBench's results are. Rows "
            "have their own where this is left out.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score multiple-choice answers beside always-B and other baselines, as a whole set.

    Figures are given with one denominator, and as HeurekaBench counts them.
    """
    from ..judges import choice_predictions, choice_set

    questions, answers = _read(file)
    if predictions is not None:
        answers = choice_predictions(read_json(predictions))
    result = choice_set(questions, answers)
    if as_json:
        print_json(result)
        return
    _show(result)


def _read(file: Path) -> tuple[list[ChoiceQuestion], Mapping[str, str] | None]:
    """Read questions, and the answers that rows hold; None where none of them holds any."""
    from ..judges import ChoiceKey, ChoiceQuestion, choice_file
    from ..schema import InvalidRow
    from ..store import InputFile

    if file.suffix.lower() == ".json" or file.is_dir() or not file.exists():
        try:
            return choice_file(read_json(file)), None
        except InputError as error:
            inner = "" if error.where in (None, str(file)) else f", {error.where}"
            raise InputError(error.what, where=f"{file}{inner}", todo=error.todo) from None
    questions: list[ChoiceQuestion] = []
    answers: dict[str, str] = {}
    for _, row in InputFile.scan(file).answers():
        if isinstance(row, InvalidRow):
            raise InputError(row.message, where=str(file))
        key = ChoiceKey.of(row)
        questions.append(ChoiceQuestion(row.id, row.task, row.question, key.options, key.right))
        answers[row.id] = row.answer
    return questions, answers if any(map(str.strip, answers.values())) else None


def _show(result: Mapping[str, JsonValue]) -> None:
    total, baselines, predicted = result["n_total"], result["baselines"], result["predictions"]
    assert isinstance(total, int)
    assert isinstance(baselines, dict)
    rows = {name: _figures(values) for name, values in baselines.items()}
    stdout.print(choice_table(rows, total))
    counted = rows
    if isinstance(predicted, dict):
        scored = predicted["n_scored"]
        assert isinstance(scored, int)
        own = {"predictions": _figures(predicted)}
        stdout.print(choice_table(own, scored, title="predictions"))
        counted = own | rows
        unscored = predicted["unscored"]
        if isinstance(unscored, dict) and unscored:
            reasons = ", ".join(f"{count} {reason}" for reason, count in unscored.items())
            stdout.print(f"unscored: {reasons}", markup=False)
    stdout.print(_published_table(counted))


def _published_table(rows: Mapping[str, Mapping[str, float | None]]) -> Table:
    table = Table(title="as HeurekaBench counts, percent", title_justify="left")
    table.add_column("chooses")
    names = [name for name in next(iter(rows.values())) if name.startswith(_PUBLISHED)]
    for name in names:
        table.add_column(name.removeprefix(_PUBLISHED).replace("_", " "), justify="right")
    for who, figures in rows.items():
        if names[0] in figures:
            table.add_row(who.replace("_", " "), *(percent(figures[name]) for name in names))
    return table


def _figures(values: JsonValue) -> dict[str, float | None]:
    """Keep the numbers and the nulls of an object."""
    assert isinstance(values, dict)
    return {
        name: None if value is None else float(value)
        for name, value in values.items()
        if value is None or isinstance(value, int | float)
    }
