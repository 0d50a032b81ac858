"""What `codex exec --json` prints."""

from __future__ import annotations

from collections.abc import Mapping

from ._log import AgentLog, Ending, LogForm, LogUsage
from ._values import LogValues, mapping_in, text_in, whole

_WORK = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"}
)


def is_codex(value: Mapping[str, object]) -> bool:
    """Whether an object is one of Codex's."""
    kind = value.get("type")
    return isinstance(kind, str) and kind.startswith(("thread.", "turn.", "item."))


def read_codex_json(values: LogValues) -> AgentLog:
    """Read a run: the last message of its last turn, if that turn was completed."""
    said: str | None = None
    last: str | None = None
    ending = Ending.CUT
    usage: Mapping[str, object] = {}
    turns = 0
    for value in values.objects:
        kind = value.get("type")
        if kind == "turn.started":
            ending, last = Ending.CUT, None
            turns += 1
        elif kind == "turn.completed":
            ending, usage = Ending.FINISHED, mapping_in(value, "usage")
        elif kind in {"turn.failed", "error"}:
            # Errors that Codex gets over by a retry are followed by the rest of the turn.
            ending = Ending.FAILED
        elif kind in {"item.started", "item.completed"}:
            item = mapping_in(value, "item")
            if item.get("type") == "agent_message" and kind == "item.completed":
                said = last = text_in(item, "text")
            elif item.get("type") in _WORK:
                last = None
    last = last if ending is Ending.FINISHED else None
    return AgentLog(
        form=LogForm.CODEX_JSON,
        ending=ending,
        conclusion=last,
        source=None if last is None else "last_message",
        last_text=said,
        usage=LogUsage(
            input_tokens=whole(usage.get("input_tokens")),
            cached_input_tokens=whole(usage.get("cached_input_tokens")),
            output_tokens=whole(usage.get("output_tokens")),
        ),
        turns=turns or None,
        notes=(f"{values.damaged} damaged lines",) if values.damaged else (),
    )
