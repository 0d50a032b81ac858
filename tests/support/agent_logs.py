"""Small logs of every form, for tests that change a line of them."""

from __future__ import annotations

import json

FINDING = "Accuracy is lowest when the gold document lies in the middle, at all lengths tested."


def lines(*objects: object) -> str:
    """Objects as JSON, one a line."""
    return "".join(json.dumps(one) + "\n" for one in objects)


def header(task: str = "lost_in_the_middle") -> str:
    """What FIRE-Bench's wrapper writes."""
    return f"agent_id: some\ntask_id: {task}\nllm_model: m-1\n{'=' * 40}\n"


def claude(result: dict[str, object] | None = None, *between: object) -> str:
    """A run of Claude Code with one tool call."""
    text = {"type": "text", "text": "I will measure."}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "run"}}
    output = {"type": "tool_result", "tool_use_id": "t1", "content": "0.74"}
    end = {"type": "result", "subtype": "success", "is_error": False, "result": FINDING}
    return lines(
        {"type": "system", "subtype": "init", "session_id": "s1", "model": "m-1"},
        {"type": "assistant", "session_id": "s1", "message": {"content": [text, call]}},
        {"type": "user", "session_id": "s1", "message": {"content": [output]}},
        *between,
        *([] if result is None and between else [end | {"session_id": "s1"} | (result or {})]),
    )


def codex_stamped(output: str = "0.74") -> str:
    """A run of an early Codex."""
    at = "[2025-09-24T05:55:0{}] "
    return (
        f"{at.format(0)}OpenAI Codex v0.39.0 (research preview)\n--------\nworkdir: /w\n"
        f"model: gpt-5\n--------\n{at.format(1)}User instructions:\nMeasure.\n"
        f"{at.format(2)}thinking\n\n**Plan**\n"
        f"{at.format(3)}exec bash -lc 'python run.py' in /w\n"
        f"{at.format(4)}bash -lc 'python run.py' succeeded in 12ms:\n{output}\n"
        f"{at.format(4)}tokens used: 251\n"
        f"{at.format(5)}codex\n\n{FINDING}\n{at.format(6)}tokens used: 1,749\n"
    )


def codex_text(output: str = "0.74", end: str | None = None) -> str:
    """A run of a later Codex."""
    end = f"tokens used\n12,709\n{FINDING}\n" if end is None else end
    return (
        "OpenAI Codex v0.98.0 (research preview)\n--------\nworkdir: /w\nmodel: m-1\n--------\n"
        f"user\nMeasure.\ncodex\nI will measure.\nexec\nbash -lc run in /w succeeded in 9ms:\n"
        f"{output}\ncodex\n{FINDING}\n{end}"
    )


def openhands(*events: str) -> str:
    """A run of OpenHands; each event stands after its line with the time."""
    start = "06:00:00 - openhands:INFO: controller.py:1 - to AgentState.RUNNING\n"
    return start + "".join(f"06:00:0{n} - {event}\n" for n, event in enumerate(events))


def finish(text: str) -> str:
    """OpenHands' last action."""
    rest = "outputs={}, thought='', action='finish'"
    return f"ACTION\nAgentFinishAction(final_thought={text!r}, {rest})"
