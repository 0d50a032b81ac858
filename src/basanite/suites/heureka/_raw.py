"""The published form of question files, in which questions, options and answers are one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from ...errors import InputError
from ...judges import choice_file
from ._questions import HeurekaInsight, HeurekaQuestion, Kind, QuestionSet

KEYS = {Kind.OPEN: "oe_question", Kind.CHOICE: "mcq_question"}
"""Where the text of an insight's questions stands."""

_MARK = re.compile(r"\*\*(Question|Answer)\s*(\d+)\s*:\*\*")
_NAME = re.compile(r"Question([1-9]\d*)")
_TEXTS = ("summary", "how", "relevant")


def from_raw(parsed: object) -> QuestionSet:
    """Read the published form.

    Args:
        parsed: the file's JSON: paper, then insight, then an object with `summary`, `how`,
            `relevant`, `data`, and `oe_question` or `mcq_question`: a text of
            `**Question1:** … **Answer1:** …`, where multiple choice has lines such as `A) …`
            before the answer. Other keys are kept.

    Raises:
        InputError: the shape is another one, or a question or its answer can't be read; `where`
            is its id. Nothing of such a file is used.
    """
    return QuestionSet(tuple(_insights(parsed)))


def to_raw(questions: QuestionSet) -> dict[str, JsonValue]:
    """Write the published form; reading it gives the same questions.

    Raises:
        InputError: the form can't hold a question: its name is not `Question` and a number, or a
            text holds what the form takes for a mark.
    """
    papers: dict[str, dict[str, JsonValue]] = {}
    for insight in questions.insights:
        where = f"{insight.paper}/{insight.insight}"
        written = _entry(insight, where)
        if not _reads_as(insight, written):
            raise InputError(
                "the published form can't hold it: read again, it is another one",
                where=where,
                todo="A text may not hold marks such as `**Answer1:**`, an option no line breaks "
                "or doubled spaces, and no text white space at its ends. The structured form can.",
            )
        papers.setdefault(insight.paper, {})[insight.insight] = written
    return dict(papers)


def _reads_as(insight: HeurekaInsight, written: Mapping[str, object]) -> bool:
    try:
        return _insight(insight.paper, insight.insight, written) == insight
    except InputError:
        return False


def _insights(parsed: object) -> Iterator[HeurekaInsight]:
    for paper, insights in _object(parsed, "the file").items():
        for name, entry in _object(insights, str(paper)).items():
            where = f"{paper}/{name}"
            yield _insight(str(paper), str(name), _object(entry, where))


def _insight(paper: str, name: str, entry: Mapping[str, object]) -> HeurekaInsight:
    where = f"{paper}/{name}"
    rest = dict(entry)
    texts = {key: _text(rest.pop(key), where, key) for key in _TEXTS if key in rest}
    data = _object(rest.pop("data", {}), where)
    files = {str(path): _text(said, where, "data") for path, said in data.items()}
    found = [kind for kind, key in KEYS.items() if key in rest]
    if len(found) != 1:
        raise InputError(
            "has both oe_question and mcq_question" if found else "asks no question",
            where=where,
            todo=f"Give one of {' and '.join(KEYS.values())}.",
        )
    (kind,) = found
    text = _text(rest.pop(KEYS[kind]), where, KEYS[kind])
    pairs = list(_pairs(text, where))
    read = _choice(paper, name, text) if kind is Kind.CHOICE else tuple(_open(pairs, where))
    return HeurekaInsight.model_validate(
        {"paper": paper, "insight": name, "questions": read, "data": files, "other": rest, **texts}
    )


def _pairs(text: str, where: str) -> Iterator[tuple[str, str, str]]:
    """Give number, question and answer; between the marks nothing is lost."""
    marks = list(_MARK.finditer(text))
    if not marks or text[: marks[0].start()].strip():
        raise InputError("the text does not begin with **Question1:** or the like", where=where)
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    bodies = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    for at in range(0, len(marks), 2):
        number = marks[at][2]
        id_ = f"{where}/Question{number}"
        if marks[at][1] != "Question":
            raise InputError(f"a second **Answer{number}:** follows the first", where=id_)
        if at + 1 == len(marks) or marks[at + 1].groups() != ("Answer", number):
            raise InputError(f"no **Answer{number}:** follows the question", where=id_)
        yield number, bodies[at], bodies[at + 1]


def _open(pairs: list[tuple[str, str, str]], where: str) -> Iterator[HeurekaQuestion]:
    for number, question, answer in pairs:
        if not question or not answer:
            what = "question" if not question else "answer"
            raise InputError(f"the {what} is empty", where=f"{where}/Question{number}")
        yield HeurekaQuestion(name=f"Question{number}", question=question, answer=answer)


def _choice(paper: str, insight: str, text: str) -> tuple[HeurekaQuestion, ...]:
    read = choice_file({paper: {insight: {KEYS[Kind.CHOICE]: text}}})
    return tuple(
        HeurekaQuestion(
            name=one.id.rpartition("/")[2],
            question=one.question,
            options=dict(one.options),
            right=one.right,
        )
        for one in read
    )


def _entry(insight: HeurekaInsight, where: str) -> dict[str, JsonValue]:
    said = {key: getattr(insight, key) for key in _TEXTS}
    entry: dict[str, JsonValue] = {key: text for key, text in said.items() if text is not None}
    if insight.data:
        entry["data"] = dict(insight.data)
    texts = [_written(one, f"{where}/{one.name}") for one in insight.questions]
    kind = insight.questions[0].kind
    between = "\n\n\n" if kind is Kind.CHOICE else "\n\n"
    return entry | {KEYS[kind]: between.join(texts)} | insight.other


def _written(one: HeurekaQuestion, where: str) -> str:
    named = _NAME.fullmatch(one.name)
    if named is None:
        raise InputError(
            f"the name {one.name[:40]!r} can't be written in the published form",
            where=where,
            todo="Name it `Question` and a number.",
        )
    number = named[1]
    if one.options is None:
        return f"**Question{number}:** {one.question}\n\n**Answer{number}:** {one.answer}"
    options = "\n".join(f"{letter}) {text}" for letter, text in one.options.items())
    right = ",".join(one.right or ())
    return f"**Question{number}:** {one.question}\n{options}\n\n**Answer{number}:** {right}"


def _object(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InputError(
            "must be an object", where=where, todo="Give HeurekaBench's form: paper, insight, text."
        )
    return value


def _text(value: object, where: str, key: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{key} is no text", where=where)
    return value
