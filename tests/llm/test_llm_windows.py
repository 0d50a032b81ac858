"""Windows tile a text: nothing is lost, nothing is seen twice, nothing is cut silently."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import CallError, EndpointError, ItemError, UnscoredReason
from basanite.llm._windows import (
    Window,
    sentence_spans,
    together,
    windows_by_chars,
    windows_by_tokens,
)

TEXTS = st.text(alphabet=st.sampled_from('ab .!?\n。é1)"'), max_size=300)


async def count(text: str) -> int:
    return len(text.encode()) // 2


def tiles(windows: list[Window], text: str) -> bool:
    place = 0
    for window in windows:
        if window.start != place or not window.text:
            return False
        place += len(window.text)
    return "".join(window.text for window in windows) == text


@given(TEXTS)
def test_sentences_tile_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("A rises. B falls! Does C? Yes.", ["A rises. ", "B falls! ", "Does C? ", "Yes."]),
        ("See Fig. 3 and Smith et al. 2020. It holds.", 2),
        ("The p value is 0.05 vs. 0.5, i.e. ten times less.", 1),
        ("J. Doe found 3.5 % more. Done.", 2),
        ("- one\n- two\n\nthree", ["- one\n", "- two\n\n", "three"]),
        ("細胞は増加した。遺伝子は減少した。", 2),
        ('He said "it works." Then it failed.', 2),
        ("no end", ["no end"]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str] | int) -> None:
    found = [text[start:end] for start, end in sentence_spans(text)]
    assert (len(found) if isinstance(sentences, int) else found) == sentences


@given(TEXTS, st.integers(1, 60))
def test_windows_by_chars_tile_and_fit(text: str, most: int) -> None:
    windows = windows_by_chars(text, most)
    assert tiles(windows, text) or not text
    assert all(len(window.text) <= most for window in windows)


def test_windows_end_between_sentences() -> None:
    text = "One is here. Two is here. Three is here."
    assert [window.text for window in windows_by_chars(text, 30)] == [
        "One is here. Two is here. ",
        "Three is here.",
    ]


@given(TEXTS, st.integers(1, 80))
async def test_windows_by_tokens_tile_and_fit(text: str, budget: int) -> None:
    windows = await windows_by_tokens(text, budget, count, max_windows=10_000, where="x")
    assert tiles(windows, text) or not text
    for window in windows:
        assert await count(window.text) <= budget or len(window.text) == 1


async def test_a_short_text_is_not_counted() -> None:
    async def refuse(text: str) -> int:
        raise AssertionError(text)

    windows = await windows_by_tokens("é" * 50, 100, refuse, max_windows=1, where="x")
    assert windows == [Window("é" * 50, 0)]


async def test_a_text_far_too_long_is_refused_by_samples() -> None:
    counted: list[int] = []

    async def counting(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4

    with pytest.raises(ItemError, match=r"about \d+ windows") as caught:
        await windows_by_tokens("word " * 2_000_000, 2000, counting, max_windows=64, where="answer")
    assert caught.value.reason is UnscoredReason.TOO_LONG
    assert caught.value.where == "answer"
    assert sum(counted) <= 20_000


@given(TEXTS)
def test_halves_tile(text: str) -> None:
    halves = Window(text, 7).halves(shortest=10)
    if halves is None:
        assert len(text) < 20
    else:
        first, second = halves
        assert first.text + second.text == text
        assert (first.start, second.start) == (7, 7 + len(first.text))
        assert min(len(first.text), len(second.text)) >= 1


async def test_together_keeps_the_order() -> None:
    async def late(value: int, seconds: float) -> int:
        await asyncio.sleep(seconds)
        return value

    assert await together([late(1, 0.02), late(2, 0.0)]) == [1, 2]


async def test_together_cancels_the_rest_and_raises_what_ends_the_run() -> None:
    cancelled: list[str] = []

    async def fail(error: Exception) -> None:
        raise error

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("hang")
            raise

    item = CallError(UnscoredReason.TIMEOUT, "late")
    with pytest.raises(EndpointError, match="gone"):
        await together([fail(item), hang(), fail(EndpointError("gone"))])
    assert cancelled == ["hang"]
