"""Fitting a long text into a model's context: windows that tile it, never a silent cut.

A window is a span of characters. The windows of a text follow each other without a gap or an
overlap, so that every character is seen exactly once and a place in a window is a place in the
text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..errors import ItemError, SetupError, UnscoredReason

ASSUMED_CONTEXT_TOKENS = 4096
"""Context that is assumed where an endpoint can't tell its own."""

T = TypeVar("T")
_Span = tuple[int, int]

_SAMPLE_CHARS = 20_000
_BREAKS = re.compile(r"\n\s*|(?<=[.!?])[\"'”’)\]]*\s+|(?<=[。！？])[”’」』）]*\s*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|approx|ca|cf|Dr|e\.g|Eq|Eqs|etc|Fig|Figs|i\.e|Mr|Mrs|Ms|No|Nos|pp|Prof|Ref|Refs"
    r"|resp|St|Sec|Tab|vs|viz)|\b[A-Z])\.$"
)

_MARKER = re.compile(r"\s*\(?\d{1,3}[.)]")
"""The number of a list's item: no sentence by itself."""


@dataclass(frozen=True, slots=True)
class Window:
    """One piece of a text, with its place in it."""

    text: str
    start: int
    """Place of the first character in the whole text."""

    def halves(self, *, shortest: int = 200) -> tuple[Window, Window] | None:
        """Split near the middle, between sentences where there are any.

        Returns:
            None if the window has fewer than two times `shortest` characters.
        """
        if len(self.text) < 2 * shortest:
            return None
        middle = len(self.text) // 2
        low, high = shortest, len(self.text) - shortest
        ends = [end for _, end in sentence_spans(self.text) if low <= end <= high]
        cut = min(ends, key=lambda end: abs(end - middle)) if ends else _soft_cut(self.text, middle)
        return (
            Window(self.text[:cut], self.start),
            Window(self.text[cut:], self.start + cut),
        )


def sentence_spans(text: str) -> list[_Span]:
    """Find the sentences of a text by its punctuation and line breaks.

    Returns:
        Start and end of each, white space behind it included; together they are the whole text.
    """
    spans: list[_Span] = []
    start = 0
    for found in _BREAKS.finditer(text):
        end = found.end()
        if end <= start or end == len(text):
            continue
        before = text[max(start, found.start() - 12) : found.start()]
        if "\n" not in found.group() and (
            _ABBREVIATION.search(before) or _MARKER.fullmatch(text, start, found.start())
        ):
            continue
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def windows_by_chars(text: str, most: int) -> list[Window]:
    """Split a text into windows of at most `most` characters, between sentences where it can."""
    if len(text) <= most:
        return [Window(text, 0)]
    windows: list[Window] = []
    start = end = 0
    for _, stop in sentence_spans(text):
        if stop - start > most and end > start:
            windows.append(Window(text[start:end], start))
            start = end
        while stop - start > most:
            cut = _soft_cut(text, start + most, start)
            windows.append(Window(text[start:cut], start))
            start = cut
        end = stop
    if start < len(text):
        windows.append(Window(text[start:], start))
    return windows


async def windows_by_tokens(
    text: str,
    budget: int,
    count_tokens: Callable[[str], Awaitable[int]],
    *,
    max_windows: int,
    where: str,
) -> list[Window]:
    """Split a text into windows that each take at most `budget` tokens.

    A text whose bytes are no more than the budget is not counted at all: a token is at least
    one byte. A long one is counted by samples first, so that a text which is far too long is
    refused before it is sent anywhere.

    Raises:
        ItemError: `TOO_LONG` if that takes more than `max_windows`; the text says how many.
    """
    if len(text) <= budget and len(text.encode("utf-8", "replace")) <= budget:
        return [Window(text, 0)]
    sample = text if len(text) <= _SAMPLE_CHARS else _sample(text)
    tokens = max(1, await count_tokens(sample))
    if sample is text and tokens <= budget:
        return [Window(text, 0)]
    chars = max(1, int(0.9 * budget * len(sample) / tokens))
    check_window_count(-(-len(text) // chars), max_windows, where)
    windows = windows_by_chars(text, chars)
    fitting: list[Window] = []
    for window in windows:
        fitting.extend(await _fit(window, budget, count_tokens))
    check_window_count(len(fitting), max_windows, where)
    return fitting


def check_window_count(needed: int, max_windows: int, where: str) -> None:
    """Refuse a text that takes more windows than allowed.

    Raises:
        ItemError: `TOO_LONG`, with the number of windows that it would take.
    """
    if needed > max_windows:
        raise ItemError(
            UnscoredReason.TOO_LONG,
            f"the text would be read in about {needed} windows, and at most {max_windows} are",
            where=where,
            todo="Shorten the text, or make several rows of it",
        )


async def together(work: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """Run coroutines at the same time; the first failure cancels the others and is raised.

    Of several failures a `SetupError` goes first: it ends the run, the others only an item.
    """
    if len(work) == 1:
        return [await work[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as failures:
        raise _first(failures.subgroup(SetupError) or failures) from None
    return [task.result() for task in tasks]


def _first(failure: BaseException) -> BaseException:
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


async def _fit(
    window: Window, budget: int, count_tokens: Callable[[str], Awaitable[int]]
) -> list[Window]:
    if len(window.text.encode("utf-8", "replace")) <= budget:
        return [window]
    if await count_tokens(window.text) <= budget:
        return [window]
    halves = window.halves(shortest=1)
    if halves is None:
        return [window]
    return [fitting for half in halves for fitting in await _fit(half, budget, count_tokens)]


def _sample(text: str) -> str:
    """Three stretches of a long text: its density of tokens may change on the way."""
    third = _SAMPLE_CHARS // 3
    middle = len(text) // 2
    return text[:third] + text[middle : middle + third] + text[-third:]


def _soft_cut(text: str, at: int, floor: int = 0) -> int:
    """Move a cut back to the nearest white space, if there is some within 80 characters."""
    for place in range(at, max(floor + 1, at - 80), -1):
        if text[place - 1].isspace():
            return place
    return at
