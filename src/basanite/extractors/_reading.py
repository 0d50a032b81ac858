"""Reading the claims of one window: the request, the reply, and halving where it is too much."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ..errors import ItemError, UnscoredReason
from ..llm import ChatModel, Message, Prompt, Request, ask, fence, replies_of, usage_of
from ..llm._prompt import fence_mark
from ..llm._windows import ASSUMED_CONTEXT_TOKENS, Window, together
from ..schema import RawReply, Sampling, Usage
from ._extraction import Side, make_claims

if TYPE_CHECKING:
    from ._claims import ExtractOptions

PARSER_VERSION = "claims-2"

Item = str | tuple[str, str, str]

_PARTS = ("subject", "relation", "object")
_LEAST_REPLY_TOKENS = 128
_LEAST_HALF_CHARS = 150


@dataclass(frozen=True, slots=True)
class Found:
    """What windows gave; several are added up."""

    items: tuple[Item, ...] = ()
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)
    halved: int = 0
    """Windows that were halved and read again."""
    full: int = 0
    """Windows whose list is full though they can't be halved further."""
    error: ItemError | None = None
    """The first failure; the windows beside it are read all the same, so that nothing of what
    they cost is lost and a second try finds them in the cache."""

    def __add__(self, other: Found) -> Found:
        return Found(
            self.items + other.items,
            self.replies + other.replies,
            self.usage + other.usage,
            self.halved + other.halved,
            self.full + other.full,
            self.error or other.error,
        )

    def failure(self, error: ItemError) -> ItemError:
        """The error with all replies and all usage, those of the other windows included."""
        error.replies, error.usage = self.replies, self.usage
        return error


@dataclass(frozen=True, slots=True)
class Reading:
    """How the windows of one text are read."""

    model: ChatModel
    options: ExtractOptions
    prompt: Prompt
    replicate: int
    side: Side
    question: str

    async def read(self, window: Window, depth: int = 0) -> Found:
        """Read one window, and its halves where its list is full or it does not fit."""
        cap = _cap(window.text)
        halves = window.halves(shortest=_LEAST_HALF_CHARS) if depth < self.options.splits else None
        try:
            asked = await ask(self.model, self._request(window.text, cap), _parse)
        except ItemError as error:
            found = Found(replies=replies_of(error), usage=usage_of(error), error=error)
            if error.reason is not UnscoredReason.CONTEXT_OVERFLOW or halves is None:
                return found
            return await self._again(found, halves, depth)
        found = Found(self._without_marks(asked.value, window), asked.replies, asked.usage)
        if len(asked.value) < cap or len(make_claims(asked.value, self.side)) < cap:
            return found
        if halves is None:
            return replace(found, full=1)
        return await self._again(found, halves, depth)

    async def _again(self, found: Found, halves: tuple[Window, Window], depth: int) -> Found:
        before = replace(found, items=(), error=None, halved=1)
        whole = [half for half in halves if half.text.strip()]
        return sum(await together([self.read(half, depth + 1) for half in whole]), before)

    def _without_marks(self, items: tuple[Item, ...], window: Window) -> tuple[Item, ...]:
        """Leave out the fences' marks, which small models take for claims; the reply keeps them."""
        salt = self.prompt.sha256
        marks = {fence_mark(text, salt=salt) for text in (window.text, self.question)}
        return tuple(
            item for item in items if isinstance(item, tuple) or item.strip(" \n<>.") not in marks
        )

    def _request(self, text: str, cap: int) -> Request:
        options, salt = self.options, self.prompt.sha256
        question = self.question
        content = self.prompt.fill(
            question=fence(question, salt=salt) if question.strip() else "(none)",
            text=fence(text, salt=salt),
        )
        # The worst case of a reply that the schema allows: each character a token of its own,
        # or as many as it has bytes in a text that is not ASCII.
        bytes_per_char = len(text.encode("utf-8", "replace")) / max(1, len(text))
        worst = 32 + int(cap * (16 + options.claim_chars * bytes_per_char))
        context = self.model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS
        room = context - len(content.encode("utf-8", "replace")) // 3 - 32
        return Request(
            messages=(Message("user", content),),
            sampling=Sampling(
                temperature=options.temperature,
                seed=options.seed,
                max_tokens=max(_LEAST_REPLY_TOKENS, min(worst, room)),
            ),
            role=f"extract:{self.side}",
            parser_version=PARSER_VERSION,
            schema=_schema(cap, options.claim_chars, options.triplets),
            replicate=self.replicate,
        )


@cache
def extract_prompt(*, triplets: bool) -> Prompt:
    """Load the prompt of either form."""
    return Prompt.load("basanite.extractors", f"prompts/{'triplets' if triplets else 'claims'}")


def _cap(text: str) -> int:
    """Most claims of a window: more than dense prose of its size states.

    The smaller the window, the more claims per byte: halving a full window gives it room.
    """
    return 4 + -(-len(text.encode("utf-8", "replace")) // 75)


@lru_cache(maxsize=256)
def _schema(cap: int, claim_chars: int, triplets: bool) -> dict[str, object]:
    text: dict[str, object] = {"type": "string", "maxLength": claim_chars}
    part = {"type": "string", "maxLength": claim_chars // 3}
    triplet: dict[str, object] = {
        "type": "object",
        "properties": dict.fromkeys(_PARTS, part),
        "required": list(_PARTS),
        "additionalProperties": False,
    }
    items = triplet if triplets else text
    return {
        "type": "object",
        "properties": {"claims": {"type": "array", "items": items, "maxItems": cap}},
        "required": ["claims"],
        "additionalProperties": False,
    }


def _parse(reply: object) -> tuple[Item, ...]:
    claims = reply.get("claims") if isinstance(reply, dict) else None
    if not isinstance(claims, list):
        raise ValueError('it needs the form {"claims": ["...", "..."]}')
    return tuple(_item(claim) for claim in claims)


def _item(claim: object) -> Item:
    if isinstance(claim, str):
        return claim
    if isinstance(claim, dict):
        parts = [claim.get(name) for name in _PARTS]
        if all(isinstance(part, str) for part in parts):
            return str(parts[0]), str(parts[1]), str(parts[2])
    raise ValueError("each claim must be a text, or an object of subject, relation and object")
