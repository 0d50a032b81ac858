"""A text of any length summarised within a number of tokens, by a model of any context.

The text is read in windows. Where their summaries together are too long, they are summarised in
turn, level by level, until they fit. Each level is several times shorter than the one before.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cache

from ...errors import ItemError, UnscoredReason
from ...llm import (
    ASSUMED_CONTEXT_TOKENS,
    ChatModel,
    Message,
    Prompt,
    Request,
    Window,
    ask,
    fence,
    replies_of,
    together,
    usage_of,
    windows_by_tokens,
)
from ...schema import RawReply, Sampling, Usage

PARSER_VERSION = "summary-2"

_LEAST_PART = 48
"""Smallest share of a window that is worth a last summary, in tokens."""
_LONGEST_PART = 1024
"""Longest summary of one window: a longer one takes a small model minutes."""
_WINDOW = 4096
"""Tokens of a window that is never made smaller, where the context has room for it."""
_SHRINK = 8
"""How much shorter than its windows a level in between is made."""
_MOST_LEVELS = 8
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Summary:
    """A text made shorter, and what it took."""

    text: str
    failed: str | None = None
    """Why a part of it, or all, could not be summarised."""
    lost: int = 0
    """Characters of the text that could not be summarised; all of them where there is no text."""
    unread: int = 0
    """Characters that were left out, since reading them takes too many requests."""
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Summariser:
    """Summarises texts; one for each trajectory, since it gives up once the model is gone.

    Args:
        model: writes the summaries.
        seed: sent with each request.
    """

    def __init__(self, model: ChatModel, *, seed: int = 0) -> None:
        self.model, self.seed = model, seed
        context = model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS
        # A reply takes at most about a quarter of the context: the rest is for what is read.
        self._longest = max(min(_LONGEST_PART, (context // 4 - 64) // 2), 16)
        used = _reply_tokens(self._longest) + len(_prompt().text) // 3 + 100
        self._room = max(context - used, context // 4, 64)
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._gone: str | None = None

    def windows_for(self, size: int, tokens: int) -> int:
        """About how many windows a text is read in.

        Args:
            size: of the text, in tokens.
            tokens: of its summary.
        """
        return -(-size // self._window(size, tokens))

    async def summarise(self, text: str, size: int, tokens: int, most: int) -> Summary:
        """Summarise a text.

        Args:
            text: of any length.
            size: its tokens, about.
            tokens: most tokens of the summary.
            most: most windows of the text that are read. What is beyond is left out of its middle.

        Raises:
            SetupError: the model can't be asked at all.
        """
        window = self._window(size, tokens)
        windows, unread = await self._windows(text, window, most)
        made = await self._level(windows, window, tokens)
        replies, usage, failed, lost = made.replies, made.usage, made.failed, made.lost
        written = made.text
        for _ in range(_MOST_LEVELS):
            if not written or await self._fits(written, tokens):
                break
            windows = (await self._windows(written, self._room, max(most, _AT_ONCE)))[0]
            again = await self._level(windows, self._room, tokens)
            replies, usage = (*replies, *again.replies), usage + again.usage
            if again.failed is not None or len(again.text) >= len(written):
                failed = failed or again.failed
                break
            written = again.text
        if written and not await self._fits(written, tokens):
            written = await self._cut(written, tokens)
        return Summary(written, failed, lost, unread, replies, usage)

    def _window(self, size: int, tokens: int) -> int:
        """Tokens of a window: so many that the summaries of all of them use what they may."""
        wanted = size * self._longest // max(tokens, 1)
        return min(self._room, max(_WINDOW, wanted))

    async def _windows(self, text: str, window: int, most: int) -> tuple[list[Window], int]:
        """Windows of a text, and the characters in its middle that are in none of them."""
        kept = len(text)
        while True:
            head = kept - kept // 2
            shown = text
            if kept < len(text):
                mark = f"\n({len(text) - kept:,} characters left out here)\n"
                shown = text[:head] + mark + text[len(text) - kept // 2 :]
            try:
                found = await windows_by_tokens(
                    shown,
                    window,
                    self.model.count_tokens,
                    max_windows=max(most, 2),
                    where="a step of the agent",
                )
            except ItemError as error:
                if error.reason is not UnscoredReason.TOO_LONG or not kept:
                    raise
                kept = kept * 3 // 4
            else:
                return found, len(text) - kept

    async def _level(self, windows: list[Window], window: int, tokens: int) -> Summary:
        """Summarise each window once, and put the summaries together."""
        share = tokens // len(windows)
        if share < _LEAST_PART and len(windows) > 1:
            share = max(window // _SHRINK, _LEAST_PART)
        each = max(min(share, self._longest), 16)
        parts = await together([self._asked(one.text, each) for one in windows])
        failed = next((one.failed for one in parts if one.failed is not None), None)
        lost = sum(one.lost for one in parts)
        return Summary(
            " ".join(one.text for one in parts if one.text),
            failed,
            lost,
            0,
            tuple(reply for one in parts for reply in one.replies),
            sum((one.usage for one in parts[1:]), parts[0].usage),
        )

    async def _fits(self, text: str, tokens: int) -> bool:
        if len(text.encode("utf-8", "replace")) <= tokens:  # a token is at least one byte
            return True
        return await self.model.count_tokens(text) <= tokens

    async def _cut(self, text: str, tokens: int) -> str:
        """The beginning of a summary whose model does not keep to its length, with a mark."""
        budget = max(tokens - 12, 1)
        counted = await self.model.count_tokens(text)
        kept = text[: len(text) * budget // max(counted, budget)]
        while kept and not await self._fits(kept, budget):
            kept = kept[: len(kept) * 3 // 4]
        return f"{kept.rstrip()} … (summary cut here)"

    async def _asked(self, text: str, tokens: int) -> Summary:
        async with self._gate:
            if self._gone is not None:
                return Summary("", self._gone, len(text))
            try:
                asked = await ask(self.model, _request(text, tokens, self.seed), _parse)
            except ItemError as error:
                if error.reason.outside:  # the other windows would wait for it as long
                    self._gone = str(error)
                return Summary("", str(error), len(text), 0, replies_of(error), usage_of(error))
        return Summary(asked.value, None, 0, 0, asked.replies, asked.usage)


def _request(text: str, tokens: int, seed: int) -> Request:
    prompt = _prompt()
    content = prompt.fill(words=str(max(tokens // 2, 10)), stretch=fence(text, salt=prompt.sha256))
    return Request(
        messages=(Message("user", content),),
        sampling=Sampling(temperature=0.0, seed=seed, max_tokens=_reply_tokens(tokens)),
        role="critic:summary",
        parser_version=PARSER_VERSION,
        schema={
            "type": "object",
            "properties": {"summary": {"type": "string", "maxLength": max(tokens * 4, 80)}},
            "required": ["summary"],
            "additionalProperties": False,
        },
    )


def _parse(value: object) -> str:
    found = value.get("summary") if isinstance(value, dict) else None
    if not isinstance(found, str) or not found.strip():
        raise ValueError('it needs the form {"summary": "…"}')
    return " ".join(found.split())


def _reply_tokens(tokens: int) -> int:
    return tokens * 2 + 64


@cache
def _prompt() -> Prompt:
    return Prompt.load("basanite.judges.critic", "prompts/summary")


def summary_sha256() -> str:
    """Hash of the prompt; a part of a critic's fingerprint."""
    return _prompt().sha256
