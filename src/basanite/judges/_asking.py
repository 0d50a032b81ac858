"""One request of the checker: some claims against one window, until each has a label."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from ..errors import ItemError, ReplyError, UnscoredReason
from ..llm import ChatModel, Message, Prompt, Request, ask, fence
from ..llm._windows import Window
from ..schema import Claim, ClaimVerdict, Label, Sampling
from ._opinion import Opinion, merge_opinions
from ._quotes import QuoteSource

if TYPE_CHECKING:
    from ._checker import CheckOptions

PARSER_VERSION = "entailment-1"

_LABELS = {label.value: label for label in Label}
_LEAST_HALF_CHARS = 100
_SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class _Reply:
    """What could be read of one reply."""

    labels: dict[str, tuple[Label, str]]
    """Label and quote of each claim that has a valid entry."""
    unreadable: frozenset[str]
    """Ids whose entry has no known label."""
    extra: tuple[str, ...]
    """Ids that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How the claims of one check are asked for."""

    model: ChatModel
    options: CheckOptions
    prompt: Prompt
    replicate: int
    against: str
    question: str
    quote_tokens: int
    """Most tokens of one quote."""

    def overhead(self, claims: int) -> int:
        """Most tokens of a request beside source and claims, and of its reply."""
        size = len(self.prompt.text) + len(self.question.encode("utf-8", "replace"))
        if self.model.capabilities.json_schema is not True:
            size += 180 * claims  # the schema goes into the prompt then
        return size // 3 + 100 + reply_tokens(claims, self.quote_tokens)

    async def ask(self, claims: Sequence[Claim], window: Window) -> Opinion:
        """Get a verdict for each claim; a failure is a verdict with its reason.

        Where the server says that the request is too long after all, the window is halved, and
        then the claims. If nothing of the first half fits, the second is not tried: a server
        that refuses everything must not be asked hundreds of times.
        """
        try:
            return await self._ask(claims, window)
        except ItemError as error:
            opinion = Opinion.failed(claims, error, self.against)
            if error.reason is not UnscoredReason.CONTEXT_OVERFLOW:
                return opinion
        spent = replace(opinion, verdicts={}, problems=())
        halves = window.halves(shortest=_LEAST_HALF_CHARS)
        if halves is not None:
            first = await self.ask(claims, halves[0])
            if _hopeless(first):
                return spent + first
            return spent + merge_opinions([first, await self.ask(claims, halves[1])])
        if len(claims) > 1:
            middle = len(claims) // 2
            first = await self.ask(claims[:middle], window)
            if _hopeless(first):
                return opinion + replace(first, verdicts={}, problems=())
            return spent + first + await self.ask(claims[middle:], window)
        return opinion

    async def _ask(self, claims: Sequence[Claim], window: Window) -> Opinion:
        pending = {claim.id: claim for claim in claims}
        source = QuoteSource(window.text, window.start)
        gathered = Opinion()
        for _ in range(1 + self.options.id_rounds):
            ids = tuple(pending)
            request = self._request(tuple(pending.values()), window.text)
            try:
                asked = await ask(self.model, request, partial(_parse, ids=ids))
            except ItemError as error:
                if not gathered.verdicts:
                    raise
                return gathered + Opinion.failed(pending.values(), error, self.against)
            reply = asked.value
            verdicts = {
                claim_id: ClaimVerdict(
                    claim_id=claim_id,
                    against=self.against,
                    label=label,
                    quote=source.find(quote),
                )
                for claim_id, (label, quote) in reply.labels.items()
            }
            gathered += Opinion(verdicts, asked.replies, asked.usage, self._notes(reply))
            pending = {key: claim for key, claim in pending.items() if key not in verdicts}
            if not pending:
                return gathered
        lost = [claim for claim in pending.values() if claim.id not in reply.unreadable]
        spoiled = [claim for claim in pending.values() if claim.id in reply.unreadable]
        reasons = (UnscoredReason.IDS_MISSING, UnscoredReason.REPLY_INVALID)
        for group, reason in zip((lost, spoiled), reasons, strict=True):
            if group:
                left = _without(tuple(claim.id for claim in group), reason)
                gathered += Opinion.failed(group, left, self.against)
        return gathered

    def _notes(self, reply: _Reply) -> tuple[str, ...]:
        if not reply.extra:
            return ()
        shown = ", ".join(f"{name:.20}" for name in reply.extra[:_SHOWN_IDS])
        return (
            f"a reply on the {self.against} had entries for ids that were not asked for "
            f"({shown}): ignored",
        )

    def _request(self, claims: Sequence[Claim], text: str) -> Request:
        options, salt = self.options, self.prompt.sha256
        listed = "\n".join(f"{claim.id}: {_one_line(claim.text)}" for claim in claims)
        content = self.prompt.fill(
            question=fence(self.question, salt=salt) if self.question.strip() else "(none)",
            source=fence(text, salt=salt),
            claims=fence(listed, salt=salt),
        )
        return Request(
            messages=(Message("user", content),),
            sampling=Sampling(
                temperature=options.temperature,
                seed=options.seed,
                max_tokens=reply_tokens(len(claims), self.quote_tokens),
            ),
            role=f"check:{self.against}",
            parser_version=PARSER_VERSION,
            schema=_schema(tuple(claim.id for claim in claims), options.quote_chars),
            replicate=self.replicate,
        )


def _hopeless(opinion: Opinion) -> bool:
    overflow = UnscoredReason.CONTEXT_OVERFLOW
    return all(verdict.unscored_reason is overflow for verdict in opinion.verdicts.values())


def reply_tokens(claims: int, quote_tokens: int) -> int:
    """Most tokens of a reply that the schema allows."""
    return 32 + claims * (quote_tokens + 64)


@cache
def check_prompt() -> Prompt:
    """Load the prompt."""
    return Prompt.load("basanite.judges", "prompts/entailment")


@lru_cache(maxsize=512)
def _schema(ids: tuple[str, ...], quote_chars: int) -> dict[str, object]:
    """Every id required and no other allowed, so that a grammar enforces the ids.

    The quote comes before the label: a model that writes its evidence first labels better.
    """
    entry: dict[str, object] = {
        "type": "object",
        "properties": {
            "quote": {"type": "string", "maxLength": quote_chars},
            "label": {"type": "string", "enum": list(_LABELS)},
        },
        "required": ["quote", "label"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": dict.fromkeys(ids, entry),
        "required": list(ids),
        "additionalProperties": False,
    }


def _parse(reply: object, ids: tuple[str, ...]) -> _Reply:
    """Read a reply by ids; what is valid is taken, what is missing is asked for again.

    Raises:
        ReplyError: not one of the claims has a valid entry.
    """
    if not isinstance(reply, Mapping):
        raise ValueError(f"it needs one JSON object with the keys {_listed(ids)}")
    labels = {claim_id: _entry(reply[claim_id]) for claim_id in ids if claim_id in reply}
    valid = {claim_id: entry for claim_id, entry in labels.items() if entry is not None}
    if valid:
        extra = tuple(str(key) for key in reply if key not in ids)
        return _Reply(valid, frozenset(labels.keys() - valid.keys()), extra)
    if labels:
        form = json.dumps({ids[0]: {"quote": "", "label": Label.NEUTRAL}})
        raise ValueError(f"it needs the form {form}; labels are {_listed(_LABELS)}")
    raise _without(ids, UnscoredReason.IDS_MISSING)


def _entry(value: object) -> tuple[Label, str] | None:
    """Read one claim's entry; labels in another case are taken, other labels are not."""
    if not isinstance(value, Mapping):
        return None
    label, quote = value.get("label"), value.get("quote")
    if not isinstance(label, str) or not (quote is None or isinstance(quote, str)):
        return None
    known = _LABELS.get(label.strip().lower())
    return None if known is None else (known, quote or "")


def _without(ids: tuple[str, ...], reason: UnscoredReason) -> ReplyError:
    what = "leaves out" if reason is UnscoredReason.IDS_MISSING else "has no known label for"
    return ReplyError(reason, f"the reply {what} the claims {_listed(ids)}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
