"""The critic of the plan as middleware of LangChain's `create_agent`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.errors import GraphBubbleUp

from ...judges.critic import CriticOptions
from ...schema import Critique
from ..end_critic._checks import checked_rounds
from ..end_critic._marks import mark_of, stands_for
from ..end_critic._messages import last_task, steps_of, text_of
from ..end_critic._reviewing import CriticLedger, Reviewer
from ..end_critic._rounds import (
    Work,
    begun,
    drafted,
    failed,
    feedback_of,
    finished,
    stopped,
)
from ..end_critic._state import cleared_outcome
from ..end_critic._turn import known, made_since
from ._options import plan_options
from ._words import ASK, carry_out

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.runtime import Runtime

    from ...llm import ChatModel, ModelSpec


class PlanCriticState(AgentState[Any]):
    """State of an agent whose plan is reviewed."""

    plan_critic: NotRequired[dict[str, Any] | None]
    """The outcome: a `Criticised` as plain JSON."""
    plan_work: NotRequired[Annotated[Work | None, PrivateStateAttr]]
    """None once the plan stands."""


class PlanCritic(AgentMiddleware[PlanCriticState, Any, Any]):
    """A critic of the plan: `create_agent(…, middleware=[PlanCritic(model)])`.

    The agent's model is asked for a plan first, without tools. The critic accepts it or names what
    is missing, at most `rounds` times; then the agent carries out the best plan. The outcome is
    under `plan_critic` in the state; an agent has one critic of this kind. An error of the model
    while it plans again ends the planning; the plan before survives.

    Source: the plan-critic of HeurekaBench (ICLR 2026), which lowered scores there; compare before
    you keep it (`basanite critic-study`).

    Args:
        model: the critic's: a LangChain chat model, an endpoint's URL, `embedded`, or a basanite
            model that is open.
        rounds: most revisions of the plan.
        options: of the critic.
        record: keeps critiques in a ledger, and takes them from there when a run is repeated.

    Raises:
        InputError: the model is of no known kind, or the rounds are no number.
    """

    state_schema = PlanCriticState

    def __init__(
        self,
        model: ChatModel | BaseChatModel | ModelSpec | str,
        *,
        rounds: int = 1,
        options: CriticOptions | None = None,
        record: CriticLedger | None = None,
    ) -> None:
        super().__init__()
        self.rounds = checked_rounds(rounds)
        self.tools = []
        self._reviewer = Reviewer(model, plan_options(options), record)

    def before_agent(self, state: PlanCriticState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin a new turn."""
        messages = state["messages"]
        work = begun(last_task(messages)[0], len(messages), known(messages))
        return {"plan_work": work} | cleared_outcome(state, "plan_critic")

    async def abefore_agent(self, state: PlanCriticState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin a new turn."""
        return self.before_agent(state, runtime)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Ask for a plan as long as there is none; then let the model work."""
        work = request.state.get("plan_work")
        if work is None:
            return handler(request)
        try:
            return handler(_planning(request, work))
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not work["drafts"]:
                raise
            return stands_for(error)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Ask for a plan as long as there is none; then let the model work."""
        work = request.state.get("plan_work")
        if work is None:
            return await handler(request)
        try:
            return await handler(_planning(request, work))
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not work["drafts"]:
                raise
            return stands_for(error)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: PlanCriticState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Review the plan; go back to the model in any case."""
        if state.get("plan_work") is None:
            return None
        asked = _question(state)
        return self._judged(state, self._reviewer.review_now(*asked) if asked else None)

    @hook_config(can_jump_to=["model"])
    async def aafter_model(
        self, state: PlanCriticState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Review the plan; go back to the model in any case."""
        if state.get("plan_work") is None:
            return None
        asked = _question(state)
        return self._judged(state, await self._reviewer.review(*asked) if asked else None)

    def _judged(self, state: PlanCriticState, critique: Critique | None) -> dict[str, Any]:
        work = state["plan_work"]
        assert work is not None
        last = state["messages"][-1]
        mark = mark_of(last)
        if mark is not None:
            work = failed(work, mark["reason"], mark["message"])
        elif text_of(last).strip() or not work["drafts"]:
            work = drafted(work, text_of(last), critique)
        else:
            work = failed(work, "no_draft", "the revision ended without a plan")
        reason = stopped(work, self.rounds)
        if reason is None:
            message = HumanMessage(feedback_of(work, "plan"))
            return {"plan_work": work, "messages": [message], "jump_to": "model"}
        outcome = finished(work, reason)
        messages: list[Any] = [HumanMessage(carry_out(outcome.answer))]
        if mark is not None:  # a message of the same id takes the place of the failure
            messages.insert(0, AIMessage(outcome.answer, id=last.id))
        return {
            "plan_work": None,
            "plan_critic": outcome.model_dump(mode="json"),
            "messages": messages,
            "jump_to": "model",
        }


def _planning(request: Any, work: Work) -> Any:
    """The request without tools, with the words that ask for a plan."""
    messages = list(request.messages)
    if not work["drafts"]:
        messages.append(HumanMessage(ASK))
    return request.override(messages=messages, tools=[], tool_choice=None, response_format=None)


def _question(state: PlanCriticState) -> tuple[str, str, list[Any]] | None:
    work, messages = state["plan_work"], state["messages"]
    assert work is not None
    text = text_of(messages[-1])
    if mark_of(messages[-1]) is not None or not text.strip():
        return None
    return work["task"], text, steps_of(made_since(messages, work["before"])[:-1])
