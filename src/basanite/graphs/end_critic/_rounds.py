"""What happens after each draft: the same rules for graphs, middleware and plain functions.

The state between the rounds is plain JSON, so that a checkpointer can keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...judges.critic import CriticKind, feedback
from ...schema import Criticised, CriticVerdict, Critique, Draft, StopReason, best_draft

Work = dict[str, Any]
"""`task`, `start` (messages before the agent began), `before` (their names), `drafts`; and
`failure` after a failure."""


def begun(task: str, start: int, before: Sequence[str] = ()) -> Work:
    """The state before the first draft."""
    return {"task": task, "start": start, "before": list(before), "drafts": []}


def failed(work: Work, reason: StopReason, message: str) -> Work:
    """The state after an agent has failed in a revision."""
    return {**work, "failure": {"reason": reason, "message": message}}


def drafted(work: Work, text: str, critique: Critique | None) -> Work:
    """The state after a draft and its critique."""
    draft = Draft(round=len(work["drafts"]), text=text, critique=critique)
    return {**work, "drafts": [*work["drafts"], draft.model_dump(mode="json")]}


def drafts_of(work: Work) -> list[Draft]:
    """The drafts so far."""
    return [Draft.model_validate(one) for one in work["drafts"]]


def stopped(work: Work, rounds: int) -> StopReason | None:
    """Say why no further draft is asked for; None where the agent should revise.

    Args:
        work: after a draft or a failure.
        rounds: most revisions.
    """
    if "failure" in work:
        reason: StopReason = work["failure"]["reason"]
        return reason
    critique = work["drafts"][-1]["critique"]
    if critique is None:
        return "no_draft"
    if critique["verdict"] is None:
        return "critic_failed"
    if critique["verdict"] == CriticVerdict.ACCEPT:
        return "accepted"
    return "rounds_used" if len(work["drafts"]) > rounds else None


def feedback_of(work: Work, kind: CriticKind) -> str:
    """The words that go back to the agent."""
    return feedback(Critique.model_validate(work["drafts"][-1]["critique"]), kind)


def asked_last(work: Work, kind: CriticKind) -> str:
    """The feedback that the agent answers now; empty before the first draft."""
    return feedback_of(work, kind) if work["drafts"] else ""


def finished(work: Work, reason: StopReason) -> Criticised:
    """Choose among the drafts."""
    drafts = drafts_of(work)
    message = work.get("failure", {}).get("message")
    if reason == "critic_failed" and drafts[-1].critique is not None:
        message = drafts[-1].critique.message
    return Criticised(
        drafts=tuple(drafts), chosen=best_draft(drafts), stop_reason=reason, message=message
    )


def failure_of(error: Exception) -> tuple[StopReason, str]:
    """Name what ended an agent's revision."""
    from langgraph.errors import GraphRecursionError

    reason: StopReason = "agent_limit" if isinstance(error, GraphRecursionError) else "agent_failed"
    text = str(error).strip().splitlines()
    return reason, f"{type(error).__name__}: {text[0][:500]}" if text else type(error).__name__
