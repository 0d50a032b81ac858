"""The critic: accept a draft or send it back, with what is missing and which checks to run.

Source: the end-critic and plan-critic of HeurekaBench (ICLR 2026), after the self-critic of the
agent Biomni. There the critic can't accept, is the agent's own model, and the last draft always
wins; here the verdict is typed, the model is one of its own, and the best draft is kept. It sees
task, trajectory and draft, and has no place where a truth could go in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal

from pydantic import JsonValue

from ...errors import InputError, ItemError
from ...llm import (
    ASSUMED_CONTEXT_TOKENS,
    Asked,
    ChatModel,
    Message,
    Prompt,
    Request,
    ask,
    fence,
    replies_of,
    usage_of,
)
from ...schema import (
    CriticVerdict,
    Critique,
    Fingerprint,
    Sampling,
)
from ._condense import Condensed, Condenser
from ._steps import Step, written
from ._summary import summary_sha256

PARSER_VERSION = "critic-2"

CriticKind = Literal["answer", "plan"]

_MOST_POINTS = 5
_REPLY_TOKENS = 1200


@dataclass(frozen=True, slots=True)
class CriticOptions:
    """Settings of a `Critic`.

    Raises:
        InputError: a setting of another type, or out of its range.
    """

    kind: CriticKind = "answer"
    """What is reviewed: an answer (end-critic) or a plan (plan-critic)."""
    trajectory_tokens: int = 6000
    """Most tokens of the agent's steps in a request; longer ones are summarised step by step. A
    smaller context of the critic's model lowers it."""
    criteria: str = ""
    """What else to look for, in words."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("answer", "plan"):
            raise InputError(
                f"a critic reviews an answer or a plan, not {self.kind!r}",
                where="kind",
                todo="Give 'answer' or 'plan'",
            )
        _check_whole("trajectory_tokens", self.trajectory_tokens)
        if self.trajectory_tokens < 0:
            raise InputError(
                f"a budget of {self.trajectory_tokens} tokens is none",
                where="trajectory_tokens",
                todo="Give 0 or more",
            )
        if not isinstance(self.criteria, str):
            raise InputError(
                f"the criteria are a {type(self.criteria).__name__}",
                where="criteria",
                todo="Give one text; several go into it line by line",
            )
        _check_whole("seed", self.seed)


class Critic:
    """Asks a model what it thinks of a draft.

    Args:
        model: whom to ask; another than the agent's, if it can be.
        options: see `CriticOptions`.
    """

    def __init__(self, model: ChatModel, options: CriticOptions | None = None) -> None:
        self.model = model
        self.options = options or CriticOptions()
        self._condensers: dict[int, Condenser] = {}

    @property
    def fingerprint(self) -> Fingerprint:
        """All that changes a verdict."""
        options: dict[str, JsonValue] = asdict(self.options)
        return Fingerprint(
            judge="critic",
            parser_version=PARSER_VERSION,
            prompts={
                "critic": _prompt(self.options.kind).sha256,
                "summary": summary_sha256(),
            },
            model=self.model.identity,
            sampling=self._sampling,
            options=options,
        )

    async def review(self, task: str, draft: str, steps: Sequence[Step] = ()) -> Critique:
        """Review one draft.

        Never raises an `ItemError`: a critic that fails gives a critique with the reason.

        Args:
            task: what the agent was asked.
            draft: its answer, or its plan.
            steps: what it did, in order.

        Raises:
            SetupError: the model can't be asked at all.
        """
        shown = Condensed(())
        try:
            condenser = self._condenser(await self._room(task, draft))
            shown = await condenser.condense(steps)
            asked = await self._ask(task, draft, written(shown.steps))
        except ItemError as error:
            return Critique(
                unscored_reason=error.reason,
                message=str(error),
                notes=shown.notes,
                replies=(*shown.replies, *replies_of(error)),
                usage=shown.usage + usage_of(error),
            )
        return asked.value.model_copy(
            update={
                "notes": shown.notes,
                "replies": (*shown.replies, *asked.replies),
                "usage": shown.usage + asked.usage,
            }
        )

    def _condenser(self, budget: int) -> Condenser:
        """One for each budget: it remembers its summaries."""
        if budget not in self._condensers:
            self._condensers = {budget: Condenser(self.model, budget, seed=self.options.seed)}
        return self._condensers[budget]

    async def _room(self, task: str, draft: str) -> int:
        """Tokens that are left for the steps."""
        context = self.model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS
        counted = await self.model.count_tokens(f"{task}\n{draft}\n{self.options.criteria}")
        used = counted + len(_prompt(self.options.kind).text) // 3 + self._reply_tokens + 100
        room = max(context - used, 0)
        budget = self.options.trajectory_tokens
        # In steps, so that a draft of another length does not make all summaries anew.
        step = 256 if room >= 1024 else 64
        return budget if room >= budget else room // step * step

    async def _ask(self, task: str, draft: str, steps: str) -> Asked[Critique]:
        prompt = _prompt(self.options.kind)
        salt = prompt.sha256
        content = prompt.fill(
            criteria=self.options.criteria or "Judge by these points alone.",
            task=fence(task, salt=salt),
            steps=fence(steps, salt=salt) if steps else "(none)",
            draft=fence(draft, salt=salt),
        )
        request = Request(
            messages=(Message("user", content),),
            sampling=self._sampling,
            role=f"critic:{self.options.kind}",
            parser_version=PARSER_VERSION,
            schema=_schema(self._reply_tokens),
        )
        return await ask(self.model, request, _parse)

    @property
    def _sampling(self) -> Sampling:
        return Sampling(temperature=0.0, seed=self.options.seed, max_tokens=self._reply_tokens)

    @property
    def _reply_tokens(self) -> int:
        """Of one review: less where the context is small."""
        context = self.model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS
        return min(_REPLY_TOKENS, context * 3 // 10)


def feedback(critique: Critique, kind: CriticKind = "answer") -> str:
    """Put a critique into the words that the agent gets.

    Args:
        critique: with the verdict to revise.
        kind: what it is about.
    """
    what = "answer" if kind == "answer" else "plan"
    lines = [f"A reviewer has read your {what}. It is not final yet."]
    for title, points in (("What is missing:", critique.missing), ("Do now:", critique.checks)):
        if points:
            lines += ["", title, *(f"- {point}" for point in points)]
    then = (
        f"Work on these points, keep what is right, and then give the whole {what} again: it is "
        "read without what you wrote before."
    )
    return "\n".join([*lines, "", then])


def _check_whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{value!r} is no whole number", where=name, todo="Give one")


def _parse(value: object) -> Critique:
    if not isinstance(value, Mapping):
        raise ValueError("it needs to be one JSON object")
    missing, checks = _points(value, "missing"), _points(value, "checks")
    rating, verdict = value.get("rating"), str(value.get("verdict", "")).strip().lower()
    if isinstance(rating, bool) or rating not in (1, 2, 3, 4, 5):
        raise ValueError('"rating" needs to be one whole number from 1 to 5')
    if verdict not in {one.value for one in CriticVerdict}:
        raise ValueError('"verdict" needs to be "accept" or "revise"')
    if verdict == CriticVerdict.REVISE and not (missing or checks):
        raise ValueError('to revise, "missing" or "checks" needs to name something')
    return Critique(
        verdict=CriticVerdict(verdict), rating=int(rating), missing=missing, checks=checks
    )


def _points(value: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = value.get(name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f'"{name}" needs to be a list of texts')
    return tuple(" ".join(one.split()) for one in found if one.strip())


@cache
def _schema(tokens: int) -> dict[str, object]:
    """Schema of a review that takes at most so many tokens."""
    points = {
        "type": "array",
        "maxItems": _MOST_POINTS,
        "items": {"type": "string", "maxLength": tokens // 3},
    }
    return {
        "type": "object",
        "properties": {
            "missing": points,
            "checks": points,
            "rating": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            "verdict": {"type": "string", "enum": [one.value for one in CriticVerdict]},
        },
        "required": ["missing", "checks", "rating", "verdict"],
        "additionalProperties": False,
    }


@cache
def _prompt(kind: CriticKind) -> Prompt:
    return Prompt.load("basanite.judges.critic", f"prompts/{kind}")
