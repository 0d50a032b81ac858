"""The critic as middleware of LangChain's `create_agent`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.errors import GraphBubbleUp

from ...judges.critic import CriticOptions
from ...schema import Critique
from ._agent import STRUCTURED, Found
from ._around import RESULT
from ._checks import answer_options, check_outcome, checked_rounds
from ._limit import UNKNOWN_LEFT, limit_text, too_few
from ._marks import cut_short, failure_in, stands_for, tool_failure
from ._messages import last_answer, last_task, steps_of
from ._reviewing import CriticLedger, Reviewer
from ._rounds import (
    Work,
    asked_last,
    begun,
    drafted,
    failed,
    feedback_of,
    finished,
    stopped,
)
from ._state import cleared_outcome, critic_state
from ._turn import known, made_since
from ._values import text_of_value

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.runtime import Runtime

    from ...llm import ChatModel, ModelSpec


class EndCritic(AgentMiddleware[AgentState[Any], Any, Any]):
    """A critic at the end of an agent: `create_agent(…, middleware=[EndCritic(model)])`.

    When the agent has answered, the critic accepts the answer or names what is missing and which
    checks to run; then the agent goes on, at most `rounds` times. The best draft is the answer: the
    last message, and, where the agent has a `response_format`, the structured response. The
    outcome is under `critic` in the state, and None while a turn is under way. An error of the
    model or of a tool in a revision ends the rounds, and so does a recursion limit that is nearly
    reached; the drafts before survive. It never sees a truth. One instance can serve several agents
    at once; two critics in one agent need an `outcome` each, and the last of the list comes first.

    Source: the end-critic of HeurekaBench (ICLR 2026); see `basanite.judges.critic`.

    Args:
        model: the critic's, best another than the agent's: a LangChain chat model, an endpoint's
            URL, `embedded`, or a basanite model that is open.
        rounds: most revisions.
        options: of the critic.
        record: keeps critiques in a ledger, and takes them from there when a run is repeated.
        outcome: key of the outcome in the state; one that the agent's own state does not have.

    Raises:
        InputError: the model is of no known kind, the rounds are no number, the options are for
            plans, or the outcome is no key.
    """

    def __init__(
        self,
        model: ChatModel | BaseChatModel | ModelSpec | str,
        *,
        rounds: int = 1,
        options: CriticOptions | None = None,
        record: CriticLedger | None = None,
        outcome: str = RESULT,
    ) -> None:
        super().__init__()
        self.rounds = checked_rounds(rounds)
        check_outcome(outcome, "EndCritic")
        self.tools = []
        self.outcome = outcome
        self._work, self._values = f"{outcome}_work", f"{outcome}_values"
        self._left = f"{outcome}_steps_left"
        self.state_schema = critic_state(outcome, (self._work, self._values), self._left)
        self._reviewer = Reviewer(model, answer_options(options), record)

    @property
    def name(self) -> str:
        """Name of its nodes, of its own for each key of the outcome."""
        own = type(self).__name__
        return own if self.outcome == RESULT else f"{own}_{self.outcome}"

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin a new turn."""
        task, start = last_task(state["messages"])
        before = known(state["messages"][:start])
        update = {self._work: begun(task, start, before), self._values: []}
        return update | cleared_outcome(state, self.outcome) | _cleared(state)

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin a new turn."""
        return self.before_agent(state, runtime)

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """Review the draft; go back to the model, or end."""
        found = self._found(state)
        asked = self._question(state, found)
        critique = self._reviewer.review_now(*asked) if asked else None
        return self._judged(state, found, critique)

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any]:
        """Review the draft; go back to the model, or end."""
        found = self._found(state)
        asked = self._question(state, found)
        critique = await self._reviewer.review(*asked) if asked else None
        return self._judged(state, found, critique)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model; in a revision its failure ends the agent's work, not its run."""
        if not self._revising(request.state):
            return handler(request)
        end = cut_short(request.state["messages"], self._steps(request.state))
        if end is not None:
            return end
        try:
            return handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a model may raise anything
            return stands_for(error)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call the model; in a revision its failure ends the agent's work, not its run."""
        if not self._revising(request.state):
            return await handler(request)
        end = cut_short(request.state["messages"], self._steps(request.state))
        if end is not None:
            return end
        try:
            return await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a model may raise anything
            return stands_for(error)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call a tool; in a revision its failure ends the agent's work, not its run."""
        try:
            return handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not self._revising(request.state):
                raise
            return tool_failure(request.tool_call, error)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call a tool; in a revision its failure ends the agent's work, not its run."""
        try:
            return await handler(request)
        except GraphBubbleUp:
            raise
        except Exception as error:
            if not self._revising(request.state):
                raise
            return tool_failure(request.tool_call, error)

    def _revising(self, state: Any) -> bool:
        work = state.get(self._work)
        return bool(work and work["drafts"])

    def _steps(self, state: Any) -> int:
        return int(state.get(self._left, UNKNOWN_LEFT))

    def _failure(self, state: Any) -> tuple[dict[str, Any] | None, str | None]:
        return failure_in(state["messages"]) if self._revising(state) else (None, None)

    def _found(self, state: Any) -> Found:
        """The answer: the structured response, or else a message."""
        work: Work = state[self._work]
        made = made_since(state["messages"], work["before"])
        structured = state.get(STRUCTURED)
        if structured is not None:
            return Found(text_of_value(structured), structured, made)
        text, place = last_answer(made, asked_last(work, "answer"))
        return Found(text, None, made[:place])

    def _question(self, state: Any, found: Found) -> tuple[str, str, list[Any]] | None:
        """Task, draft and steps; None where there is nothing to review."""
        if self._failure(state)[0] is not None or not found.text.strip():
            return None
        return state[self._work]["task"], found.text, steps_of(found.before)

    def _judged(self, state: Any, found: Found, critique: Critique | None) -> dict[str, Any]:
        work: Work = state[self._work]
        values = list(state[self._values])
        mark, id_ = self._failure(state)
        if mark is not None:
            work = failed(work, mark["reason"], mark["message"])
        elif found.text.strip() or not work["drafts"]:
            work = drafted(work, found.text, critique)
            values.append(found.value)
        else:
            work = failed(work, "no_draft", "the revision ended without an answer")
        reason = stopped(work, self.rounds)
        if reason is None and too_few(self._steps(state), at_model=False):
            work = failed(work, "agent_limit", limit_text())
            reason = stopped(work, self.rounds)
        update: dict[str, Any] = {self._work: work, self._values: values}
        if reason is None:
            message = HumanMessage(feedback_of(work, "answer"))
            return update | _cleared(state) | {"messages": [message], "jump_to": "model"}
        outcome = finished(work, reason)
        update[self.outcome] = outcome.model_dump(mode="json")
        value = values[outcome.chosen]
        if mark is not None or found.text != outcome.answer:
            # A message of the id of the one that stands for the failure takes its place.
            update["messages"] = [AIMessage(outcome.answer, id=id_ if mark is not None else None)]
            if value is not None or found.value is not None:
                update[STRUCTURED] = value
        return update


def _cleared(state: Any) -> dict[str, Any]:
    """Take away a structured response, which the agent's next answer may lack."""
    return {STRUCTURED: None} if state.get(STRUCTURED) is not None else {}
