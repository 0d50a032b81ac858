"""A critic for agents with no graph: any function from a task to an answer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InputError
from ...judges.critic import CriticKind, CriticOptions, Step
from ...schema import Criticised, Critique
from ._checks import check_agent, check_task, checked_options, checked_rounds, is_async
from ._reviewing import CriticLedger, Reviewer
from ._rounds import (
    Work,
    begun,
    drafted,
    drafts_of,
    failed,
    failure_of,
    feedback_of,
    finished,
    stopped,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...llm import ChatModel, ModelSpec


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent gives back: its answer, and what it did on the way.

    Raises:
        InputError: the text is none, or a step is no `Step`.
    """

    text: str
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InputError(
                f"the text of a Reply is a {type(self.text).__name__}", todo="Give a text"
            )
        if not isinstance(self.steps, tuple | list):
            raise InputError(f"the steps of a Reply are a {type(self.steps).__name__}", todo=_STEPS)
        for number, step in enumerate(self.steps, start=1):
            if not isinstance(step, Step):
                raise InputError(
                    f"step {number} of a Reply is a {type(step).__name__}", todo=_STEPS
                )
        object.__setattr__(self, "steps", tuple(self.steps))


_STEPS = "Give a tuple of steps, such as (Step('tool', 'measured 2.0'),)"


Agent = Callable[[str], str | Reply]
AsyncAgent = Callable[[str], Awaitable[str | Reply]]


def run_with_critic(
    agent: Agent,
    task: str,
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> Criticised:
    """Run an agent, and let a critic send it back to work.

    Args:
        agent: takes a task and gives an answer. In a revision the task holds the answer before and
            the feedback too, so that the agent needs no memory.
        task: what it is asked.
        model: the critic's: a LangChain chat model, an endpoint's URL, `embedded`, or a model that
            is open.
        rounds: most revisions.
        options: of the critic.
        record: keeps critiques in a ledger, and takes them from there when a run is repeated.

    Returns:
        All drafts, and which of them is the answer. An error of the agent in a revision ends the
        rounds; one in its first run is raised.

    Raises:
        InputError: an argument is of the wrong kind, which is said before the agent runs; or the
            agent's first answer is none.
    """
    _check(agent, task, rounds)
    reviewer, work = Reviewer(model, checked_options(options), record), begun(task, 0)
    check_plain(agent)
    kind = reviewer.options.kind
    while True:
        try:
            made: object = agent(prompt_of(work, kind))
        except Exception as error:  # noqa: BLE001 - an agent may raise anything
            work = _after(work, error)
        else:
            reply = _reply(made, work)
            asked = (task, reply.text, reply.steps)
            critique = reviewer.review_now(*asked) if reply.text.strip() else None
            work = _with(work, reply, critique, made)
        reason = stopped(work, rounds)
        if reason is not None:
            return finished(work, reason)


async def arun_with_critic(
    agent: AsyncAgent | Agent,
    task: str,
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> Criticised:
    """Do what `run_with_critic` does, in an event loop.

    An agent that is no coroutine function runs on a thread, so that it does not block the loop.
    """
    _check(agent, task, rounds)
    reviewer, work = Reviewer(model, checked_options(options), record), begun(task, 0)
    kind = reviewer.options.kind
    while True:
        try:
            made = await acall(agent, prompt_of(work, kind))
        except Exception as error:  # noqa: BLE001 - an agent may raise anything
            work = _after(work, error)
        else:
            reply = _reply(made, work)
            asked = (task, reply.text, reply.steps)
            critique = await reviewer.review(*asked) if reply.text.strip() else None
            work = _with(work, reply, critique, made)
        reason = stopped(work, rounds)
        if reason is not None:
            return finished(work, reason)


def prompt_of(work: Work, kind: CriticKind) -> str:
    """What an agent without a memory is asked: the task, and in a revision what came of it."""
    task: str = work["task"]
    drafts = drafts_of(work)
    if not drafts:
        return task
    what = "answer" if kind == "answer" else "plan"
    before = f"Your {what} before:\n{drafts[-1].text}"
    return f"{task}\n\n{before}\n\n{feedback_of(work, kind)}"


def check_plain(agent: object) -> None:
    """Refuse a coroutine function before it is called.

    Raises:
        InputError: as said.
    """
    if callable(agent) and is_async(agent):
        raise InputError(_COROUTINE, todo=_USE_ASYNC)


async def acall(agent: AsyncAgent | Agent, task: str) -> object:
    """Call an agent of either kind."""
    if is_async(agent):
        made: object = agent(task)
    else:
        made = await asyncio.to_thread(_called, agent, task)
    return await made if inspect.isawaitable(made) else made


def _called(agent: AsyncAgent | Agent, task: str) -> object:
    try:
        return agent(task)
    except StopIteration as error:
        # No future can hold it: whoever awaits the thread would wait for ever.
        raise RuntimeError("the agent raised StopIteration") from error


def reply_of(made: object) -> Reply:
    """Take what an agent gave as a `Reply`.

    Raises:
        InputError: it is no answer.
    """
    if isinstance(made, Reply):
        return made
    if isinstance(made, str):
        return Reply(made)
    if inspect.isawaitable(made):
        if inspect.iscoroutine(made):
            made.close()
        raise InputError(_COROUTINE, todo=_USE_ASYNC)
    raise InputError(
        f"an agent gives a text or a Reply, not a {type(made).__name__}",
        todo="Wrap it in a function that gives the text of its answer",
    )


_COROUTINE = "the agent is a coroutine function"
_USE_ASYNC = "Use arun_with_critic or arun_with_plan_critic"


def _check(agent: object, task: object, rounds: object) -> None:
    check_agent(agent)
    check_task(task)
    checked_rounds(rounds)


def _reply(made: object, work: Work) -> Reply:
    """Read an answer; in a revision, one that is none counts as empty and costs no draft."""
    try:
        return reply_of(made)
    except InputError:
        if not work["drafts"]:
            raise
        return Reply("")


def _after(work: Work, error: Exception) -> Work:
    """Keep the drafts that there are; where there is none, the error is the agent's."""
    from langgraph.errors import GraphBubbleUp

    # An interrupt of a graph around this is no failure of the agent.
    if not work["drafts"] or isinstance(error, GraphBubbleUp):
        raise error
    return failed(work, *failure_of(error))


def _with(work: Work, reply: Reply, critique: Critique | None, made: object) -> Work:
    if reply.text.strip() or not work["drafts"]:
        return drafted(work, reply.text, critique)
    what = "without an answer" if isinstance(made, str | Reply) else f"with a {type(made).__name__}"
    return failed(work, "no_draft", f"the revision ended {what}")
