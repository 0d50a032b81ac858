"""A critic's arguments, looked at before the agent runs: what is wrong here would cost its work."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...errors import InputError
from ...judges.critic import CriticOptions
from ...llm import ChatModel, ModelSpec, check_spec

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_LANGCHAIN_NAME = re.compile(r"(?!https?:)[a-z][a-z0-9_-]*:(?!//)(?!\d+(/|$))[^@?]+")
"""`provider:model` of LangChain's `init_chat_model`; what follows a host's colon is a number."""
ATTEMPT_SECONDS = 90.0
"""Deadline of one attempt at a request, where the user gives no `ModelSpec`. The agent waits: a
critic that does not answer should cost it less than the six minutes of two longer attempts."""

_KINDS = "a LangChain chat model, an endpoint's URL, 'embedded', or a basanite model"


def checked_model(
    model: ChatModel | BaseChatModel | ModelSpec | str,
) -> ChatModel | BaseChatModel | ModelSpec:
    """Refuse what no critic can ask; an address becomes a `ModelSpec`.

    Raises:
        InputError: it is of no known kind, or its address can't be one.
    """
    if isinstance(model, str):
        _check_text(model)
        model = ModelSpec(endpoint=model, attempt_seconds=ATTEMPT_SECONDS)
    if isinstance(model, ModelSpec):
        check_spec(model)
        return model
    if isinstance(model, ChatModel):
        return model
    from langchain_core.language_models import BaseChatModel

    if not isinstance(model, BaseChatModel):
        raise InputError(f"a critic can't ask a {type(model).__name__}", todo=f"Give {_KINDS}")
    return model


def checked_options(options: CriticOptions | None) -> CriticOptions:
    """Refuse options of another type; None stands for the defaults.

    Raises:
        InputError: as said.
    """
    if options is None:
        return CriticOptions()
    if not isinstance(options, CriticOptions):
        raise InputError(
            f"options of a critic are CriticOptions, not a {type(options).__name__}",
            where="options",
            todo="Give CriticOptions(criteria=…, …) of basanite.judges.critic",
        )
    return options


def checked_rounds(rounds: object) -> int:
    """Most revisions, as a whole number from 0 on.

    Raises:
        InputError: it is none.
    """
    if not isinstance(rounds, int) or isinstance(rounds, bool):
        raise InputError(
            f"{rounds!r} rounds can't be made",
            where="rounds",
            todo="Give a whole number, such as 1",
        )
    if rounds < 0:
        raise InputError(f"{rounds} rounds can't be made", where="rounds", todo="Give 0 or more")
    return rounds


def answer_options(options: CriticOptions | None) -> CriticOptions:
    """Options of a critic of answers.

    Raises:
        InputError: they are for plans, or no options.
    """
    options = checked_options(options)
    if options.kind != "answer":
        raise InputError(
            f"an end-critic reviews answers, and these options are for a {options.kind}",
            where="options",
            todo="Leave kind out, or use the critics of basanite.graphs.plan_critic",
        )
    return options


def check_outcome(outcome: object, where: str) -> None:
    """Refuse what is no key of a state.

    Raises:
        InputError: as said.
    """
    if not isinstance(outcome, str) or not outcome.strip():
        raise InputError(
            f"{outcome!r} is no key for the critic's outcome",
            where=where,
            todo="Leave it out, or give a name such as outcome='review'",
        )


def check_task(task: object) -> None:
    """Refuse a task that says nothing.

    Raises:
        InputError: it is no text, or blank.
    """
    if not isinstance(task, str):
        raise InputError(f"the task is a {type(task).__name__}", todo="Give a text")
    if not task.strip():
        raise InputError("the task is empty", todo="Say what the agent is asked")


def check_agent(agent: object) -> None:
    """Refuse what can't be called with a task.

    Raises:
        InputError: as said; a graph is named, since it has a critic of its own.
    """
    if not callable(agent):
        graph = callable(getattr(agent, "invoke", None))
        raise InputError(
            f"the agent is a {type(agent).__name__}, which can't be called with a task",
            todo="Put the critic around a graph with with_end_critic or with_plan_critic"
            if graph
            else "Give a function from a task's text to an answer",
        )


def is_async(function: Callable[..., object]) -> bool:
    """Whether a call gives a coroutine, as far as can be told without calling it."""
    from inspect import iscoroutinefunction

    # An object may be awaitable by its own `async def __call__`, which its class has.
    own = getattr(type(function), "__call__", None)  # noqa: B004
    return iscoroutinefunction(function) or iscoroutinefunction(own)


def _check_text(model: str) -> None:
    """Say what to do with a name that is no address; `check_spec` refuses other wrong addresses."""
    name = model.strip()
    if _LANGCHAIN_NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is a name for LangChain and not a model",
            todo=f"Give init_chat_model({name!r}) of langchain.chat_models, or an endpoint's URL",
        )
    if name and name != "embedded" and not re.search(r"[:/@?.]", name):
        raise InputError(
            f"{name!r} is no HTTP address",
            todo=f"Give {_KINDS}; a model that an endpoint lists under this name is "
            f"ModelSpec('http://HOST:PORT/v1', model={name!r}) of basanite.llm",
        )
