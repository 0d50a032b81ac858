r"""Reading letters of options out of an answer: where it states them, and from nowhere else.

Read are, in this order:

1. an answer that in whole is a list: "A, C", "(a) and (c)", "**B**", "BD", `["A", "C"]`, letters
   with their options' texts one a line, the text of an option alone, "none" or "all of the above";
2. statements: "Answer: B", "the correct answers are A and C because …", "I choose (d)",
   `\boxed{B}`, `<answer>B</answer>`. The last one counts;
3. a last line that is nothing but letters;
4. a sentence such as "B and D are correct.", and an answer that opens with a paragraph of letters
   or with a letter and the text of its option. They must agree with each other, and with a
   statement before them.

Not read are letters within prose ("A cell is…", "vitamin C", "T and B cells"). What denies, weighs
or takes back ("not A", "A or B", "B. Actually, C") is ambiguous: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from ..errors import ItemError, UnscoredReason
from ._letter_list import Choice, ListReader, cleaned, shown

PARSER_VERSION = "letters-2"

_QUALITY = r"(?:final|correct|right|best|true|chosen|selected|my)"
_SUBJECT = (
    rf"(?:(?:{_QUALITY}\s+){{0,3}}(?:answers?|ans|solution|selection)"
    rf"|(?:{_QUALITY}\s+){{1,3}}(?:options?|choices?|letters?|statements?|ones?))"
)
_OF = r"(?:\s+(?:to|for)\s+(?:(?:the|this)\s+)?(?:question|problem)(?:\s+\d+)?)?"
_IS = r"(?:\s*\(s\))?(?:\s*(?::|=|-+>|→)|\s(?:is|are|would\s+be|should\s+be|must\s+be)\b\s*:?)\s*"
_STATED = re.compile(
    rf"\b{_SUBJECT}{_OF}{_IS}"
    r"|\bI(?:['’]?d|['’]ll|\s+would|\s+will)?\s+(?:choose|select|pick|go\s+with|answer)\b\s*:?\s*"
    r"|<(?:answer|solution)>\s*|\\(?:boxed|fbox)\{"
    rf"|^#{{0,6}} ?{_SUBJECT}\n+|^(?:choices?|selected|options? chosen)\s*:\s*",
    re.IGNORECASE | re.MULTILINE,
)
_FOREIGN = re.compile(
    r"\b(?:incorrect|wrong|false|unlikely|other|another|alternative|possible|previous|earlier"
    r"|not(?:\s+(?:the|an?))?|no|your|their|his|her|if(?:\s+the)?"
    r"|can(?:not|['’]t)\s+be(?:\s+the)?"
    r"|(?:rul(?:es?|ed|ing)[\s-]out|exclud(?:es?|ed|ing)|eliminat(?:es?|ed|ing)|reject(?:s|ed|ing)?"
    r"|discard(?:s|ed|ing)?|dismiss(?:es|ed|ing)?)(?:\s+(?:the|an?|this|that|these|both|all))?)\s+$",
    re.IGNORECASE,
)
"""Words before "answer" that make it another one than the answer's own, or one that is denied."""
_DOUBT = re.compile(
    r"\b(?:answers?|options?|choices?)\s+(?:(?:could|might|may|can)(?:\s+\w{1,20})?\s+be"
    r"|(?:is|are|was|were)n['’]t)\s+",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:(?:therefore|thus|hence|clearly|definitely|(?:most\s+)?(?:likely|probably)|simply|only"
    r"|both|the|letters?|options?|choices?|answers?|following)\b[\s:,]*){1,6}",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"(?:not|neither|nor|either)\s+", re.IGNORECASE)
_UNKNOWN = re.compile(r"(?:unclear|unknown|uncertain)\b", re.IGNORECASE)
_REASON = r"(?:because|since|as|which|due\s+to|based\s+on|given)"
_END = re.compile(
    rf"$|\n|</|\}}|[.;!](?=\s*$|\n|\s+[^a-z\s])|\s+\((?=[^)\n]*\))|\s+[-–—]+\s|[.,]?\s+{_REASON}\b"
)
_CLOSED = re.compile(r"</|\}")
_LINE_END = re.compile(r"\n")
_GOES_ON = re.compile(
    r"\s*(?:\([^()\n]*\)|[-–—]+\s)[^\n]*?(?:[,;&+/]|\band\b)\s*\(?[A-Z]\)?"
    r"(?=\s*(?:\(|[-–—]|[,;:.]|\band\b|\n|$))"
)
"""After "B": " (its text), D (its text)", a list whose first letter alone must not be read."""
_MOST_ENDS = 30
"""Places tried as the end of a statement; letters and options hold few like it."""
_MOST_STATEMENTS = 50
"""Statements tried, from the last one back."""
_MENTION = re.compile(r"(?<![\w-])[A-Z](?![\w'’+-])(?!\.\s*[a-z])")
_REVISED = re.compile(
    r"(?:\b(?:actually|wait|correction|alternatively|maybe|perhaps|possibly|on\s+second\s+thought)\b"
    r"|(?<=[.!?\n])\s*\b(?:or|and|also|plus|but\s+also)\b)[^.\n]{0,80}",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:incorrect|wrong|false|not|unlikely|neither|however)\b|n['’]t\b", re.I)
_CORRECT = re.compile(
    r"(?:^|[.!?;:\n,])\s*(?:(?:so|hence|thus|therefore|overall|i\s+think|i\s+believe)\b,?\s*"
    r"(?:that\s+)?)?(?P<list>[^.!?;:\n]{1,80}?)\s+(?:is|are)\s+(?:(?:the|both|all|only|also)\s+){0,2}"
    rf"(?:correct|right|true|best)(?:\s+(?:answers?|options?|choices?|statements?|ones?))?"
    rf"\s*(?=[.!;\n]|$|,?\s+{_REASON}\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\s*(?:if|unless|assuming|suppose|provided|were)\b", re.IGNORECASE)
_LABELLED = re.compile(r"\(?(?P<letter>[A-Za-z])[):]\s+(?P<rest>[^\n]{1,2000})")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A place where the answer says which letters it means; None where it can't be read."""

    start: int
    end: int
    choice: Choice | None


def read_letters(text: str, options: Mapping[str, str]) -> tuple[str, ...]:
    """Read which options an answer chooses.

    Args:
        text: the answer.
        options: upper-case letter to text of each option.

    Returns:
        Letters, sorted, each once; empty where the answer says that none is right. Reading them
        again, joined by commas, gives the same.

    Raises:
        ItemError: `empty_answer`, or `ambiguous_choice` where no letters are stated, statements
            contradict each other, or a letter is none of the options.
    """
    if not text.strip():
        raise ItemError(UnscoredReason.EMPTY_ANSWER, "the answer holds nothing but white space")
    reader = ListReader(options)
    plain = cleaned(text)
    whole = reader.read(plain)
    if whole is not None:
        return _checked(whole, reader)
    return _checked(_read_prose(plain, reader), reader)


def read_letter_list(text: str, options: Mapping[str, str]) -> tuple[str, ...]:
    """Read letters strictly, as a ground truth gives them: a list and nothing beside it.

    Args:
        text: see 1. in the module's text.
        options: upper-case letter to text of each option.

    Returns:
        Letters, sorted, each once; empty for "none".

    Raises:
        ItemError: `invalid_row`; it is something else, or a letter is none of the options.
    """
    reader = ListReader(options)
    choice = reader.read(cleaned(text))
    if choice is None:
        raise ItemError(UnscoredReason.INVALID_ROW, f"{shown(text)} is no list of letters")
    if choice.strangers:
        raise ItemError(UnscoredReason.INVALID_ROW, reader.stranger(choice))
    return choice.letters


def _checked(choice: Choice, reader: ListReader) -> tuple[str, ...]:
    if choice.strangers:
        raise _ambiguous(reader.stranger(choice))
    return choice.letters


def _ambiguous(what: str) -> ItemError:
    return ItemError(UnscoredReason.AMBIGUOUS_CHOICE, what)


def _read_prose(text: str, reader: ListReader) -> Choice:
    last = _last_statement(text, reader)
    closing = _closing_line(text, reader)
    if closing is not None and (last is None or closing.start >= last.end):
        if last is not None and last.choice != closing.choice:
            raise _ambiguous("the last line and the statement before it differ")
        last = closing
    weak = [*_opening(text, reader), *_said_correct(text, reader)]
    if last is None:
        return _agreed(weak)
    if last.choice is None:
        raise _ambiguous(f"can't tell which letters are meant by {shown(text[last.start :])}")
    later = [one for one in weak if one.start >= last.end]
    if any(one.choice != last.choice for one in later) or _is_revised(text, last, reader):
        raise _ambiguous("the answer states letters and then others")
    return last.choice


def _agreed(weak: list[_Statement]) -> Choice:
    found = {one.choice for one in weak}
    if not found:
        raise _ambiguous("the answer states no letters of options")
    choice = found.pop()
    if found or choice is None:
        raise _ambiguous("the answer calls several letters correct, or speaks against its own")
    return choice


def _last_statement(text: str, reader: ListReader) -> _Statement | None:
    places = [(one.start(), one.end(), True) for one in _DOUBT.finditer(text)]
    for found in _STATED.finditer(text):
        if not _FOREIGN.search(text, max(0, found.start() - 40), found.start()):
            places.append((found.start(), found.end(), False))
    for start, body, doubted in sorted(places, reverse=True)[:_MOST_STATEMENTS]:
        statement = _payload(text, start, body, reader)
        if statement is not None:
            return _Statement(start, body, None) if doubted else statement
    return None


def _payload(text: str, start: int, body: int, reader: ListReader) -> _Statement | None:
    """Read what follows "Answer:"; None where it is prose and says nothing of letters."""
    filler = _FILLER.match(text, body)
    after = filler.end() if filler else body
    for place in dict.fromkeys((body, after)):
        denial = _DENIAL.match(text, place)
        if denial and reader.starts_like_letters(text, denial.end()):
            return _Statement(start, place, None)
        if _UNKNOWN.match(text, place):
            return _Statement(start, place, None)
        for end in _ends(text, place, reader):
            choice = reader.read(text[place:end])
            if choice is not None:
                goes_on = _GOES_ON.match(text, end) is not None
                return _Statement(start, end, None if goes_on else choice)
    if not reader.starts_like_letters(text, after):
        return None
    # "Answer: B) the option in other words"
    found = _LABELLED.match(text, after)
    choice = None if found is None else reader.read_bare(found["letter"])
    if found is None or choice is None or not _is_backed(found["rest"], choice, reader):
        return _Statement(start, after, None)
    return _Statement(start, found.end(), choice)


def _ends(text: str, place: int, reader: ListReader) -> list[int]:
    """Where a statement may end, the furthest first: its tag or lines, then its sentences."""
    limit = min(place + reader.longest, len(text))
    lines = [one.start() for one in islice(_LINE_END.finditer(text, place, limit), _MOST_ENDS)]
    ends = [one.start() for one in islice(_END.finditer(text, place, limit), _MOST_ENDS)]
    closed = [one.start() for one in islice(_CLOSED.finditer(text, place, limit), 1)]
    found = dict.fromkeys([len(text), *closed, *lines[::-1], *ends[::-1]])
    # Where the search was cut, nothing ends.
    return [end for end in found if place < end <= limit and (end < limit or limit == len(text))]


def _closing_line(text: str, reader: ListReader) -> _Statement | None:
    head, _, last = text.rpartition("\n")
    choice = reader.read_bare(last)
    above = head.rstrip().rpartition("\n")[2]
    # Within a paragraph that breaks anywhere, a letter on the last line is a part of it.
    apart = head.endswith("\n") or above.endswith((".", "!", "?", ":", ";"))
    # Two such lines are a list without its beginning, or the options once more.
    if choice is None or not above or not apart or reader.read(above) is not None:
        return None
    return _Statement(len(head) + 1, len(text), choice)


def _said_correct(text: str, reader: ListReader) -> Iterator[_Statement]:
    for found in _CORRECT.finditer(text):
        choice = reader.read_bare(found["list"])
        head, _, tail = found["list"].partition(",")
        if choice is None and not _CONDITION.match(head) and not _MENTION.search(head):
            choice = reader.read_bare(tail)  # "Based on this, B and D are correct."
        if choice is not None:
            yield _Statement(found.start("list"), found.end(), choice)


def _opening(text: str, reader: ListReader) -> Iterator[_Statement]:
    """Read a first paragraph of letters, and "B) its text. And then an explanation"."""
    for end in _ends(text, 0, reader) if reader.may_begin(text) else ():
        choice = reader.read(text[:end])
        if choice is None:
            continue
        if "\n\n" in text[end - 1 : end + 2]:
            yield _Statement(0, end, choice)
        elif choice.worded:
            yield _Statement(0, end, choice if _is_backed(text[end:], choice, reader) else None)
        return


def _is_backed(rest: str, choice: Choice, reader: ListReader) -> bool:
    """Whether an explanation names no other option and denies nothing."""
    others = set(_MENTION.findall(rest)) & set(reader.options) - set(choice.letters)
    return not others and _DENIED.search(rest) is None


def _is_revised(text: str, last: _Statement, reader: ListReader) -> bool:
    """Whether the words after a statement bring other letters in: "B. Or maybe C"."""
    assert last.choice is not None
    return any(
        not _is_backed(found[0], last.choice, reader) and not _DENIED.search(found[0])
        for found in _REVISED.finditer(text, last.end)
    )
