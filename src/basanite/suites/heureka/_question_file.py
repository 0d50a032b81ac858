"""Question files in either form, and what is made from them for agents and judges."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from pydantic import JsonValue, ValidationError

from ...errors import InputError, RowError
from ._questions import HeurekaInsight, QuestionSet
from ._raw import from_raw, to_raw

SCHEMA = "basanite.heureka_questions/1"
"""Marks the structured form."""

_LABELS = ("p_id", "i_id", "q_id", "question", "task_category")
_TOLD = 3


def question_set(parsed: object) -> QuestionSet:
    """Read a question file in the published or in the structured form.

    Args:
        parsed: its JSON. The structured form is an object whose `schema` is
            `basanite.heureka_questions/1` and whose `insights` are a list of `HeurekaInsight`;
            for the published one see `from_raw`.

    Raises:
        InputError: it is neither, or a question can't be used; `where` says which.
    """
    if not isinstance(parsed, Mapping) or "schema" not in parsed:
        return from_raw(parsed)
    if parsed["schema"] != SCHEMA:
        raise InputError(f"the schema is {str(parsed['schema'])[:80]!r}", todo=f"Known: {SCHEMA}.")
    strangers = sorted(set(parsed) - {"schema", "insights"})
    insights = parsed.get("insights")
    if strangers or not isinstance(insights, list):
        what = f"holds {', '.join(strangers)[:80]}" if strangers else "insights is no list"
        raise InputError(what, todo="Give schema and insights.")
    return QuestionSet(tuple(_insight(at, entry) for at, entry in enumerate(insights, 1)))


def question_json(questions: QuestionSet, *, raw: bool = False) -> dict[str, JsonValue]:
    """Write a question file; reading it gives the same questions.

    Args:
        questions: what to write; categories are in no form.
        raw: the published form instead of the structured one.

    Raises:
        InputError: the published form can't hold a question; see `to_raw`.
    """
    if raw:
        return to_raw(questions)
    insights = [one.model_dump(mode="json", exclude_none=True) for one in questions.insights]
    return {"schema": SCHEMA, "insights": cast("list[JsonValue]", insights)}


def with_categories(questions: QuestionSet, path: str | Path) -> QuestionSet:
    """Add the categories of open questions from HeurekaBench's file of labels.

    Args:
        questions: those of `oeq.json` or of one of its parts.
        path: CSV with `p_id`, `i_id`, `q_id`, `question`, `task_category`; labels of questions
            that the set does not hold are left out, since the file covers all of `oeq.json`.

    Raises:
        InputError: the file can't be read.
        RowError: a row without a category, one that stands twice, or one whose question is not
            that of the set; or questions of the set have no label.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), todo="Check the path.") from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", where=str(path)) from None
    reader = csv.DictReader(text.splitlines(keepends=True), skipinitialspace=True)
    missing = sorted(set(_LABELS) - set(reader.fieldnames or ()))
    if missing:
        raise InputError(f"has no column {', '.join(missing)}", where=str(path))
    found: dict[str, str] = {}
    for number, row in enumerate(reader, 2):
        id_ = "/".join(str(row[key]).strip() for key in _LABELS[:3])
        category = (row["task_category"] or "").strip()
        if not category or id_ in found:
            what = "stands twice" if category else "has no category"
            raise RowError(f"row {number}: {id_} {what}", where=str(path))
        found[id_] = category
        held = questions.by_id.get(id_)
        if held is not None and held.question.question.split() != (row["question"] or "").split():
            raise RowError(
                f"row {number}: its question is not that of {id_}",
                where=str(path),
                todo="Give labels of these questions.",
            )
    without = [id_ for id_ in questions.by_id if id_ not in found]
    if without:
        raise RowError(
            f"{len(without)} questions have no label: {', '.join(without[:_TOLD])}",
            where=str(path),
            todo="Add them.",
        )
    return replace(questions, categories={id_: found[id_] for id_ in questions.by_id})


def agent_tasks(questions: QuestionSet) -> list[dict[str, JsonValue]]:
    """Give what an agent may see: ids, questions, options and data files, and no answer.

    What the paper says of the insight stays out as well: it holds the answers.
    """
    tasks: list[dict[str, JsonValue]] = []
    for placed in questions.placed():
        task: dict[str, JsonValue] = {"id": placed.id, "question": placed.question.question}
        if placed.question.options is not None:
            task["options"] = dict(placed.question.options)
        tasks.append(task | {"data": dict(placed.insight.data)})
    return tasks


def judge_rows(
    questions: QuestionSet, answers: Mapping[str, str], agent: str, trial: str | None = None
) -> list[dict[str, JsonValue]]:
    """Give an agent's answers as rows that `basanite judge` reads, one for each answer.

    Args:
        questions: what was asked.
        answers: text by question id, such as `judges.choice_predictions` reads from
            HeurekaBench's results.
        agent: who answered.
        trial: names the run, where there are several.

    Raises:
        InputError: answers to questions that are not there.
    """
    check_known(answers, questions)
    rows: list[dict[str, JsonValue]] = []
    for placed in questions.placed():
        if placed.id not in answers:
            continue
        one = placed.question
        row: dict[str, JsonValue] = {
            "id": placed.id,
            "task": placed.paper,
            "agent": agent,
            "question": one.question,
            "answer": answers[placed.id],
            "truth": one.answer if one.options is None else ",".join(one.right or ()),
        }
        if trial is not None:
            row["trial"] = trial
        if one.options is not None:
            row["options"] = dict(one.options)
        rows.append(row)
    return rows


def check_known(ids: Iterable[str], questions: QuestionSet) -> None:
    """Refuse ids of questions that the set does not hold.

    Raises:
        InputError: as said.
    """
    strangers = sorted(set(ids) - questions.by_id.keys())
    if strangers:
        raise InputError(
            f"{len(strangers)} answers are to questions that the file does not hold: "
            f"{', '.join(map(repr, strangers[:_TOLD]))}",
            todo="Ids are PAPER/INSIGHT/QuestionN.",
        )


def _insight(number: int, entry: object) -> HeurekaInsight:
    try:
        return HeurekaInsight.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{place}: {first['msg']}" if place else str(first["msg"]),
            where=f"insight number {number}",
            todo="See `HeurekaInsight` for what it holds.",
        ) from None
