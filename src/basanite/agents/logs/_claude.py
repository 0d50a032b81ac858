"""Claude Code's `stream-json`, and the same objects as one list."""

from __future__ import annotations

from collections.abc import Mapping

from ._log import AgentLog, Ending, LogForm, LogUsage
from ._values import LogValues, mapping_in, mappings_in, number, text_in, whole

KINDS = frozenset({"assistant", "result", "stream_event", "system", "user"})
_CACHES = ("cache_creation_input_tokens", "cache_read_input_tokens")


def is_claude(value: Mapping[str, object]) -> bool:
    """Whether an object is one of Claude Code's."""
    kind = value.get("type")
    if kind not in KINDS:
        return False
    return "session_id" in value or "subtype" in value or "message" in value or "event" in value


def read_claude(values: LogValues) -> AgentLog:
    """Read a run: its `result`, or how far it came.

    What subagents say (`parent_tool_use_id`) is not what the agent says. A `result` of another
    session than the one that was opened last is not this run's.
    """
    opened: Mapping[str, object] = {}
    result: Mapping[str, object] | None = None
    said: str | None = None
    last: str | None = None
    strange = 0
    for value in values.objects:
        kind = value.get("type")
        if kind == "system" and value.get("subtype") == "init":
            opened, result, last = value, None, None
        elif kind == "result":
            if _differ(opened, value):
                strange += 1
            else:
                result = value
        elif kind == "assistant" and not value.get("parent_tool_use_id"):
            text, calls = _message(value)
            said = text or said
            # A message that calls a tool is not the final one.
            last = None if calls else text
        elif kind == "user" and not value.get("parent_tool_use_id"):
            last = None
    found = _ended(result, last)
    notes = []
    if values.damaged:
        notes.append(f"{values.damaged} damaged lines")
    if strange:
        notes.append(f"{strange} results of another session")
    usage = mapping_in(result or {}, "usage")
    milliseconds = number((result or {}).get("duration_ms"))
    return AgentLog(
        form=LogForm.CLAUDE,
        ending=found[0],
        conclusion=found[1],
        source=found[2],
        last_text=text_in(result, "result") or said,
        model=text_in(opened, "model"),
        usage=_usage(usage),
        cost_usd=number((result or {}).get("total_cost_usd")),
        seconds=None if milliseconds is None else milliseconds / 1000,
        turns=whole((result or {}).get("num_turns")),
        notes=tuple(notes),
    )


def _ended(
    result: Mapping[str, object] | None, last: str | None
) -> tuple[Ending, str | None, str | None]:
    if result is None:
        return Ending.CUT, None, None
    if result.get("subtype") == "error_max_turns":
        return Ending.MAX_TURNS, None, None
    if result.get("subtype") != "success" or result.get("is_error") is True:
        return Ending.FAILED, None, None
    text = text_in(result, "result")
    if text is not None:
        return Ending.FINISHED, text, "result"
    return Ending.FINISHED, last, None if last is None else "last_message"


def _differ(opened: Mapping[str, object], result: Mapping[str, object]) -> bool:
    one, other = opened.get("session_id"), result.get("session_id")
    return one is not None and other is not None and one != other


def _message(value: Mapping[str, object]) -> tuple[str | None, bool]:
    message = mapping_in(value, "message")
    blocks = list(mappings_in(message, "content"))
    texts = [text_in(block, "text") for block in blocks if block.get("type") == "text"]
    text = "\n".join(filter(None, texts)) or text_in(message, "content")
    return text, any(block.get("type") == "tool_use" for block in blocks)


def _usage(usage: Mapping[str, object]) -> LogUsage:
    fresh = whole(usage.get("input_tokens"))
    cached = [whole(usage.get(name)) or 0 for name in _CACHES]
    return LogUsage(
        # Claude Code counts what a cache holds apart from the input.
        input_tokens=None if fresh is None else fresh + sum(cached),
        cached_input_tokens=whole(usage.get(_CACHES[1])),
        output_tokens=whole(usage.get("output_tokens")),
    )
