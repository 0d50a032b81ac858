"""Reading the claims of one window: the request, the reply, and halving where it is too much."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Literal

from ..errors import ItemError, UnscoredReason
from ..llm import (
    ASSUMED_CONTEXT_TOKENS,
    ChatModel,
    Message,
    Prompt,
    Request,
    Window,
    ask,
    fence,
    fence_mark,
    replies_of,
    together,
    usage_of,
)
from ..schema import FACT_PARTS, RawReply, Sampling, Usage
from ._extraction import Side, make_claims

if TYPE_CHECKING:
    from ._claims import ExtractOptions

PARSER_VERSION = "claims-2"

Item = str | tuple[str, str, str]

ClaimForm = Literal["claims", "triplets", "facts"]
"""What a text is broken into: statements; statements as subject, relation and object; or
findings as condition, trend and conclusion."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a form is asked for."""

    key: str
    """Name of the list in the reply."""
    parts: tuple[str, ...]
    """Names of an item's parts; none where an item is one text."""
    bytes_each: int
    """Bytes of dense prose that state one item."""


_FORMS: dict[ClaimForm, _Form] = {
    "claims": _Form("claims", (), 75),
    "triplets": _Form("claims", ("subject", "relation", "object"), 75),
    "facts": _Form("facts", FACT_PARTS, 120),
}
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
        cap = _cap(window.text, self.options.form)
        halves = window.halves(shortest=_LEAST_HALF_CHARS) if depth < self.options.splits else None
        try:
            asked = await ask(
                self.model,
                self._request(window.text, cap),
                partial(_parse, form=self.options.form),
            )
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
        parts = _FORMS[options.form].parts
        chars = len(parts) * _part_chars(options.claim_chars) if parts else options.claim_chars
        worst = 32 + int(cap * (16 + 8 * len(parts) + chars * bytes_per_char))
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
            schema=_schema(cap, options.claim_chars, options.form),
            replicate=self.replicate,
        )


@cache
def extract_prompt(form: ClaimForm) -> Prompt:
    """Load the prompt of a form."""
    return Prompt.load("basanite.extractors", f"prompts/{form}")


def _cap(text: str, form: ClaimForm) -> int:
    """Most claims of a window: more than dense prose of its size states.

    The smaller the window, the more claims per byte: halving a full window gives it room.
    """
    return 4 + -(-len(text.encode("utf-8", "replace")) // _FORMS[form].bytes_each)


def _part_chars(claim_chars: int) -> int:
    """Most characters of each part; a part alone may be longer than a third of the whole."""
    return claim_chars // 2


@lru_cache(maxsize=256)
def _schema(cap: int, claim_chars: int, form: ClaimForm) -> dict[str, object]:
    key, parts = _FORMS[form].key, _FORMS[form].parts
    items: dict[str, object] = {"type": "string", "maxLength": claim_chars}
    if parts:
        part = {"type": "string", "maxLength": _part_chars(claim_chars)}
        items = {
            "type": "object",
            "properties": dict.fromkeys(parts, part),
            "required": list(parts),
            "additionalProperties": False,
        }
    return {
        "type": "object",
        "properties": {key: {"type": "array", "items": items, "maxItems": cap}},
        "required": [key],
        "additionalProperties": False,
    }


def _parse(reply: object, form: ClaimForm) -> tuple[Item, ...]:
    key = _FORMS[form].key
    items = reply.get(key) if isinstance(reply, dict) else None
    if not isinstance(items, list):
        raise ValueError(f'it needs the form {{"{key}": ["...", "..."]}}')
    return tuple(_item(item, _FORMS[form].parts) for item in items)


def _item(item: object, parts: tuple[str, ...]) -> Item:
    if isinstance(item, str):
        return item
    if isinstance(item, dict) and parts:
        values = [item.get(name) for name in parts]
        if all(isinstance(value, str) for value in values):
            return str(values[0]), str(values[1]), str(values[2])
    what = f"an object of {', '.join(parts)}" if parts else "one sentence"
    raise ValueError(f"each item of the list must be a text, or {what}")
