"""Ask until the reply can be read: validation, bounded re-asks, and nothing silently lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from ..errors import CallError, ItemError, ReplyError, UnscoredReason
from ..schema import RawReply, Usage
from ._jsontext import read_json
from ._types import ChatModel, Completion, Message, Request

T = TypeVar("T")

_ECHO_LIMIT = 4000
"""Most characters of a bad reply that go into the re-ask: it must not overflow the context."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A reply that could be read, with all that it took."""

    value: T
    replies: tuple[RawReply, ...]
    """Every reply in order, those that could not be used included; the last one was used."""
    usage: Usage
    first_valid: bool
    """Whether the first reply could be used as it came."""
    completion: Completion
    """The reply that was used, with its log probabilities where they were asked for."""


@dataclass(slots=True)
class _Record:
    """What has happened so far in one `ask`."""

    role: str
    replies: list[RawReply] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def add(self, completion: Completion, error: ReplyError | None) -> None:
        self.replies.append(
            RawReply(
                role=self.role,
                text=completion.text,
                finish_reason=completion.finish_reason,
                cached=completion.cached,
                error=None if error is None else error.reason,
                detail=None if error is None else error.what,
            )
        )

    def fail(self, error: ItemError) -> ItemError:
        """The same failure as a new exception that carries what was replied and used.

        A new one, since an exception of the model may be shared with other waiters.
        """
        kind = ReplyError if isinstance(error, ReplyError) else CallError
        failed = kind(error.reason, error.what, where=error.where, todo=error.todo)
        failed.replies = tuple(self.replies)
        failed.usage = self.usage
        return failed


async def ask(
    model: ChatModel,
    request: Request,
    parse: Callable[[object], T],
    *,
    reasks: int = 2,
    as_text: bool = False,
) -> Asked[T]:
    """Ask a model and read its reply, with bounded repairs.

    With a schema in the request the reply is read as JSON (also inside a code fence or with text
    around it, as servers without schemas give it) and `parse` gets the value; without one it
    gets the text. `parse` raises `ValueError` or `ReplyError` with a message that tells the
    model what is wrong; the message goes back in a new turn, at most `reasks` times. A reply that
    was cut at its token limit is asked for once more with twice the limit.

    Args:
        model: the model; its retries and cache are its own affair.
        request: what to ask first.
        parse: turns the reply into a value; must not be satisfied with half an answer.
        reasks: most corrections; 0 takes the first reply or none.
        as_text: give `parse` the text also where the request has a schema; it reads the JSON.

    Raises:
        CallError: as from the model.
        ReplyError: `REPLY_CUT`, `REPLY_EMPTY`, `REPLY_INVALID` or the reason that `parse` gave,
            after the repairs; `CONTEXT_OVERFLOW` or `REFUSED` as from the model. Of both kinds
            `replies_of` and `usage_of` give what came before.
    """
    record = _Record(request.role)
    current, enlarged, corrections = request, False, 0
    failure: ReplyError | None = None
    while True:
        completion = await _complete(model, current, record, failure)
        try:
            value = _read(completion, current, parse, as_text=as_text)
        except ReplyError as error:
            failure = error
        else:
            record.add(completion, None)
            return Asked(
                value, tuple(record.replies), record.usage, len(record.replies) == 1, completion
            )
        record.add(completion, failure)
        if failure.reason is UnscoredReason.REPLY_CUT and not enlarged:
            enlarged, current = True, _enlarge(current)
        elif failure.reason is not UnscoredReason.REPLY_CUT and corrections < reasks:
            corrections += 1
            current = _correct(request, current, completion, failure)
        else:
            raise record.fail(failure) from failure


async def _complete(
    model: ChatModel, request: Request, record: _Record, before: ReplyError | None
) -> Completion:
    """One completion; its usage is recorded whether it comes or not."""
    try:
        completion = await model.complete(request)
    except ItemError as error:
        record.usage += usage_of(error)
        # A repair is longer than the request that it repairs. Where only the repair does not
        # fit, the item's trouble is what made it necessary.
        overflow = error.reason is UnscoredReason.CONTEXT_OVERFLOW
        raise record.fail(before if overflow and before is not None else error) from error
    record.usage += completion.usage
    return completion


def _read(
    completion: Completion, request: Request, parse: Callable[[object], T], *, as_text: bool
) -> T:
    text = completion.text
    if completion.finish_reason == "length":
        limit = request.sampling.max_tokens
        raise ReplyError(
            UnscoredReason.REPLY_CUT,
            f"the reply was cut at {limit} tokens",
            todo="Raise the limit of tokens of a reply, or ask for less at once",
        )
    if not text.strip():
        raise ReplyError(UnscoredReason.REPLY_EMPTY, "the reply is empty")
    try:
        return parse(text if as_text or request.schema is None else read_json(text))
    except ReplyError:
        raise
    except (ValueError, RecursionError) as error:
        what = str(error) or type(error).__name__
        raise ReplyError(UnscoredReason.REPLY_INVALID, what) from error


def _enlarge(request: Request) -> Request:
    doubled = request.sampling.model_copy(update={"max_tokens": request.sampling.max_tokens * 2})
    return replace(request, sampling=doubled)


def _correct(
    first: Request, current: Request, completion: Completion, error: ReplyError
) -> Request:
    """The first request with the last reply and what is wrong with it.

    Only the last reply goes back, so that the prompt does not grow with each correction. An
    empty one has no turn of its own: some chat templates refuse an empty message.
    """
    wrong = f"That reply can't be used: {error.what}."
    what = "Reply again, with the whole answer" + (
        "." if first.schema is None else " as one JSON value and nothing else."
    )
    echo = completion.text[:_ECHO_LIMIT]
    turns: tuple[Message, ...] = (Message("user", f"{wrong} {what}"),)
    if echo.strip():
        turns = (Message("assistant", echo), *turns)
    elif first.messages and first.messages[-1].role == "user":
        last = first.messages[-1]  # two user messages in a row are refused as well
        joined = Message("user", f"{last.content}\n\n{wrong} {what}")
        return replace(current, messages=(*first.messages[:-1], joined))
    return replace(current, messages=(*first.messages, *turns))


def usage_of(error: ItemError) -> Usage:
    """What was used up to a failure; nothing where the failure does not say."""
    return error.usage if isinstance(error.usage, Usage) else Usage()


def replies_of(error: ItemError) -> tuple[RawReply, ...]:
    """The replies that came before a failure, each with what was wrong with it."""
    return tuple(reply for reply in error.replies if isinstance(reply, RawReply))
