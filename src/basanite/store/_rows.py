"""One row of an input, in whatever format it came, becomes an `Answer` or an `InvalidRow`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from ..schema import FACT_PARTS, Answer, Context, InvalidRow
from ._record import is_storable
from ._unique import unique_names

COLUMNS = frozenset(
    {
        "id",
        "question",
        "answer",
        "truth",
        "contexts",
        "task",
        "agent",
        "trial",
        "human",
        "answer_claims",
        "truth_claims",
        "truth_facts",
        "options",
    }
)
REQUIRED = ("id", "question", "answer", "truth")

_LONGEST_NAME = 400
"""Most characters of ids and the like; keys made from them are a little longer."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DEEPEST = 20
"""Most levels of a `human` value; deeper ones would exhaust the stack somewhere later."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as its format's reader gives it."""

    number: int
    """Line or record number, from 1."""
    record: Mapping[str, object] | None
    """Its columns; None where nothing could be read."""
    problem: str | None = None
    """What the reader itself found wrong with it."""


def parse_row(raw: RawRow) -> Answer | InvalidRow:
    """Check a row; what is wrong is said in one message, all of it."""
    fields = _Fields(raw.record or {})
    if raw.record is None:
        return _invalid(raw, fields, [raw.problem or "can't be read"])
    if raw.problem is not None:
        fields.problems.append(raw.problem)
    id_ = fields.name("id", required=True)
    question = fields.text("question")
    answer = fields.letters_or_text("answer")
    truth = fields.letters_or_text("truth")
    if truth is not None and not truth.strip():
        fields.problems.append("truth is empty")
    task = fields.name("task")
    agent = fields.name("agent")
    trial = fields.name("trial")
    contexts = fields.contexts()
    human = fields.human()
    answer_claims = fields.claims("answer_claims")
    truth_claims = fields.claims("truth_claims")
    truth_facts = fields.facts("truth_facts")
    options = fields.options()
    complete = id_ is not None and question is not None and answer is not None
    if fields.problems or not complete or truth is None:
        return _invalid(raw, fields, fields.problems)
    return Answer(
        id=cast("str", id_),
        question=cast("str", question),
        answer=cast("str", answer),
        truth=truth,
        contexts=contexts,
        task=cast("str", task or question),
        agent=agent,
        trial=trial,
        human=human,
        answer_claims=answer_claims,
        truth_claims=truth_claims,
        truth_facts=truth_facts,
        options=options,
    )


def load_json(text: str) -> object:
    """Read JSON strictly: NaN, infinities, nesting without end and names that stand twice in
    one object are refused.

    Raises:
        ValueError: with a readable message.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=unique_names)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")


def _invalid(raw: RawRow, fields: _Fields, problems: Sequence[str]) -> InvalidRow:
    # What can still be read tells whose row it is; its own problems are known already.
    rest = _Fields(fields.record)
    return InvalidRow(
        id=rest.name("id") or f"row-{raw.number}",
        row=raw.number,
        message=f"row {raw.number}: {'; '.join(problems)}. Correct this row.",
        task=rest.name("task") or rest.text("question") or "",
        agent=rest.name("agent"),
        trial=rest.name("trial"),
    )


class _Fields:
    """Reads a record's fields one by one and collects what is wrong with them."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self.record = record
        self.problems: list[str] = []

    def text(self, name: str) -> str | None:
        """Give a text that must be there; it may be empty."""
        value = self.record.get(name)
        if value is None:
            state = "null" if name in self.record else "missing"
            self.problems.append(f"{name} is {state}")
            return None
        if not isinstance(value, str):
            self.problems.append(f"{name} is {_kind(value)} and must be text")
            return None
        return self._clean(name, value)

    def letters_or_text(self, name: str) -> str | None:
        """Give a text that must be there; a list of letters becomes "A,C", an empty one "[]"."""
        value = self.record.get(name)
        if not isinstance(value, list | tuple) or self.record.get("options") is None:
            return self.text(name)
        letters = [one.strip().upper() for one in value if isinstance(one, str)]
        if len(letters) < len(value) or any(
            len(one) != 1 or one not in _LETTERS for one in letters
        ):
            self.problems.append(f"{name} is a list and must be text, or a list of letters")
            return None
        # Not "none": that may be what one of the options says.
        return ",".join(letters) or "[]"

    def name(self, name: str, *, required: bool = False) -> str | None:
        """Give a short text or a whole number as text."""
        value = self.record.get(name)
        if value is None:
            if required:
                return self.text(name)
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            self.problems.append(f"{name} is {_kind(value)} and must be text or a whole number")
            return None
        if name == "id" and not value.strip():
            self.problems.append("id is empty")
            return None
        if name != "task" and len(value) > _LONGEST_NAME:
            self.problems.append(f"{name} is longer than {_LONGEST_NAME} characters")
            return None
        return self._clean(name, value)

    def contexts(self) -> tuple[Context, ...] | None:
        """Give the passages: texts, or objects with `text` and perhaps `doc_id`."""
        items = self._list("contexts")
        if items is None:
            return None
        contexts = []
        for index, item in enumerate(items):
            where = f"contexts[{index}]"
            if not isinstance(item, str | Mapping):
                self.problems.append(f"{where} is {_kind(item)} and must be text or an object")
                continue
            inner = _Fields({"text": item} if isinstance(item, str) else item)
            text = inner.text("text")
            doc_id = inner.name("doc_id")
            self.problems.extend(f"{where}: {problem}" for problem in inner.problems)
            if text is not None:
                contexts.append(Context(text=text, doc_id=doc_id))
        return tuple(contexts)

    def claims(self, name: str) -> tuple[str, ...] | None:
        """Give claims: texts, or triples of texts, which are joined with spaces."""
        items = self._list(name)
        if items is None:
            return None
        claims = []
        for index, item in enumerate(items):
            where = f"{name}[{index}]"
            claim = " ".join(cast("Sequence[str]", item)) if _is_triple(item) else item
            if not isinstance(claim, str):
                self.problems.append(f"{where} is {_kind(item)} and must be text or three texts")
            elif not claim.strip():
                self.problems.append(f"{where} is empty")
            elif (text := self._clean(where, claim)) is not None:
                claims.append(text)
        return tuple(claims)

    def facts(self, name: str) -> tuple[tuple[str, str, str], ...] | None:
        """Give facts: texts, triples, or objects of condition, trend and conclusion."""
        items = self._list(name)
        if items is None:
            return None
        facts: list[tuple[str, str, str]] = []
        for index, item in enumerate(items):
            where = f"{name}[{index}]"
            parts = _fact_parts(item)
            if parts is None:
                self.problems.append(
                    f"{where} is {_kind(item)} and must be text, three texts, or an object with "
                    "some of condition, trend, conclusion as text"
                )
            elif not any(part.strip() for part in parts):
                self.problems.append(f"{where} is empty")
            elif all(self._clean(where, part) is not None for part in parts):
                facts.append(parts)
        return tuple(facts)

    def options(self) -> dict[str, str] | None:
        """Give the options of a multiple-choice question by their letters.

        A list gets the letters A, B, C, …; an object has them as its keys.
        """
        value = self.record.get("options")
        if isinstance(value, str):
            try:
                value = load_json(value)  # CSV has no lists: there they are JSON in the cell
            except ValueError as error:
                self.problems.append(f"options is text and no JSON ({error})")
                return None
        if value is None:
            return None
        if isinstance(value, list | tuple):
            value = dict(zip(_LETTERS, value, strict=False)) if len(value) <= 26 else None
        if isinstance(value, Mapping):
            # Parquet gives each row all letters that any row has.
            value = {key: text for key, text in value.items() if text is not None}
        if not isinstance(value, Mapping) or not 2 <= len(value) <= 26:
            self.problems.append("options must be a list or an object of 2 to 26 texts")
            return None
        options: dict[str, str] = {}
        for key, text in value.items():
            letter = str(key).strip().upper()
            if letter not in _LETTERS or len(letter) != 1 or letter in options:
                self.problems.append(f"options has the key {str(key)[:20]!r}; keys are letters")
            elif not isinstance(text, str) or not text.strip():
                self.problems.append(f"option {letter} is not a text, or an empty one")
            elif (clean := self._clean(f"option {letter}", text)) is not None:
                options[letter] = clean
        return dict(sorted(options.items()))

    def human(self) -> dict[str, JsonValue]:
        """Give people's labels: a number is a score, a text is a label, an object is itself."""
        value = self.record.get("human")
        if isinstance(value, str):
            value = _read_cell(value)
            if isinstance(value, str):
                return {"label": value} if self._clean("human", value) is not None else {}
        if value is None:
            return {}
        if isinstance(value, int | float) and not isinstance(value, bool):
            if math.isfinite(value):
                return {"score": value}
            self.problems.append("human is not a finite number")
            return {}
        if not isinstance(value, Mapping):
            self.problems.append(f"human is {_kind(value)} and must be a number, text or object")
            return {}
        problem = _not_plain(value, _DEEPEST)
        if problem is not None:
            self.problems.append(f"human {problem}")
            return {}
        return cast("dict[str, JsonValue]", dict(value))

    def _list(self, name: str) -> Sequence[object] | None:
        value = self.record.get(name)
        if isinstance(value, str):
            # CSV has no lists: there they are JSON in the cell.
            try:
                value = load_json(value)
            except ValueError as error:
                self.problems.append(f"{name} is text and no JSON array ({error})")
                return None
        if value is None or isinstance(value, list | tuple):
            return value
        self.problems.append(f"{name} is {_kind(value)} and must be a list")
        return None

    def _clean(self, name: str, text: str) -> str | None:
        if is_storable(text):
            return text
        what = "a NUL byte" if "\x00" in text else "half of a surrogate pair or invalid UTF-8"
        self.problems.append(f"{name} holds {what}")
        return None


def _read_cell(text: str) -> object:
    """Read a cell of `human`: a number or an object where it is one, else the text itself."""
    try:
        value = load_json(text)
    except ValueError:
        return text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number or isinstance(value, dict) else text


def _fact_parts(value: object) -> tuple[str, str, str] | None:
    """Read a fact's condition, trend and conclusion; a bare text is a conclusion."""
    if isinstance(value, str):
        return "", "", value
    if _is_triple(value):
        condition, trend, conclusion = cast("Sequence[str]", value)
        return condition, trend, conclusion
    if not isinstance(value, Mapping) or not value.keys() <= set(FACT_PARTS):
        return None
    parts = [value.get(name) or "" for name in FACT_PARTS]
    if not all(isinstance(part, str) for part in parts):
        return None
    return str(parts[0]), str(parts[1]), str(parts[2])


def _is_triple(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 3
        and all(isinstance(part, str) for part in value)
    )


def _not_plain(value: object, levels: int) -> str | None:
    """Say why a value can't be kept as JSON in every database, or None if it can."""
    if levels == 0:
        return "is nested too deeply"
    if isinstance(value, str):
        return None if is_storable(value) else "holds a NUL byte or half of a surrogate pair"
    if isinstance(value, float):
        return None if math.isfinite(value) else "holds a number that is not finite"
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, Mapping):
        inner: list[object] = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple):
        inner = list(value)
    else:
        return f"holds {_kind(value)}"
    return next((said for item in inner if (said := _not_plain(item, levels - 1))), None)


def _kind(value: object) -> str:
    """Name a value's type as someone who knows JSON would."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return "null" if value is None else f"a {type(value).__name__}"
