"""An agent's graph as a node of another: what goes in, what comes out, and where the answer is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp, ParentCommand
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Overwrite

from ...errors import InputError
from ._checks import check_outcome
from ._messages import AGENT, copied, last_answer, last_task, like, said_again, source_of
from ._schema import carried, hints_of, open_to, reduced, typed
from ._turn import known, made_since
from ._values import text_of_value

State = dict[str, Any]
Reading = str | Callable[[State], str] | None
"""A key of the state, a function of the state, or None for the usual place."""

STRUCTURED = "structured_response"
"""Where LangChain's `create_agent` puts the answer of an agent with a `response_format`."""


@dataclass(frozen=True, slots=True)
class StateKeys:
    """Where a graph's state holds what the critic reads, and what it gives."""

    messages: str = "messages"
    """A list of messages, plain or with a reducer."""
    task: Reading = None
    """None takes the last message of the user in the input."""
    answer: Reading = None
    """None takes the structured response where there is one, otherwise the last message of the
    agent. Where it is a key, the chosen draft is put there; otherwise it is appended to the
    messages, unless it is the last of them already. For a function, that is the whole message in
    which it found the draft, so that it finds it again."""
    outcome: str | None = None
    """A new key for the critic's outcome; None takes `critic`, and `plan_critic` for plans."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer in a state."""

    text: str
    """Empty where there is no answer."""
    value: object
    """What the key holds, where that is no text; where a function found the answer, the message
    that it stands in."""
    before: Sequence[object]
    """The messages of this turn that come before it."""
    failed: str | None = None
    """Why it could not be read; None where it could."""


class UnreadState(InputError):
    """A function of the user's that reads the state has raised an error."""


class AgentGraph:
    """An agent's graph, seen through the keys of its state.

    Args:
        graph: the agent.
        keys: where its state holds what.
        own: keys that the critic adds to the state.

    Raises:
        InputError: the state lacks a key, or has one of the critic's already.
    """

    def __init__(
        self,
        graph: CompiledStateGraph[Any, Any, Any, Any],
        keys: StateKeys,
        own: Sequence[str],
    ) -> None:
        builder = graph.builder
        self.keys, self._channels = keys, builder.channels
        hints = hints_of(builder)
        self._input = {k: hints[k] for k in builder.schemas[builder.input_schema] if k in hints}
        self._output = {k: hints[k] for k in builder.schemas[builder.output_schema] if k in hints}
        public = self._input | self._output
        self._check(public, own)
        private = {k: hint for k, hint in hints.items() if carried(self._channels[k])}
        self._all = private | public
        self.graph = open_to(graph, self._all)
        self.plain = not reduced(self._channels[keys.messages])
        place = keys.answer if isinstance(keys.answer, str) else None
        if keys.answer is None and STRUCTURED in self._output:
            place = STRUCTURED
        self._place = place
        self.made = place if place in self._output and place not in self._input else None
        """The answer's key where only the agent sets it: each run must do so anew."""

    def _check(self, public: dict[str, Any], own: Sequence[str]) -> None:
        keys = self.keys
        needed = [keys.messages, *(k for k in (keys.task, keys.answer) if isinstance(k, str))]
        for key in needed:
            if key not in public:
                raise InputError(
                    f"the graph's state has no key {key!r}",
                    where="StateKeys",
                    todo=f"Its keys are: {', '.join(sorted(public))}",
                )
        for key in own:
            if key in self._channels:
                raise InputError(
                    f"the graph's state has a key {key!r} already, and the critic needs it",
                    where="StateKeys",
                    todo="Give the critic another one: StateKeys(outcome='review')",
                )

    def builder(
        self, result: dict[str, Any], private: dict[str, Any]
    ) -> StateGraph[Any, Any, Any, Any]:
        """Begin a graph around it: of its input and output, with more keys of its own.

        Args:
            result: names and types of keys that the output has as well.
            private: of keys that only the nodes see.
        """
        return StateGraph(
            typed("State", self._all | result | private),
            context_schema=self.graph.builder.context_schema,
            input_schema=typed("Input", self._input),
            output_schema=typed("Output", self._output | result),
        )

    def run(self, given: State, config: RunnableConfig) -> State:
        """Run the agent, and give all of its state that lasts."""
        try:
            return self.graph.invoke(given, config, output_keys=list(self._all))
        except ParentCommand as bubble:
            raise _past(bubble, config) from None

    async def arun(self, given: State, config: RunnableConfig) -> State:
        """Do what `run` does."""
        try:
            return await self.graph.ainvoke(given, config, output_keys=list(self._all))
        except ParentCommand as bubble:
            raise _past(bubble, config) from None

    def input_of(self, state: State, messages: list[Any] | None = None) -> dict[str, Any]:
        """What the agent gets: copies of lists and messages, since some agents change theirs.

        Args:
            state: of the whole.
            messages: in place of the state's.
        """
        given = {
            name: self.instead(name, copy.copy(one) if isinstance(one, list | dict) else one)
            for name, one in state.items()
            if name in self._all and name != self.made
        }
        # Messages go through their reducer, which gives ids and takes every form.
        found = state.get(self.keys.messages) if messages is None else messages
        if found is not None:
            given[self.keys.messages] = copied(found)
        return given

    def cleared(self, state: State) -> dict[str, Any]:
        """Take away an answer that the agent itself would set anew."""
        if self.made is None or state.get(self.made) is None:
            return {}
        return {self.made: self.instead(self.made, None)}

    def update_of(self, output: State) -> dict[str, Any]:
        """What the agent gave, as an update of the whole: its values stand for what was there."""
        return {name: self.instead(name, output[name]) for name in self._all if name in output}

    def instead(self, name: str, value: object) -> object:
        """Give a value past its channel's reducer."""
        return Overwrite(value) if reduced(self._channels[name]) else value

    def messages(self, state: State) -> list[object]:
        found = state.get(self.keys.messages)
        return list(found) if isinstance(found, list | tuple) else []

    def task(self, state: State) -> tuple[str, list[str]]:
        """The task, and the names of the messages that come before the agent's own."""
        messages = self.messages(state)
        if self.keys.task is not None:
            return self._read(self.keys.task, state)[0], known(messages)
        task, start = last_task(messages)
        return task, known(messages[:start])

    def draft(self, state: State, before: Sequence[str], asked: str) -> Found:
        """The answer to the last request.

        Args:
            state: of the whole.
            before: names of the messages before this turn; see `task`.
            asked: the last feedback; empty before the first draft.
        """
        made = made_since(self.messages(state), before)
        reading = self.keys.answer or self._place
        if reading is not None:
            text, value = self._read(reading, state)
            if callable(reading):
                value = source_of(made, text)
            if text.strip() or self.keys.answer is not None:
                return Found(text, value, made)
        text, place = last_answer(made, asked)
        return Found(text, None, made[:place])

    def placed(self, state: State, found: Found, text: str, value: object) -> dict[str, Any]:
        """Put the chosen draft where the answer is looked for, if another one is there.

        Args:
            state: of the whole.
            found: what is there now.
            text: of the chosen draft.
            value: what its key held, where that was no text.
        """
        if not text or found.text == text:
            return {}
        if isinstance(self.keys.answer, str):
            chosen = text if value is None else value
            return {self.keys.answer: self.instead(self.keys.answer, chosen)}
        update: dict[str, Any] = {}
        if self._place is not None and (value is not None or found.value is not None):
            update[self._place] = self.instead(self._place, value)
        messages = self.messages(state)
        again = like(messages, AGENT, text)
        if callable(self.keys.answer) and value is not None:
            again = said_again(value)
        whole = [*messages, again]
        return update | {self.keys.messages: whole if self.plain else whole[-1:]}

    @staticmethod
    def _read(reading: str | Callable[[State], str], state: State) -> tuple[str, object]:
        value = state.get(reading) if isinstance(reading, str) else _called(reading, state)
        return text_of_value(value), None if isinstance(value, str) else value


def _called(reading: Callable[[State], object], state: State) -> object:
    try:
        return reading(state)
    except GraphBubbleUp:
        raise
    except Exception as error:
        name = getattr(reading, "__qualname__", type(reading).__name__)
        raise UnreadState(
            f"the function {name} raised {type(error).__name__}: {error}",
            where="StateKeys",
            todo="Let it return an empty text where it finds nothing",
        ) from error


def _past(bubble: ParentCommand, config: RunnableConfig) -> ParentCommand:
    """A command for the graph around the agent means the one around us both."""
    command: Command[Any] = bubble.args[0]
    here = config.get("configurable", {}).get("checkpoint_ns", "")
    if _levels(command.graph) != _levels(here):
        return bubble
    return ParentCommand(replace(command, graph=Command.PARENT))


def _levels(namespace: str | None) -> list[str]:
    """Levels of a checkpoint's namespace, without the numbers of concurrent tasks."""
    return [level for level in (namespace or "").split("|") if not level.isdigit()]


def checked_keys(keys: object) -> StateKeys:
    """Check what a user gave as the keys."""
    if keys is None:
        return StateKeys()
    if not isinstance(keys, StateKeys):
        raise InputError(
            f"keys of the state are StateKeys, not a {type(keys).__name__}",
            where="keys",
            todo="Say for example StateKeys(messages='log', answer='finding')",
        )
    if keys.outcome is not None:
        check_outcome(keys.outcome, "StateKeys")
    return keys
