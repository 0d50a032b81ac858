"""The control of a critic study: the agent tries again, and nobody has criticised it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from ..errors import InputError, SetupError
from ..llm import fence
from ._collect_scores import Agent, answer_of

_log = logging.getLogger(__name__)

TRY_AGAIN = "Try again. Give a complete answer to the task."
"""All that the agent is told beside the task and its own draft."""


def second_attempt(agent: Agent, attempts: int = 1) -> Callable[[str], Awaitable[str]]:
    """Make the arm `again` of an agent: it sees its own draft and tries again.

    The agent is called with the task, which gives the first draft, and then with this text, in
    which the draft stands between two marker lines (`llm.fence`) as a critic would show it::

        TASK

        Your draft:
        <<<MARK
        DRAFT
        MARK>>>

        Try again. Give a complete answer to the task.

    Nothing is said of the draft's quality. The last draft is the answer. As with a critic, a
    further attempt that raises or is empty costs nothing: the draft before it stays, and the
    exception is logged. One in the first attempt is raised, and a `SetupError` in any.

    Args:
        agent: takes a text and gives an answer.
        attempts: how many attempts follow the first; give the critic's number of rounds. A critic
            that accepts early spends less than this control.

    Raises:
        InputError: `attempts` is below 1.
    """
    if attempts < 1:
        raise InputError(f"{attempts} further attempts are none", todo="Give 1 or more.")

    async def again(task: str) -> str:
        draft = await answer_of(agent, task)
        for _ in range(attempts):
            text = f"{task}\n\nYour draft:\n{fence(draft)}\n\n{TRY_AGAIN}"
            try:
                newer = await answer_of(agent, text)
            except (InputError, SetupError):
                raise  # it would be the same for every task
            except Exception:  # noqa: BLE001
                # The border to an agent's code: what it had before its fault is an answer.
                _log.exception("a further attempt failed, its draft stays")
                break
            draft = newer if newer.strip() else draft
        return draft

    return again
