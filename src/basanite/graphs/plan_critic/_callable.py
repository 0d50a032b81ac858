"""A critic of the plan for agents with no graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...judges.critic import CriticOptions
from ...schema import Criticised
from ..end_critic._callable import (
    Agent,
    AsyncAgent,
    Reply,
    acall,
    arun_with_critic,
    check_plain,
    reply_of,
    run_with_critic,
)
from ..end_critic._checks import check_agent
from ..end_critic._reviewing import CriticLedger
from ._options import plan_options
from ._words import ASK, carry_out

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ...llm import ChatModel, ModelSpec


class Planned(NamedTuple):
    """What an agent gave after its plan was reviewed; unpacks into its two parts."""

    reply: Reply
    plans: Criticised
    """All its plans, which of them it carried out, and why the planning ended."""

    @property
    def answer(self) -> str:
        """Text of the agent's reply."""
        return self.reply.text


def run_with_plan_critic(
    agent: Agent,
    task: str,
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> Planned:
    """Let an agent plan, let a critic review the plan, and run the agent with the plan.

    Args:
        agent: takes a task and gives an answer; it is asked for its plan in the same way.
        task, model, rounds, options, record: see `run_with_critic`.

    Returns:
        The agent's reply, and all its plans.

    Raises:
        InputError: an argument is of the wrong kind, which is said before the agent runs; or the
            agent gave something that is no answer.
    """
    check_agent(agent)
    check_plain(agent)
    plans = run_with_critic(
        lambda words: agent(f"{words}\n\n{ASK}"),
        task,
        model,
        rounds=rounds,
        options=plan_options(options),
        record=record,
    )
    return Planned(reply_of(agent(_with_plan(task, plans.answer))), plans)


async def arun_with_plan_critic(
    agent: AsyncAgent | Agent,
    task: str,
    model: ChatModel | BaseChatModel | ModelSpec | str,
    *,
    rounds: int = 1,
    options: CriticOptions | None = None,
    record: CriticLedger | None = None,
) -> Planned:
    """Do what `run_with_plan_critic` does, in an event loop; see `arun_with_critic`."""
    check_agent(agent)

    async def plan(words: str) -> Any:  # what it is, is looked at where it arrives
        return await acall(agent, f"{words}\n\n{ASK}")

    plans = await arun_with_critic(
        plan,
        task,
        model,
        rounds=rounds,
        options=plan_options(options),
        record=record,
    )
    return Planned(reply_of(await acall(agent, _with_plan(task, plans.answer))), plans)


def _with_plan(task: str, plan: str) -> str:
    return f"{task}\n\n{carry_out(plan)}" if plan.strip() else task
