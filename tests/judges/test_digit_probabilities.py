"""Probabilities of a scale's digits at the token that was read."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.judges._digit import DigitProbabilities, digit_probabilities
from basanite.judges._rating_reading import Scale, read_rating
from basanite.llm import Completion, TokenLogprob

FIVE = Scale()


def token(text: str) -> TokenLogprob:
    """A token that is certain."""
    return TokenLogprob(text, 0.0, ((text, 0.0),))


def choice(text: str, top: dict[str, float]) -> TokenLogprob:
    """A token with the probabilities of its alternatives."""
    logs = tuple((name, math.log(share)) for name, share in top.items())
    return TokenLogprob(text, dict(logs)[text] if text in top else -1.0, logs)


def found(tokens: list[TokenLogprob], text: str | None = None) -> DigitProbabilities | None:
    text = "".join(one.token for one in tokens) if text is None else text
    completion = Completion(text=text, finish_reason="stop", logprobs=tuple(tokens))
    return digit_probabilities(completion, read_rating(text, FIVE), FIVE)


TOP = {"4": 0.5, "5": 0.25, "the": 0.15, " 4": 0.05}


def test_valid_digits_are_normalised_and_their_mass_is_told() -> None:
    got = found([token('{"rating":'), token(" "), choice("4", TOP), token("}")])
    assert got is not None
    assert got.mass == pytest.approx(0.8)
    assert got.shares == pytest.approx({1: 0, 2: 0, 3: 0, 4: 0.55 / 0.8, 5: 0.25 / 0.8})


@pytest.mark.parametrize(
    ("before", "top", "after"),
    [
        # A tokenizer may merge the digit with what stands around it.
        ('{"rating":', {" 4": 0.6, " 5": 0.3, " x": 0.1}, "}"),
        ('{"rating"', {": 4": 0.6, ": 5": 0.3, ": x": 0.1}, "}"),
        ('{"rating": ', {"4}": 0.6, "5}": 0.3, "x": 0.1}, ""),
        ('{"rating"', {": 4}": 0.6, ": 5}": 0.3, ": x": 0.1}, ""),
        ('{"rating": "', {'4"': 0.6, '5"': 0.3, "x": 0.1}, "}"),
    ],
)
def test_merged_tokens(before: str, top: dict[str, float], after: str) -> None:
    got = found([token(before), choice(next(iter(top)), top), token(after)])
    assert got is not None
    assert got.mass == pytest.approx(0.9)
    assert got.shares[4] == pytest.approx(2 / 3)


def test_the_token_is_the_one_that_was_read_and_not_another_four() -> None:
    reasoning = choice("4", {"4": 0.99, "1": 0.01})
    tokens = [
        *(token('{"reasoning": "'), reasoning, token(' of 5", "rating": ')),
        choice("4", {"4": 0.7, "2": 0.3}),
        token("}"),
    ]
    got = found(tokens)
    assert got is not None
    assert got.shares[4] == pytest.approx(0.7)
    assert got.shares[1] == 0


def test_tokens_of_a_thought_and_of_the_template_are_passed_over() -> None:
    tokens = [
        *(token("<think>"), token("4 or 5?"), token("</think>\n\n")),
        *(token('{"rating": '), choice("4", TOP), token("}"), token("<|im_end|>")),
    ]
    got = found(tokens, '{"rating": 4}')
    assert got is not None
    assert got.shares[5] == pytest.approx(0.25 / 0.8)


def test_two_digits_are_no_digit() -> None:
    got = found([token("Score: "), choice("4", {"4": 0.5, "45": 0.3, "10": 0.2})])
    assert got is not None
    assert got.mass == pytest.approx(0.5)
    assert got.shares[4] == pytest.approx(1)


def test_the_mass_is_unknown_where_only_valid_tokens_are_shown() -> None:
    masked = TokenLogprob("4", -0.1, (("4", -0.1), ("5", -2.3), ("the", -9999.0)))
    got = found([token('{"rating": '), masked, token("}")])
    assert got is not None
    assert got.mass is None
    assert sum(got.shares.values()) == pytest.approx(1)


def test_nothing_to_read_from() -> None:
    text = '{"rating": 4}'
    bare = Completion(text=text, finish_reason="stop")
    assert digit_probabilities(bare, read_rating(text, FIVE), FIVE) is None
    assert found([token("something else")], text) is None


def test_half_a_character_before_it_does_not_matter() -> None:
    # A token that holds a part of a character is shown as a replacement mark.
    got = found([token("\ufffd"), token("\ufffd Score: "), choice("4", TOP)], "µ Score: 4")
    assert got is not None
    assert got.mass == pytest.approx(0.8)


def test_the_chosen_token_counts_where_it_is_not_among_the_alternatives() -> None:
    odd = TokenLogprob("4", math.log(0.1), (("the", math.log(0.9)),))
    got = found([token("Rating: "), odd])
    assert got is not None
    assert got.mass == pytest.approx(0.1)


@given(
    st.dictionaries(
        st.sampled_from(["1", "2", "3", "4", "5", " 4", "x", "10", "\n", "五"]),
        st.floats(1e-6, 1.0),
        min_size=1,
    )
)
def test_shares_are_a_distribution_and_mass_a_probability(weights: dict[str, float]) -> None:
    weights = {"3": 0.5} | weights
    total = sum(weights.values())
    top = {name: weight / total for name, weight in weights.items()}
    got = found([token("Rating: "), choice("3", top)])
    assert got is not None
    assert sum(got.shares.values()) == pytest.approx(1)
    valid = sum(share for name, share in top.items() if name.strip() in {"1", "2", "3", "4", "5"})
    assert got.mass is None or got.mass == pytest.approx(valid)
    assert (got.mass is None) == all(name.strip() in {"1", "2", "3", "4", "5"} for name in top)
