"""The probabilities of a scale's digits at the place where a rating was read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..llm import Completion, TokenLogprob
from ._rating_reading import ReadRating, Scale

_NEVER = -100.0
"""A log probability below it stands for none: servers write a forbidden token as -9999 or so."""


@dataclass(frozen=True, slots=True)
class DigitProbabilities:
    """What the model's probability at one token says of a scale's values."""

    shares: dict[int, float]
    """Probability of each value of the scale, normalised to sum to 1."""
    mass: float | None
    """What they sum to before; a lower bound where a digit is not among the alternatives. None
    where only valid tokens have any probability, so that it would be 1 whatever the model thinks.
    """


def digit_probabilities(
    completion: Completion, read: ReadRating, scale: Scale
) -> DigitProbabilities | None:
    """Look the digits of a scale up among the alternatives to the token that was read.

    Args:
        completion: with log probabilities.
        read: the rating that was read from its text.
        scale: of single digits.

    Returns:
        None if there are no log probabilities, or none that can be told to be of this digit.
    """
    digit = str(read.value)
    text = completion.text
    if text[read.start : read.start + 1] != digit:
        return None  # such as 4.0 written in another way: the place is not sure
    found = _token_at(completion.logprobs or (), text[read.start :])
    if found is None:
        return None
    token, before = found
    around = (token.token[:before], token.token[before + 1 :])
    valid, other = dict.fromkeys(scale.values, 0.0), False
    for alternative, logprob in _alternatives(token):
        value = _value(alternative, around, scale)
        if value is not None:
            valid[value] += math.exp(logprob)
        elif logprob > _NEVER:
            other = True
    mass = math.fsum(valid.values())
    if not mass:
        return None
    shares = {value: share / mass for value, share in valid.items()}
    return DigitProbabilities(shares, min(mass, 1.0) if other else None)


def _token_at(tokens: Iterable[TokenLogprob], tail: str) -> tuple[TokenLogprob, int] | None:
    """Find the token in which a tail of the reply begins, and where in it.

    Tokens may hold more than the text: a thought before it, marks of the chat template around it.
    So the tail is looked for from behind.
    """
    listed = list(tokens)
    place = "".join(one.token for one in listed).rfind(tail.rstrip())
    if place < 0:
        return None
    for one in listed:
        if place < len(one.token):
            return one, place
        place -= len(one.token)
    return None


def _alternatives(token: TokenLogprob) -> Iterable[tuple[str, float]]:
    """Each alternative once, the token itself included."""
    known = dict(token.top)
    known.setdefault(token.token, token.logprob)
    return known.items()


def _value(token: str, around: tuple[str, str], scale: Scale) -> int | None:
    """Read a token as a value: a digit, bare or with what stands around the digit that was read."""
    before, after = around
    if before + after and token.startswith(before) and token.endswith(after):
        inner = token[len(before) : len(token) - len(after)]
        if len(token) > len(before) + len(after) and inner in _digits(scale):
            return int(inner)
    bare = token.strip()
    return int(bare) if bare in _digits(scale) else None


def _digits(scale: Scale) -> frozenset[str]:
    return frozenset(str(value) for value in scale.values)
