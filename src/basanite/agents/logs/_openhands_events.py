"""OpenHands' events as JSON: of the first generation (`action`), and of its SDK (`kind`)."""

from __future__ import annotations

from collections.abc import Mapping

from ._log import AgentLog, Ending, LogForm
from ._values import LogValues, mapping_in, mappings_in, text_in

_NO_WORK = frozenset({"change_agent_state", "null", "recall", "system"})


def is_openhands(value: Mapping[str, object]) -> bool:
    """Whether an object is one of OpenHands' events."""
    kind = value.get("kind")
    if isinstance(kind, str) and kind.endswith("Event"):
        return "source" in value
    return "source" in value and ("action" in value or "observation" in value)


def read_openhands_events(values: LogValues) -> AgentLog:
    """Read a run: its last finish, if no further action of the agent came after it."""
    final: str | None = None
    said: str | None = None
    ending = Ending.CUT
    for value in values.objects:
        told = _told(value)
        if told is not None:
            final, ending = told, Ending.FINISHED
        elif _is_work(value):
            final, ending = None, Ending.CUT
        elif final is None:
            ending = _state(value) or ending
        said = told or _message(value) or said
    conclusion = final if final and final.strip() else None
    return AgentLog(
        form=LogForm.OPENHANDS_EVENTS,
        ending=ending,
        conclusion=conclusion,
        source=None if conclusion is None else "finish_action",
        last_text=said,
        notes=(f"{values.damaged} damaged lines",) if values.damaged else (),
    )


def _told(value: Mapping[str, object]) -> str | None:
    """What a finish says; an empty text where it says nothing."""
    if value.get("action") == "finish":
        return text_in(value, "args", "final_thought") or text_in(value, "message") or ""
    action = mapping_in(value, "action")
    if value.get("kind") == "ActionEvent" and action.get("kind") == "FinishAction":
        return text_in(action, "message") or ""
    return None


def _is_work(value: Mapping[str, object]) -> bool:
    if value.get("source") != "agent":
        return False
    if value.get("kind") == "ActionEvent":
        return True
    action = value.get("action")
    return isinstance(action, str) and action not in _NO_WORK


def _message(value: Mapping[str, object]) -> str | None:
    if value.get("source") != "agent":
        return None
    if value.get("kind") == "MessageEvent":
        blocks = mappings_in(mapping_in(value, "llm_message"), "content")
        return "\n".join(filter(None, (text_in(block, "text") for block in blocks))) or None
    return text_in(value, "args", "content") if value.get("action") == "message" else None


def _state(value: Mapping[str, object]) -> Ending | None:
    state = text_in(value, "extras", "agent_state")
    if state == "error":
        why = (text_in(value, "extras", "reason") or "") + (text_in(value, "content") or "")
        return Ending.MAX_TURNS if "maximum iteration" in why.lower() else Ending.FAILED
    if value.get("kind") == "ConversationErrorEvent":
        return Ending.FAILED
    return Ending.FINISHED if state == "finished" else None
