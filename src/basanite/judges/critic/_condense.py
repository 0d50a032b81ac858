"""A long trajectory within a budget of tokens: summarised step by step, never cut silently.

Short steps stay as they are. The budget that each of the others gets is found by filling up from
the shortest: as much as a step needs, but no more than an equal share of what is left. Where even
equal shares would be too small for a sentence, neighbours are joined first. A stretch that can't be
summarised is left out with a mark that says how long it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from ...errors import ItemError
from ...llm import (
    ASSUMED_CONTEXT_TOKENS,
    ChatModel,
    Message,
    Prompt,
    Request,
    ask,
    fence,
    replies_of,
    together,
    usage_of,
    windows_by_tokens,
)
from ...schema import RawReply, Sampling, Usage
from ._steps import ShownStep, Step

PARSER_VERSION = "summary-1"

LEAST_TOKENS = 64
"""Smallest share of a step that is worth a summary."""

_HEAD_TOKENS = 12
"""For a step's number and kind."""
_MAX_WINDOWS = 64


@dataclass(frozen=True, slots=True)
class Condensed:
    """A trajectory as the critic sees it, with what it took."""

    steps: tuple[ShownStep, ...]
    notes: tuple[str, ...] = ()
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class _Summary:
    text: str
    failed: str | None = None
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Condenser:
    """Brings trajectories into a budget; what it has summarised once it remembers.

    Args:
        model: writes the summaries.
        budget: most tokens of all steps together.
        seed: sent with each request.
    """

    def __init__(self, model: ChatModel, budget: int, *, seed: int = 0) -> None:
        self.model, self.budget, self.seed = model, budget, seed
        self._known: dict[tuple[str, int], str] = {}
        """Of a trajectory that grows round by round, most was summarised before."""

    async def condense(self, steps: Sequence[Step]) -> Condensed:
        """Bring a trajectory into the budget.

        Raises:
            SetupError: the model can't be asked at all.
        """
        shown = [ShownStep(n, n, one.kind, one.text) for n, one in enumerate(steps, start=1)]
        sizes = await self._sizes(shown)
        if sum(sizes) <= self.budget:
            return Condensed(tuple(shown))
        shown, sizes = _joined(shown, sizes, max(1, self.budget // LEAST_TOKENS))
        shares = _shares(sizes, self.budget)
        work = [
            self._fitted(one, share)
            for one, size, share in zip(shown, sizes, shares, strict=True)
            if size > share
        ]
        made = iter(await together(work))
        fitted = [
            (one, _Summary(one.text)) if size <= share else next(made)
            for one, size, share in zip(shown, sizes, shares, strict=True)
        ]
        return _condensed(fitted, len(steps))

    async def _sizes(self, steps: Sequence[ShownStep]) -> list[int]:
        """Tokens of each step, by its share of the bytes: one count for all of them."""
        sizes = [len(one.text.encode("utf-8", "replace")) for one in steps]
        whole, heads = sum(sizes), _HEAD_TOKENS * len(steps)
        if whole + heads <= self.budget:  # a token is at least one byte
            return [size + _HEAD_TOKENS for size in sizes]
        counted = await self.model.count_tokens("\n".join(one.text for one in steps))
        return [-(-size * counted // max(whole, 1)) + _HEAD_TOKENS for size in sizes]

    async def _fitted(self, step: ShownStep, share: int) -> tuple[ShownStep, _Summary]:
        summary = await self._summary(step.text, share - _HEAD_TOKENS)
        text = summary.text
        if summary.failed is not None:
            text = f"({len(step.text):,} characters that could not be summarised)"
        return replace(step, text=text, summarised=True), summary

    async def _summary(self, text: str, tokens: int) -> _Summary:
        known = self._known.get((text, tokens))
        if known is not None:
            return _Summary(known)
        context = self.model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS
        room = context - _reply_tokens(tokens) - len(_prompt().text) // 3 - 100
        try:
            windows = await windows_by_tokens(
                text,
                max(room, LEAST_TOKENS),
                self.model.count_tokens,
                max_windows=_MAX_WINDOWS,
                where="a step of the agent",
            )
        except ItemError as error:
            return _Summary("", str(error), replies_of(error), usage_of(error))
        share = max(tokens // len(windows), 16)
        parts = await together([self._asked(one.text, share) for one in windows])
        failed = next((one.failed for one in parts if one.failed is not None), None)
        whole = _Summary(
            " ".join(one.text for one in parts),
            failed,
            tuple(reply for one in parts for reply in one.replies),
            sum((one.usage for one in parts[1:]), parts[0].usage),
        )
        if failed is None:
            self._known[text, tokens] = whole.text
        return whole

    async def _asked(self, text: str, tokens: int) -> _Summary:
        prompt = _prompt()
        words = max(tokens * 2 // 3, 10)
        longest = words * 8
        content = prompt.fill(words=str(words), stretch=fence(text, salt=prompt.sha256))
        request = Request(
            messages=(Message("user", content),),
            sampling=Sampling(temperature=0.0, seed=self.seed, max_tokens=_reply_tokens(tokens)),
            role="critic:summary",
            parser_version=PARSER_VERSION,
            schema={
                "type": "object",
                "properties": {"summary": {"type": "string", "maxLength": longest}},
                "required": ["summary"],
                "additionalProperties": False,
            },
        )

        def parse(value: object) -> str:
            found = value.get("summary") if isinstance(value, dict) else None
            if not isinstance(found, str) or not found.strip():
                raise ValueError('it needs the form {"summary": "…"}')
            if len(found) > longest:
                raise ValueError(f"the summary is longer than {words} words")
            return " ".join(found.split())

        try:
            asked = await ask(self.model, request, parse)
        except ItemError as error:
            return _Summary("", str(error), replies_of(error), usage_of(error))
        return _Summary(asked.value, None, asked.replies, asked.usage)


def _joined(
    steps: list[ShownStep], sizes: list[int], most: int
) -> tuple[list[ShownStep], list[int]]:
    """Join neighbours until there are at most `most`; the newest steps stay by themselves."""
    if len(steps) <= most:
        return steps, sizes
    alone = most // 2
    old, each = len(steps) - alone, -(-(len(steps) - alone) // (most - alone))
    joined, summed = [], []
    for start in range(0, old, each):
        group = steps[start : min(start + each, old)]
        text = "\n\n".join(f"{one.kind}: {one.text}" for one in group)
        joined.append(ShownStep(group[0].first, group[-1].last, "several", text))
        summed.append(sum(sizes[start : start + len(group)]))
    return joined + steps[old:], summed + sizes[old:]


def _shares(sizes: Sequence[int], budget: int) -> list[int]:
    """Give each size what it needs, or an equal share of what smaller ones leave."""
    shares = [0] * len(sizes)
    left = budget
    order = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for place, index in enumerate(order):
        shares[index] = min(sizes[index], left // (len(order) - place))
        left -= shares[index]
    return shares


def _condensed(fitted: Sequence[tuple[ShownStep, _Summary]], total: int) -> Condensed:
    shortened = sum(step.last - step.first + 1 for step, _ in fitted if step.summarised)
    notes = [f"{shortened} of {total} steps were summarised to fit the critic's budget"]
    notes += [
        f"steps {step.first} to {step.last} could not be summarised: {summary.failed}"
        for step, summary in fitted
        if summary.failed is not None
    ]
    usages = [summary.usage for _, summary in fitted]
    return Condensed(
        tuple(step for step, _ in fitted),
        tuple(notes),
        tuple(reply for _, summary in fitted for reply in summary.replies),
        sum(usages[1:], usages[0]),
    )


def _reply_tokens(tokens: int) -> int:
    return tokens * 2 + 64


@cache
def _prompt() -> Prompt:
    return Prompt.load("basanite.judges.critic", "prompts/summary")
