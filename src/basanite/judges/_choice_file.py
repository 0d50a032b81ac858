"""Reading HeurekaBench's `mcq.json`, whose questions are raw text, and predictions for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..errors import InputError, ItemError
from ._letters import read_letter_list

_QUESTION = re.compile(r"\*\*Question\s*(\d+)\s*:\*\*")
_ANSWER = re.compile(r"\*\*Answer\s*(\d+)\s*:\*\*")
_OPTION = re.compile(r"^[ \t]*([A-Z])\)[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """One multiple-choice question with its key."""

    id: str
    """`PAPER/INSIGHT/QuestionN`, or the row's id."""
    task: str
    """What intervals are clustered by: the paper, or the row's task."""
    question: str
    options: Mapping[str, str]
    """Letter to text."""
    right: tuple[str, ...]
    """Letters, sorted."""


def choice_file(parsed: object) -> list[ChoiceQuestion]:
    """Read the questions of a parsed `mcq.json` (HeurekaBench), in their order.

    Args:
        parsed: the JSON of the file: paper, then insight, then an object whose `mcq_question` is
            text such as `**Question1:** … A) … B) … **Answer1:** B,D`.

    Raises:
        InputError: the shape is another one, or a question has no options or no readable answer;
            the text names paper, insight and question.
    """
    questions: list[ChoiceQuestion] = []
    for paper, insights in _object(parsed, "the file"):
        for insight, entry in _object(insights, paper):
            where = f"{paper}/{insight}"
            text = dict(_object(entry, where)).get("mcq_question")
            if isinstance(text, str):
                questions += _questions(text, paper, where)
            elif text is not None:
                raise InputError("mcq_question is no text", where=where)
    ids = Counter(question.id for question in questions)
    doubled = next((id_ for id_, count in ids.items() if count > 1), None)
    if doubled is not None:
        raise InputError("the question stands twice", where=doubled)
    if not questions:
        raise InputError(
            "the file holds no multiple-choice question",
            todo="Give HeurekaBench's mcq.json, or rows with `options` as JSONL, CSV or Parquet",
        )
    return questions


def choice_predictions(parsed: object) -> dict[str, str]:
    """Read predictions: the answer of each question by its id.

    Args:
        parsed: JSON objects nested as the questions' ids are (`{paper: {insight: {Question1:
            "A,C"}}}`, HeurekaBench's own form), or one object of ids and answers. An answer is
            text, or a list of letters.

    Raises:
        InputError: the shape is another one.
    """
    return dict(_predictions(parsed, ""))


def _predictions(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        # Not "none": that may be what one of the options says.
        yield path, ",".join(value) if value else "[]"
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _predictions(inner, f"{path}/{name}" if path else str(name))
    else:
        raise InputError(
            "a prediction must be text or a list of letters",
            where=path or "predictions",
            todo='Give {id: "A,C"}; leave a question out that has no prediction',
        )


def _object(value: object, where: str) -> Iterator[tuple[str, object]]:
    if not isinstance(value, Mapping):
        raise InputError(
            "must be an object", where=where, todo="Give HeurekaBench's form: paper, insight, text"
        )
    for name, inner in value.items():
        yield str(name), inner


def _questions(text: str, paper: str, where: str) -> Iterator[ChoiceQuestion]:
    starts = list(_QUESTION.finditer(text))
    if not starts:
        raise InputError("no **Question1:** stands in mcq_question", where=where)
    ends = [found.start() for found in starts[1:]] + [len(text)]
    for found, end in zip(starts, ends, strict=True):
        id_ = f"{where}/Question{found[1]}"
        body = text[found.end() : end]
        answer = _ANSWER.search(body)
        if answer is None or answer[1] != found[1]:
            raise InputError(f"no **Answer{found[1]}:** follows the question", where=id_)
        head, options = _options(body[: answer.start()], id_)
        try:
            right = read_letter_list(body[answer.end() :], options)
        except ItemError as error:
            raise InputError(f"the answer can't be used: {error.what}", where=id_) from None
        yield ChoiceQuestion(id_, paper, head, options, right)


def _options(text: str, where: str) -> tuple[str, dict[str, str]]:
    """Give what stands before the first option, and each option; a text may go over lines."""
    marks = list(_OPTION.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    options: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        if mark[1] in options:
            raise InputError(f"option {mark[1]} stands twice", where=where)
        options[mark[1]] = " ".join(text[mark.start(2) : end].split())
    if len(options) < 2 or not all(options.values()):
        raise InputError("needs two options or more, each a line such as 'A) text'", where=where)
    return text[: marks[0].start()].strip(), options
