"""Reading a rating: from the answer field, never from prose, an echo or another number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.judges._rating_reading import ReadRating, Scale, read_rating

FIVE = Scale()
TEN = Scale(0, 10)

ratings = st.integers(1, 5)
prose = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80
) | st.sampled_from(
    [
        "84 per cent of cells",
        "In 1805, 3 of 4 groups",
        "The scale runs from 1 to 5.",
        'Reply with {"rating": N}',
        'It says "rating": 2 somewhere',
        "Rating: 2",
        "I would give 3 or 4",
        "p < 0.05; fold change 4.5",
    ]
)


def read(text: str, scale: Scale = FIVE) -> int:
    return read_rating(text, scale).value


@pytest.mark.parametrize(
    "text",
    [
        '{"rating": 4}',
        '{"score": 4}',
        '{"rating": 4.0}',
        '{"rating": "4"}',
        '{"rating": "4/5"}',
        '```json\n{"rating": 4}\n```',
        'Here it is: {"rating": 4}',
        '{"reasoning": "Scores of 2 and 5, 84 per cent, rating: 1.", "rating": 4}',
        '{"reasoning": "\\"rating\\": 1", "rating": 4}',
        '{"parts": {"rating": 2}, "rating": 4}',
        "4",
        " 4.\n",
        "**4**",
        "4/5",
        "4 out of 5",
        "4.0",
        "Score: 4",
        "Rating: 4/5",
        "**Rating**: 4",
        "**Rating: 4**",
        "Rating (1-5): 4",
        "Rating = 4 out of 5.",
        "The rating is 4.",
        "I give it a score of 4.",
        "<rating>4</rating>",
        "In 1805, 84 per cent of 3 groups rose. Score: 4",
        "Rating: 4. So the final rating: 4",
        "Rating: 1-5\nRating: 4",
        "Score: 4, since 3 of 4 facts are there",
    ],
)
def test_read_as_four(text: str) -> None:
    found = read_rating(text, FIVE)
    assert found.value == 4
    assert text[found.start] == "4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "good",
        "84 per cent",
        "In 1805 there were 3 groups.",
        "4.5",
        "4,5",
        "Score: 10",
        "Score: 0",
        "Score: 4.5",
        "Score: 4,5",
        "Rating: -4",
        "Rating: −4",
        "Score: 4/10",
        "Score: 8/10",
        "Score: 80%",
        "Score: 4%",
        "Score: 3 or 4",
        "Score: 3, 4",
        "Rating: 3\nRating: 4",
        "Rating: 1-5",
        "Rating: 1 to 5",
        "Score (1–5)",
        "a whole number from 1 to 5",
        '{"rating": 4.5}',
        '{"rating": 10}',
        '{"rating": true}',
        '{"rating": null}',
        '{"rating": [4]}',
        '{"rating": {"value": 4}}',
        '{"rating": "four"}',
        '{"rating": "3 or 4"}',
        '{"reasoning": "Rating: 4"}',
        '{"reasoning": "Rating: 4',
        '{"reasoning": "It is \\"rating\\": 4',
        '{"parts": {"rating": 4}}',
        "[4]",
        "[3, 4]",
        "4 5",
        "4\n\n5",
        "<rating>3</rating><rating>4</rating>",
    ],
)
def test_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        read_rating(text, FIVE)


def test_the_echo_of_our_own_prompt_is_no_rating() -> None:
    from basanite.judges._rating import _correctness, _prompt

    for echo in (_prompt().text, _correctness().text, _prompt().text + _correctness().text):
        with pytest.raises(ValueError, match="whole number"):
            read_rating(echo, FIVE)


@given(ratings, prose)
def test_reasoning_never_decides(rating: int, reasoning: str) -> None:
    text = json.dumps({"reasoning": reasoning, "rating": rating})
    found = read_rating(text, FIVE)
    assert (found.value, text[found.start]) == (rating, str(rating))
    with pytest.raises(ValueError, match="whole number"):
        read_rating(json.dumps({"reasoning": reasoning}), FIVE)


@given(ratings, prose, st.integers(0, 60))
def test_a_cut_object_is_never_read(rating: int, reasoning: str, cut: int) -> None:
    whole = json.dumps({"reasoning": reasoning, "rating": rating})
    with pytest.raises(ValueError, match="whole number"):
        read_rating(whole[: min(cut + 1, len(whole) - 1)], FIVE)


@given(st.integers(0, 10**6).map(str) | st.floats(0, 1e6).map(lambda value: f"{value:.2f}"))
def test_a_number_is_read_only_where_it_is_on_the_scale(number: str) -> None:
    on_scale = float(number) in FIVE.values
    for form in ("{}", "Score: {}", '{{"rating": {}}}', "<score>{}</score>"):
        text = form.format(number)
        if on_scale:
            assert read(text) == float(number)
        else:
            with pytest.raises(ValueError, match="whole number"):
                read_rating(text, FIVE)


@given(ratings, ratings, st.sampled_from(["Score: {}. Score: {}", "Rating {} – rating: {}"]))
def test_statements_must_agree(first: int, second: int, form: str) -> None:
    text = form.format(first, second)
    if first == second:
        assert read(text) == first
    else:
        with pytest.raises(ValueError, match="different ratings"):
            read_rating(text, FIVE)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        found = read_rating(text, FIVE)
    except ValueError as error:
        assert "whole number N from 1 to 5" in str(error)
        assert len(str(error)) < 200
    else:
        assert found.value in FIVE.values


def test_other_scales() -> None:
    assert read("Score: 10", TEN) == 10
    assert read("Score: 0/10", TEN) == 0
    with pytest.raises(ValueError, match="from 0 to 10"):
        read_rating("Score: 4/5", TEN)
    for low, high in ((-1, 4), (5, 5), (5, 1)):
        with pytest.raises(ValueError, match="scale"):
            Scale(low, high)


def test_where_it_stands() -> None:
    text = '{"reasoning": "\\"rating\\": 3", "rating": 3}'
    assert read_rating(text, FIVE) == ReadRating(3, text.rindex("3"))
