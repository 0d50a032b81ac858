"""One request of a checker: some statements against one window, until each has a label."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Generic

from ..errors import ItemError, ReplyError, UnscoredReason
from ..llm import ChatModel, Message, Request, Window, ask, fence
from ..schema import Sampling
from ._form import LabelForm, Statement, V
from ._opinion import Opinion, failed_opinion, merge_opinions
from ._quotes import QuoteSource

if TYPE_CHECKING:
    from ._checking import CheckOptions

_Values = dict[str, str]
_LEAST_HALF_CHARS = 100
_SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class _Reply:
    """What could be read of one reply."""

    entries: dict[str, tuple[_Values, str]]
    """Values and quote of each statement that has a valid entry."""
    unreadable: frozenset[str]
    """Ids whose entry has no known label."""
    extra: tuple[str, ...]
    """Ids that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Asking(Generic[V]):
    """How the statements of one check are asked for."""

    form: LabelForm[V]
    model: ChatModel
    options: CheckOptions
    replicate: int
    against: str
    question: str
    quote_tokens: int
    """Most tokens of one quote."""

    def overhead(self, claims: int) -> int:
        """Most tokens of a request beside source and claims, and of its reply."""
        size = len(self.form.prompt.text) + len(self.question.encode("utf-8", "replace"))
        if self.model.capabilities.json_schema is not True:
            size += 180 * claims  # the schema goes into the prompt then
        return size // 3 + 100 + reply_tokens(claims, self.quote_tokens)

    async def ask(self, claims: Sequence[Statement], window: Window) -> Opinion[V]:
        """Get a verdict for each claim; a failure is a verdict with its reason.

        Where the server says that the request is too long after all, the window is halved, and
        then the claims. If nothing of the first half fits, the second is not tried: a server
        that refuses everything must not be asked hundreds of times.
        """
        try:
            return await self._ask(claims, window)
        except ItemError as error:
            opinion = failed_opinion(self.form, claims, error, self.against)
            if error.reason is not UnscoredReason.CONTEXT_OVERFLOW:
                return opinion
        spent = replace(opinion, verdicts={}, problems=())
        halves = window.halves(shortest=_LEAST_HALF_CHARS)
        if halves is not None:
            first = await self.ask(claims, halves[0])
            if first.overflown:
                return spent + first
            return spent + merge_opinions(self.form, [first, await self.ask(claims, halves[1])])
        if len(claims) > 1:
            middle = len(claims) // 2
            first = await self.ask(claims[:middle], window)
            if first.overflown:
                return opinion + replace(first, verdicts={}, problems=())
            return spent + first + await self.ask(claims[middle:], window)
        return opinion

    async def _ask(self, claims: Sequence[Statement], window: Window) -> Opinion[V]:
        pending = {claim.id: claim for claim in claims}
        source = QuoteSource(window.text, window.start)
        gathered: Opinion[V] = Opinion()
        for _ in range(1 + self.options.id_rounds):
            ids = tuple(pending)
            request = self._request(tuple(pending.values()), window.text)
            try:
                asked = await ask(self.model, request, partial(_parse, form=self.form, ids=ids))
            except ItemError as error:
                if not gathered.verdicts:
                    raise
                return gathered + failed_opinion(self.form, pending.values(), error, self.against)
            reply = asked.value
            verdicts = {
                name: self.form.verdict(name, self.against, values, source.find(quote))
                for name, (values, quote) in reply.entries.items()
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
                left = _without(self.form, tuple(claim.id for claim in group), reason)
                gathered += failed_opinion(self.form, group, left, self.against)
        return gathered

    def _notes(self, reply: _Reply) -> tuple[str, ...]:
        if not reply.extra:
            return ()
        shown = ", ".join(f"{name:.20}" for name in reply.extra[:_SHOWN_IDS])
        return (
            f"a reply on the {self.against} had entries for ids that were not asked for "
            f"({shown}): ignored",
        )

    def _request(self, claims: Sequence[Statement], text: str) -> Request:
        options, prompt = self.options, self.form.prompt
        salt = prompt.sha256
        listed = "\n".join(f"{claim.id}: {_one_line(claim.text)}" for claim in claims)
        content = prompt.fill(
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
            role=f"{self.form.role}:{self.against}",
            parser_version=self.form.parser_version,
            schema=_schema(
                tuple(claim.id for claim in claims),
                options.quote_chars,
                tuple(self.form.fields.items()),
            ),
            replicate=self.replicate,
        )


def reply_tokens(claims: int, quote_tokens: int) -> int:
    """Most tokens of a reply that the schema allows."""
    return 32 + claims * (quote_tokens + 64)


@lru_cache(maxsize=512)
def _schema(
    ids: tuple[str, ...], quote_chars: int, fields: tuple[tuple[str, tuple[str, ...]], ...]
) -> dict[str, object]:
    """Every id required and no other allowed, so that a grammar enforces the ids.

    The quote comes before the label: a model that writes its evidence first labels better.
    """
    properties: dict[str, object] = {"quote": {"type": "string", "maxLength": quote_chars}}
    properties |= {name: {"type": "string", "enum": list(values)} for name, values in fields}
    entry: dict[str, object] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": dict.fromkeys(ids, entry),
        "required": list(ids),
        "additionalProperties": False,
    }


def _parse(reply: object, form: LabelForm[V], ids: tuple[str, ...]) -> _Reply:
    """Read a reply by ids; what is valid is taken, what is missing is asked for again.

    Raises:
        ReplyError: not one of the statements has a valid entry.
    """
    if not isinstance(reply, Mapping):
        raise ValueError(f"it needs one JSON object with the keys {_listed(ids)}")
    entries = {name: _entry(form, reply[name]) for name in ids if name in reply}
    valid = {name: entry for name, entry in entries.items() if entry is not None}
    if valid:
        extra = tuple(str(key) for key in reply if key not in ids)
        return _Reply(valid, frozenset(entries.keys() - valid.keys()), extra)
    if entries:
        shape = json.dumps({ids[0]: {"quote": "", **form.silent}})
        rules = "; ".join(
            f"each {name} is one of {_listed(form.fields[name])}" for name in form.fields
        )
        raise ValueError(f"it needs the form {shape}; {rules}")
    raise _without(form, ids, UnscoredReason.IDS_MISSING)


def _entry(form: LabelForm[V], value: object) -> tuple[_Values, str] | None:
    """Read one statement's entry; values in another case are taken, other values are not."""
    if not isinstance(value, Mapping):
        return None
    quote = value.get("quote")
    if not (quote is None or isinstance(quote, str)):
        return None
    values: _Values = {}
    for name, known in form.values.items():
        given = value.get(name)
        found = known.get(given.strip().lower()) if isinstance(given, str) else None
        if found is None:
            return None
        values[name] = found
    return values, quote or ""


def _without(form: LabelForm[V], ids: tuple[str, ...], reason: UnscoredReason) -> ReplyError:
    what = "leaves out" if reason is UnscoredReason.IDS_MISSING else "has no known label for"
    return ReplyError(reason, f"the reply {what} the {form.noun} {_listed(ids)}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
