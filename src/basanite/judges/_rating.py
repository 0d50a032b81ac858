"""A rating by a model: one digit weighted by its token probabilities, or the mean of samples.

Source: G-Eval (Liu et al., EMNLP 2023): score = sum over values v of P(v) * v. P is taken at the
token of the digit in the reply's field `rating`, over the valid values only, and normalised; the
share of the model's probability that those had before is the *mass*. HeurekaBench's judge takes
the first token of the reply that equals the rating, and lets other tokens count as 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Literal

from pydantic import JsonValue

from ..errors import CapabilityError, InputError, ItemError, ReplyError, UnscoredReason
from ..llm import (
    Asked,
    ChatModel,
    Message,
    Prompt,
    Request,
    ask,
    fence,
    replies_of,
    together,
    usage_of,
)
from ..schema import Answer, RawReply, Sampling, Score, Usage
from ._digit import DigitProbabilities, digit_probabilities
from ._rating_reading import PARSER_VERSION, ReadRating, Scale, read_rating

RatingMode = Literal["weighted", "sampled"]

RATING_SCORES: Mapping[RatingMode, tuple[str, ...]] = {
    "weighted": ("rating", "rating_top"),
    "sampled": ("rating",),
}
"""Names of the scores of each mode, the primary one first."""

_REASONING_CHARS = 800
_FORMS = {
    False: 'Reply with one JSON object. Its only key is "rating".',
    True: 'Reply with one JSON object: first "reasoning" in two or three sentences, then "rating".',
}


@dataclass(frozen=True, slots=True)
class RatingOptions:
    """Settings of `Rater`."""

    mode: RatingMode = "weighted"
    """`weighted` by token probabilities, which the endpoint must give; or the mean of `samples`."""
    scale: Scale = field(default_factory=Scale)
    reasoning: bool = False
    """Let the model write some sentences before the rating."""
    criteria: str | None = None
    """What is rated, in words, with what each number means; None takes correctness against the
    reference by HeurekaBench's rubric."""
    least_mass: float = 0.5
    """Smallest share (0 to 1) of the probability on valid values; below it an item is unscored."""
    samples: int = 5
    """Replies of which `sampled` takes the mean; all of them are needed."""
    temperature: float = 1.0
    """Of `sampled`; `weighted` takes 0."""
    top_logprobs: int = 20
    """Alternatives asked for per token; many servers refuse more than 20."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode == "weighted" and self.scale.high > 9:
            raise InputError(
                f"a scale of {self.scale} has numbers of two digits, which are no single tokens",
                todo="Take a scale up to 9, or the mode sampled",
            )
        if self.samples < 1:
            raise InputError(f"at least 1 sample is needed, not {self.samples}")
        if not 0 <= self.least_mass <= 1:
            raise InputError(f"a probability mass is between 0 and 1, not {self.least_mass}")


@dataclass(frozen=True, slots=True)
class Rated:
    """The rating of one answer, with all that it took to get it."""

    scores: dict[str, Score]
    probabilities: dict[str, float] | None = None
    """Of each value of the scale; in the mode `sampled` its share of the samples."""
    mass: float | None = None
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class Rater:
    """Asks a model for a rating of an answer against its truth.

    Args:
        model: whom to ask.
        options: see `RatingOptions`.

    Raises:
        CapabilityError: the mode needs log probabilities and the model gives none.
    """

    def __init__(self, model: ChatModel, options: RatingOptions | None = None) -> None:
        self.model = model
        self.options = options or RatingOptions()
        if self.options.mode == "weighted" and model.capabilities.logprobs is False:
            raise _incapable()

    @property
    def parser_version(self) -> str:
        """Version of the code that reads ratings."""
        return PARSER_VERSION

    @property
    def settings(self) -> dict[str, JsonValue]:
        """All else that changes the ratings."""
        settings: dict[str, JsonValue] = asdict(self.options)
        for name in ("samples",) if self.options.mode == "weighted" else ("least_mass",):
            del settings[name]
        return settings

    @property
    def prompts(self) -> dict[str, str]:
        """Name of each prompt to its SHA-256."""
        prompts = {"rating": _prompt().sha256}
        if self.options.criteria is None:
            prompts["criteria"] = _correctness().sha256
        return prompts

    @property
    def sampling(self) -> Sampling:
        """How replies are sampled."""
        options = self.options
        return Sampling(
            temperature=options.temperature if options.mode == "sampled" else 0.0,
            seed=options.seed,
            max_tokens=32 + (_REASONING_CHARS if options.reasoning else 0),
        )

    async def rate(self, subject: Answer) -> Rated:
        """Rate one answer.

        Never raises an `ItemError`: what fails is in the scores, as a reason.

        Raises:
            CapabilityError: the mode needs log probabilities and the model gives none.
            SetupError: the model can't be asked at all.
        """
        try:
            if self.options.mode == "sampled":
                return await self._sampled(subject)
            return await self._weighted(subject)
        except CapabilityError as error:
            raise _incapable() from error

    async def _weighted(self, subject: Answer) -> Rated:
        request = replace(self._request(subject, 0), top_logprobs=self.options.top_logprobs)
        try:
            asked = await self._ask(request)
        except ItemError as error:
            return self._failed(error)
        try:
            found = self._probabilities(asked)
        except ReplyError as error:
            return self._failed(_with(error, asked))
        mass, usage = found.mass, asked.usage
        notes: tuple[str, ...] = ()
        if mass is None:
            mass, notes, peek = await self._seen_mass(request)
            usage += peek
        rated = Rated(
            {},
            {str(value): share for value, share in found.shares.items()},
            mass,
            asked.replies,
            usage,
            notes,
        )
        if mass is not None and mass < self.options.least_mass:
            what = (
                f"only {mass:.3f} of the probability fell on the numbers from "
                f"{self.options.scale}, and at least {self.options.least_mass} is asked for"
            )
            return replace(rated, scores=self._missing(UnscoredReason.LOW_MASS), problems=(what,))
        mean = math.fsum(value * share for value, share in found.shares.items())
        top = max(found.shares, key=lambda value: found.shares[value])
        scores = {"rating": Score(value=mean), "rating_top": Score(value=top)}
        return replace(rated, scores=scores)

    def _probabilities(self, asked: Asked[ReadRating]) -> DigitProbabilities:
        read = asked.value
        found = digit_probabilities(asked.completion, read, self.options.scale)
        if found is None:
            raise ReplyError(
                UnscoredReason.NO_LOGPROBS,
                f"no log probabilities came for the {read.value} that was read",
                todo="Take the mode sampled if this goes on",
            )
        return found

    async def _seen_mass(self, request: Request) -> tuple[float | None, tuple[str, ...], Usage]:
        """Look for the mass where the server hides it: what a grammar forbids has no probability
        in its lists. The same request without the schema shows it, if its reply can be read.
        """
        hidden = ("the server shows no probability of other than valid replies: mass not known",)
        try:
            completion = await self.model.complete(replace(request, schema=None, role="rate:mass"))
        except ItemError as error:
            return None, hidden, usage_of(error)
        try:
            read = read_rating(completion.text, self.options.scale)
        except ValueError:
            return None, hidden, completion.usage
        found = digit_probabilities(completion, read, self.options.scale)
        mass = None if found is None else found.mass
        return mass, () if mass is not None else hidden, completion.usage

    async def _sampled(self, subject: Answer) -> Rated:
        count, scale = self.options.samples, self.options.scale
        work = [self._try(self._request(subject, number)) for number in range(count)]
        tried = await together(work)
        replies = tuple(reply for one in tried for reply in one.replies)
        usage = sum((one.usage for one in tried[1:]), tried[0].usage)
        rated = Rated({}, None, None, replies, usage)
        values = [one.value for one in tried if one.value is not None]
        errors = [one.error for one in tried if one.error is not None]
        if errors:
            # An outside cause first: then the item is tried again, and finds the others cached.
            error = min(errors, key=lambda one: not one.reason.outside)
            problem = f"{len(errors)} of {count} samples have no rating: {error}"
            return replace(rated, scores=self._missing(error.reason), problems=(problem,))
        shares = Counter(values)
        mean = math.fsum(values) / count
        return replace(
            rated,
            scores={"rating": Score(value=mean, low=min(values), high=max(values))},
            probabilities={str(value): shares[value] / count for value in scale.values},
        )

    async def _try(self, request: Request) -> _Sample:
        try:
            asked = await self._ask(request)
        except ItemError as error:
            failed = self._failed(error)
            return _Sample(None, error, failed.replies, failed.usage)
        return _Sample(asked.value.value, None, asked.replies, asked.usage)

    async def _ask(self, request: Request) -> Asked[ReadRating]:
        scale = self.options.scale
        return await ask(
            self.model, request, lambda text: read_rating(str(text), scale), as_text=True
        )

    def _request(self, subject: Answer, replicate: int) -> Request:
        options, prompt = self.options, _prompt()
        salt = prompt.sha256
        question = subject.question
        content = prompt.fill(
            scale=str(options.scale),
            criteria=options.criteria or _correctness().text,
            form=_FORMS[options.reasoning],
            question=fence(question, salt=salt) if question.strip() else "(none)",
            truth=fence(subject.truth, salt=salt),
            answer=fence(subject.answer, salt=salt),
        )
        return Request(
            messages=(Message("user", content),),
            sampling=self.sampling,
            role="rate:answer",
            parser_version=PARSER_VERSION,
            schema=_schema(options.scale, reasoning=options.reasoning),
            replicate=replicate,
        )

    def _missing(self, reason: UnscoredReason) -> dict[str, Score]:
        names = RATING_SCORES[self.options.mode]
        return dict.fromkeys(names, Score(unscored_reason=reason))

    def _failed(self, error: ItemError) -> Rated:
        return Rated(
            self._missing(error.reason),
            replies=replies_of(error),
            usage=usage_of(error),
            problems=(str(error),),
        )


@dataclass(frozen=True, slots=True)
class _Sample:
    value: int | None
    error: ItemError | None
    replies: tuple[RawReply, ...]
    usage: Usage


def _with(error: ReplyError, asked: Asked[ReadRating]) -> ReplyError:
    error.replies, error.usage = asked.replies, asked.usage
    return error


def _incapable() -> CapabilityError:
    return CapabilityError(
        "the model gives no log probabilities, which a weighted rating needs",
        todo="Take the mode sampled (the mean of several ratings) or facts, which need none",
    )


@cache
def _prompt() -> Prompt:
    return Prompt.load("basanite.judges", "prompts/rating")


@cache
def _correctness() -> Prompt:
    return Prompt.load("basanite.judges", "prompts/correctness")


def _schema(scale: Scale, *, reasoning: bool) -> dict[str, object]:
    properties: dict[str, object] = {}
    if reasoning:
        properties["reasoning"] = {"type": "string", "maxLength": _REASONING_CHARS}
    properties["rating"] = {"type": "integer", "enum": list(scale.values)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
