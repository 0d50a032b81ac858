"""A critic that any caller can ask: plain or async, from any event loop, over any kind of model.

An endpoint that is named by its address is opened on an event loop in a thread of its own, and
stays open for the process. A LangChain model is asked on the caller's loop, and from plain code on
that thread's loop. A basanite model belongs to the loop on which it was opened.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import logging
import threading
import weakref
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ...errors import EndpointError, InputError, UnscoredReason
from ...judges.critic import Critic, CriticOptions, Step
from ...llm import ChatModel, ModelSpec, check_spec, open_model
from ...schema import Critique, digest
from ...store import Ledger, Record
from ._checks import ATTEMPT_SECONDS, checked_model, checked_options

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

T = TypeVar("T")

_log = logging.getLogger(__name__)

CriticModel = "ChatModel | BaseChatModel | ModelSpec | str"
"""An opened model, a LangChain chat model, or an endpoint: its URL or `embedded`."""

KIND = "critique"


@dataclass(frozen=True, slots=True)
class CriticLedger:
    """Where critiques are kept, and looked up before a critic is asked again."""

    ledger: Ledger
    run: str
    """Name of the run under which they are kept."""

    def __post_init__(self) -> None:
        if not isinstance(self.ledger, Ledger):
            raise InputError(
                f"the ledger of a critic is a {type(self.ledger).__name__}",
                todo="Give an open one, such as Ledger.open('critiques.sqlite')",
            )
        if not isinstance(self.run, str) or not self.run.strip():
            raise InputError(
                f"{self.run!r} is no name of a run",
                todo="Give the critiques a name, such as 'first'",
            )


@dataclass(eq=False)
class Reviewer:
    """Asks a critic for reviews; see the module's text for which loop does the work."""

    model: ChatModel | BaseChatModel | ModelSpec | str
    options: CriticOptions = field(default_factory=CriticOptions)
    record: CriticLedger | None = None
    _critics: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Critic] = field(
        default_factory=weakref.WeakKeyDictionary, init=False
    )
    _opening: asyncio.Lock | None = field(default=None, init=False)
    _home: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    """Of a model that was opened by its owner: the loop on which it was first asked."""
    _name: str = field(default="", init=False)
    """What its user knows the model by, for the log."""

    def __post_init__(self) -> None:
        self.model = checked_model(self.model)
        self._name = _name_of(self.model)
        self.options = checked_options(self.options)
        if self.record is not None and not isinstance(self.record, CriticLedger):
            raise InputError(
                f"the record of a critic is a {type(self.record).__name__}",
                todo="Give CriticLedger(Ledger.open(…), run=…) of basanite.graphs.end_critic",
            )

    async def review(self, task: str, draft: str, steps: Sequence[Step]) -> Critique:
        """Review a draft; see `Critic.review`."""

        def work() -> Coroutine[object, object, Critique]:
            return self._review(task, draft, steps)

        here = asyncio.get_running_loop()
        home = self._home_of(here)
        if home is here:
            # Callbacks and streams of the agent's own run are not the critic's.
            return await asyncio.create_task(work(), context=contextvars.Context())
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), home))

    def review_now(self, task: str, draft: str, steps: Sequence[Step]) -> Critique:
        """Review a draft from plain code.

        Raises:
            InputError: it would block the very loop on which the model works.
        """
        home = self._home_of(None)
        try:
            running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is home:
            raise InputError(
                "a plain call would block the event loop on which the critic's model works",
                todo="Call the agent with ainvoke or astream here",
            )
        return _submit(home, lambda: self._review(task, draft, steps)).result()

    def _home_of(self, here: asyncio.AbstractEventLoop | None) -> asyncio.AbstractEventLoop:
        if isinstance(self.model, ModelSpec):
            return _background()
        if isinstance(self.model, ChatModel):
            if self._home is None or self._home.is_closed():
                self._home = here or _background()
            return self._home
        return here or _background()

    async def _review(self, task: str, draft: str, steps: Sequence[Step]) -> Critique:
        """Review a draft; whatever fails, the draft must not be lost by it."""
        try:
            critique = await self._kept(task, draft, steps)
        except EndpointError as error:
            critique = _failed(UnscoredReason.CONNECTION_FAILED, error)
        except Exception as error:  # noqa: BLE001 - a chat model may raise anything
            _log.warning("the critic %s failed: %s", self._name, _one_line(error))
            _log.debug("where the critic %s failed", self._name, exc_info=True)
            return _failed(UnscoredReason.INTERNAL_ERROR, error)
        if critique.unscored_reason is not None:
            # A turn ends with it, so that this is said once a turn.
            reason, why = critique.unscored_reason, critique.message
            _log.warning("the critic %s gave no verdict (%s): %s", self._name, reason, why)
        return critique

    async def _kept(self, task: str, draft: str, steps: Sequence[Step]) -> Critique:
        critic = await self._critic()
        if self.record is None:
            return await critic.review(task, draft, steps)
        key = digest(
            {
                "critic": critic.fingerprint.digest,
                "task": task,
                "draft": draft,
                "steps": [[step.kind, step.text] for step in steps],
            }
        )
        ledger, run = self.record.ledger, self.record.run
        kept = await ledger.aget(run, KIND, key)
        if kept is not None:
            return Critique.model_validate(kept.body["critique"])
        critique = await critic.review(task, draft, steps)
        reason = critique.unscored_reason
        if reason is None or not reason.outside:
            body = {
                "task": task,
                "draft": draft,
                "critic": critic.fingerprint.model_dump(mode="json"),
                "critique": critique.model_dump(mode="json"),
            }
            await ledger.append(Record(run=run, kind=KIND, key=key, body=body))
        return critique

    async def _critic(self) -> Critic:
        loop = asyncio.get_running_loop()
        known = self._critics.get(loop)
        if known is None:
            if isinstance(self.model, ModelSpec):
                return await self._opened(loop, self.model)
            known = self._critics[loop] = Critic(_adapted(self.model), self.options)
        return known

    async def _opened(self, loop: asyncio.AbstractEventLoop, spec: ModelSpec) -> Critic:
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            known = self._critics.get(loop)
            if known is None:
                stack = AsyncExitStack()
                model = await stack.enter_async_context(open_model(spec, None))
                _OPEN.append(stack)  # stays open; the process's end closes it
                known = self._critics[loop] = Critic(model, self.options)
            return known


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"


def _failed(reason: UnscoredReason, error: Exception) -> Critique:
    return Critique(unscored_reason=reason, message=f"{type(error).__name__}: {error}")


_OPEN: list[AsyncExitStack] = []
_LOCK = threading.Lock()
_LOOP: list[asyncio.AbstractEventLoop] = []


def _background() -> asyncio.AbstractEventLoop:
    """The event loop in a thread of its own, made when it is first needed."""
    with _LOCK:
        if not _LOOP or _LOOP[0].is_closed():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="critic", daemon=True).start()
            _LOOP[:] = [loop]
        return _LOOP[0]


def _submit(
    loop: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[object, object, T]]
) -> concurrent.futures.Future[T]:
    """Run a coroutine on another thread's loop, without the caller's context."""
    return contextvars.Context().run(asyncio.run_coroutine_threadsafe, work(), loop)


def _name_of(model: ChatModel | BaseChatModel | ModelSpec) -> str:
    if isinstance(model, ModelSpec):
        return check_spec(model)
    return model.identity.name if isinstance(model, ChatModel) else type(model).__name__


def _adapted(model: ChatModel | BaseChatModel | ModelSpec | str) -> ChatModel:
    if isinstance(model, ChatModel):
        return model
    from ...llm import EndpointConfig, LangChainModel

    assert not isinstance(model, ModelSpec | str)
    config = EndpointConfig(url="langchain", attempt_seconds=ATTEMPT_SECONDS)
    return LangChainModel(model, config=config)
