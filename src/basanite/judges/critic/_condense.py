"""A long trajectory within a budget of tokens: summarised step by step, never cut silently.

Short steps stay as they are. The budget that each of the others gets is found by filling up from
the shortest: as much as a step needs, but no more than an equal share of what is left. Where even
equal shares would be too small for a sentence, neighbours are joined first. A stretch that the
model can't summarise is left out with a mark that says how long it was, and so is what would take
more requests than one review may.
"""

from __future__ import annotations

import hashlib
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace

from ...llm import ChatModel, together
from ...schema import RawReply, Usage
from ._steps import ShownStep, Step
from ._summary import Summariser, Summary

LEAST_TOKENS = 64
"""Smallest share of a step that is worth a summary."""

MOST_WINDOWS = 256
"""Most windows that the steps of one review are read in: two million characters for a context of
4096 tokens. Summaries of summaries are a few more requests, an eighth or less."""

_HEAD_TOKENS = 12
"""For a step's number and kind."""
_MARK_TOKENS = 20
"""For the words that say how much of a step was not read."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """A trajectory as the critic sees it, with what it took."""

    steps: tuple[ShownStep, ...]
    notes: tuple[str, ...] = ()
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
        self._known: dict[tuple[str, int], Summary] = {}
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
        if self.budget < LEAST_TOKENS:
            return _left_out(shown)
        shown, sizes = _joined(shown, sizes, min(self.budget // LEAST_TOKENS, MOST_WINDOWS))
        shares = _shares(sizes, self.budget)
        made = iter(await together(self._work(shown, sizes, shares)))
        fitted = [
            (one, Summary(one.text)) if size <= share else next(made)
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

    def _work(
        self, steps: Sequence[ShownStep], sizes: Sequence[int], shares: Sequence[int]
    ) -> list[Coroutine[object, object, tuple[ShownStep, Summary]]]:
        """The summaries to make, with the windows of all of them within their bound."""
        summariser = Summariser(self.model, seed=self.seed)
        long = [
            (one, size, share - _HEAD_TOKENS)
            for one, size, share in zip(steps, sizes, shares, strict=True)
            if size > share
        ]
        needed = [summariser.windows_for(size, tokens) for _, size, tokens in long]
        if sum(needed) > MOST_WINDOWS:
            long = [(one, size, tokens - _MARK_TOKENS) for one, size, tokens in long]
        # Sizes are about right only; where there is no need to save, twice as many may be read.
        spare = max(MOST_WINDOWS - sum(needed), 0) // len(needed)
        most = [share + spare for share in _shares(needed, MOST_WINDOWS)]
        return [
            self._fitted(summariser, *one, windows) for one, windows in zip(long, most, strict=True)
        ]

    async def _fitted(
        self, summariser: Summariser, step: ShownStep, size: int, tokens: int, most: int
    ) -> tuple[ShownStep, Summary]:
        key = hashlib.sha256(step.text.encode("utf-8", "replace")).hexdigest(), tokens
        summary = self._known.get(key)
        if summary is None:
            summary = await summariser.summarise(step.text, size, tokens, most)
            if summary.failed is None:
                self._known[key] = replace(summary, replies=(), usage=Usage())
        text = summary.text
        if summary.lost:
            text += f" ({summary.lost:,} characters that could not be summarised)"
        if summary.unread:
            text += f" ({summary.unread:,} characters in the middle were not read)"
        return replace(step, text=text.strip(), summarised=True), summary


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


def _left_out(steps: Sequence[ShownStep]) -> Condensed:
    """All steps as one mark, where there is no room for so much as a sentence."""
    chars = sum(len(one.text) for one in steps)
    mark = f"({len(steps)} steps of {chars:,} characters left out: there is no room for them)"
    note = f"the {len(steps)} steps were left out: task and draft, or the budget, leave no room"
    return Condensed((ShownStep(1, len(steps), "several", mark),), (note,))


def _condensed(fitted: Sequence[tuple[ShownStep, Summary]], total: int) -> Condensed:
    shortened = sum(step.last - step.first + 1 for step, _ in fitted if step.summarised)
    notes = [f"{shortened} of {total} steps were summarised to fit the critic's budget"]
    for step, summary in fitted:
        one = step.first == step.last
        which = f"step {step.first}" if one else f"steps {step.first} to {step.last}"
        if summary.failed is not None:
            what = which
            if summary.text:
                lost = summary.lost
                what = f"{lost:,} characters of {which}" if lost else f"the summary of {which}"
            notes.append(f"{what} could not be summarised: {summary.failed}")
        if summary.unread:
            notes.append(
                f"{summary.unread:,} characters in the middle of {which} were not read: a review "
                f"reads at most about {MOST_WINDOWS} windows of the size of the model's context"
            )
    usages = [summary.usage for _, summary in fitted]
    return Condensed(
        tuple(step for step, _ in fitted),
        tuple(notes),
        tuple(reply for _, summary in fitted for reply in summary.replies),
        sum(usages[1:], usages[0]),
    )
