"""OpenHands' log: lines with times, and events printed as Python objects."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from ._log import AgentLog, Ending, LogForm

EVENT = re.compile(r"\d\d:\d\d:\d\d - (?P<kind>ACTION|OBSERVATION|openhands:\w+)")
"""A line with which an event, or a message of the log, begins."""
_LINE = re.compile(r"\d\d:\d\d:\d\d - ")
FINISH = "AgentFinishAction("
_THOUGHT = re.compile(
    r"AgentFinishAction\(final_thought=(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\s*[,)]",
    re.DOTALL,
)
_NO_WORK = ("ChangeAgentStateAction(", "NullAction(", "RecallAction(")
_TURNS = re.compile(r"\bmaximum (?:number of )?iterations?\b", re.IGNORECASE)


@dataclass(slots=True)
class _Event:
    kind: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def read_openhands(text: str) -> AgentLog:
    """Read a run: its last finish, if no further action came after it.

    Only actions count: an observation may show the log of another run.
    """
    events = [_Event("")]
    for line in text.split("\n"):
        found = EVENT.match(line)
        if found is not None or _LINE.match(line):
            events.append(_Event(found["kind"] if found else "other", [line]))
        else:
            events[-1].lines.append(line)
    acts = [event for event in events if event.kind == "ACTION"]
    if not acts:  # the head is missing, or another version marks no actions
        acts = [event for event in events if event.kind != "OBSERVATION" and FINISH in event.text]
    acts = [event for event in acts if not any(word in event.text for word in _NO_WORK)]
    final = _thought(acts[-1].text) if acts else None
    said = next((t for event in reversed(acts) if (t := _thought(event.text))), None)
    if final is not None:
        ending = Ending.FINISHED
    else:
        told = "\n".join(e.text for e in events if e.kind not in {"ACTION", "OBSERVATION"})
        ending = _ending(told, unfinished=bool(acts) and FINISH in acts[-1].text)
    conclusion = final if final and final.strip() else None
    return AgentLog(
        form=LogForm.OPENHANDS,
        ending=ending,
        conclusion=conclusion,
        source=None if conclusion is None else "finish_action",
        last_text=said,
    )


def _thought(text: str) -> str | None:
    """The text of an event's finish; None where there is none, or no complete one."""
    found = None
    for found in _THOUGHT.finditer(text):  # noqa: B007
        pass
    if found is None:
        return None
    try:
        value = ast.literal_eval(found["text"])
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str) else None


def _ending(told: str, *, unfinished: bool) -> Ending:
    if unfinished:
        return Ending.CUT
    if _TURNS.search(told):
        return Ending.MAX_TURNS
    if "to AgentState.ERROR" in told:
        return Ending.FAILED
    return Ending.FINISHED if "to AgentState.FINISHED" in told else Ending.CUT
