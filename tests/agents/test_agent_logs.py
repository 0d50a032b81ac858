"""Conclusions from agents' logs: the given ones, and the ways in which they mislead."""

import json
from pathlib import Path

import pytest

from basanite.agents.logs import AgentLog, Doubt, Ending, LogForm, doubts_of, parse_log, read_log
from basanite.errors import InputError
from support import agent_logs as logs
from support.reference import reference

GIVEN = {
    "claude_stream.log": (LogForm.CLAUDE, Ending.FINISHED, "against the start (0.74)."),
    "claude_max_turns.jsonl": (LogForm.CLAUDE, Ending.MAX_TURNS, None),
    "codex_0_98.log": (LogForm.CODEX_TEXT, Ending.FINISHED, "context better than its middle."),
    "codex_json.jsonl": (LogForm.CODEX_JSON, Ending.FINISHED, "document lies in the middle."),
    "openhands.log": (LogForm.OPENHANDS, Ending.FINISHED, "café prompts behave alike."),
}


@pytest.mark.parametrize("name", GIVEN)
def test_given_logs(name: str) -> None:
    form, ending, end = GIVEN[name]
    found = read_log(reference("agent_logs") / name)
    assert (found.form, found.ending) == (form, ending)
    assert (found.conclusion is None) == (end is None)
    assert end is None or (found.conclusion or "").endswith(end)
    assert found.doubts == ()


def test_given_logs_in_detail() -> None:
    folder = reference("agent_logs")
    claude = read_log(folder / "claude_stream.log")
    assert claude.header is not None
    assert (claude.header.agent_id, claude.header.task_id) == ("claude_code", "lost_in_the_middle")
    assert (claude.cost_usd, claude.turns, claude.usage.output_tokens) == (0.154274, 3, 562)
    assert claude.usage.input_tokens == 35 + 25422 + 74989
    turns = read_log(folder / "claude_max_turns.jsonl")
    assert (turns.no_conclusion, turns.cost_usd) == ("max_turns", 0.91)
    # What it said last is a placeholder, and no conclusion.
    assert turns.last_text == "Results pending: the experiment is still running."
    codex = read_log(folder / "codex_0_98.log")
    assert (codex.model, codex.usage.total_tokens) == ("gpt-5.3-codex", 12709)
    # Log lines of its core stand between the blocks, and in no message.
    assert "codex_core" not in (codex.conclusion or "")
    openhands = read_log(folder / "openhands.log")
    assert (openhands.conclusion or "").count("\n") == 1
    assert "The model's use" in (openhands.conclusion or "")
    assert read_log(folder / "codex_json.jsonl").usage.cached_input_tokens == 8192


@pytest.mark.parametrize("name", GIVEN)
def test_given_logs_cut_off_anywhere(name: str) -> None:
    data = (reference("agent_logs") / name).read_bytes()
    whole = parse_log(data.decode()).conclusion
    # OpenHands' sample holds a draft that it finished with before it went on.
    drafts = {"First draft: accuracy falls in the middle."} if name == "openhands.log" else set()
    without = 0
    for end in range(1, len(data)):
        found = parse_log(data[:end].decode("utf-8", "replace"))
        if found.conclusion is None:
            without += 1
            assert found.no_conclusion in {"cut", "unknown", "max_turns"}
        else:
            assert found.conclusion in {whole, *drafts}, end
    assert without > 0.6 * len(data)


EVERY = {
    LogForm.CLAUDE: logs.claude(),
    LogForm.CODEX_STAMPED: logs.codex_stamped(),
    LogForm.CODEX_TEXT: logs.codex_text(),
    LogForm.CODEX_JSON: logs.lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": logs.FINDING}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
    ),
    LogForm.OPENHANDS: logs.openhands("ACTION\nCmdRunAction", logs.finish(logs.FINDING)),
    LogForm.OPENHANDS_EVENTS: logs.lines(
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "run"}},
        {"id": 2, "source": "agent", "observation": "run", "content": "0.74"},
        {"id": 3, "source": "agent", "action": "finish", "args": {"final_thought": logs.FINDING}},
        {"id": 4, "source": "environment", "observation": "agent_state_changed",
         "extras": {"agent_state": "finished"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", EVERY)
@pytest.mark.parametrize("before", ["", logs.header(), "npm warn a package is old\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_form_with_and_without_header(form: LogForm, before: str, newline: str) -> None:
    found = parse_log((before + EVERY[form]).replace("\n", newline))
    assert found.form is form
    assert (found.ending, found.conclusion) == (Ending.FINISHED, logs.FINDING)
    assert (found.header is not None) == before.startswith("agent_id")


@pytest.mark.parametrize("form", EVERY)
@pytest.mark.parametrize("shown", EVERY)
def test_a_log_that_shows_another_one_is_still_its_own(form: LogForm, shown: LogForm) -> None:
    other = EVERY[shown].replace(logs.FINDING, "Forged: accuracy does not depend on anything.")
    found = parse_log(_with_output(form, other))
    assert (found.form, found.conclusion) == (form, logs.FINDING)


def _with_output(form: LogForm, output: str) -> str:
    """A log of a form in which a tool printed some text."""
    if form is LogForm.CLAUDE:
        block = {"type": "tool_result", "tool_use_id": "t1", "content": output}
        return logs.claude({}, {"type": "user", "message": {"content": [block]}})
    if form is LogForm.CODEX_STAMPED:
        return logs.codex_stamped(output)
    if form is LogForm.CODEX_TEXT:
        return logs.codex_text(output)
    if form is LogForm.CODEX_JSON:
        work = {"type": "command_execution", "aggregated_output": output}
        first, rest = EVERY[form].split("\n", 1)
        return first + "\n" + logs.lines({"type": "item.completed", "item": work}) + rest
    if form is LogForm.OPENHANDS:
        # An observation that itself holds lines with times would be events of this log.
        plain = "\n".join(line for line in output.split("\n") if not line.startswith("06:"))
        return logs.openhands(
            "ACTION\nCmdRunAction", logs.finish(logs.FINDING), "OBSERVATION\n" + plain
        )
    event = {"id": 2, "source": "agent", "observation": "run", "content": output}
    return logs.lines({"id": 1, "source": "agent", "action": "run"}, event) + EVERY[form]


def test_stamps_in_a_tool_output_make_no_codex_log() -> None:
    # Three such stamps make the published reader take a Claude log for one of Codex.
    stamps = "\n".join(f"[2026-02-12T06:02:4{n}] codex" for n in range(5))
    block = {"type": "tool_result", "tool_use_id": "t1", "content": stamps}
    found = parse_log(logs.claude({}, {"type": "user", "message": {"content": [block]}}))
    assert (found.form, found.conclusion) == (LogForm.CLAUDE, logs.FINDING)
    bare = "[2026-02-12T06:02:49] step 1\n[2026-02-12T06:02:50] step 2\n"
    assert parse_log(logs.codex_stamped(bare)).conclusion == logs.FINDING
    assert parse_log(bare * 3).form is LogForm.UNKNOWN


def _claude(**result: object) -> AgentLog:
    return parse_log(logs.claude(result))


def test_claude_ends() -> None:
    assert _claude(subtype="error_max_turns", is_error=True).no_conclusion == "max_turns"
    assert _claude(subtype="error_during_execution", is_error=True).no_conclusion == "failed"
    # An error of the service comes as a success whose result is the error's text.
    failed = _claude(is_error=True, result="API Error: 529 overloaded")
    assert (failed.conclusion, failed.ending) == (None, Ending.FAILED)
    # The last message before an empty result called a tool.
    assert _claude(result="").no_conclusion == "no_final_message"
    text = [{"type": "text", "text": logs.FINDING}]
    said = {"type": "assistant", "session_id": "s1", "message": {"content": text}}
    found = parse_log(logs.claude({"result": None}, said))
    assert (found.conclusion, found.source) == (logs.FINDING, "last_message")
    cut = parse_log(logs.claude(None, said))
    assert (cut.conclusion, cut.no_conclusion, cut.last_text) == (None, "cut", logs.FINDING)


def test_claude_subagents_sessions_lists_and_damage() -> None:
    text = [{"type": "text", "text": "A subagent's report."}]
    sub = {"type": "assistant", "parent_tool_use_id": "t1", "message": {"content": text}}
    assert parse_log(logs.claude({"result": ""}, sub)).conclusion is None
    other = {"type": "result", "subtype": "success", "result": "Forged", "session_id": "s2"}
    found = parse_log(logs.claude() + logs.lines(other))
    assert (found.conclusion, found.notes) == (logs.FINDING, ("1 results of another session",))
    objects = [json.loads(line) for line in logs.claude().splitlines()]
    for document in (json.dumps(objects), json.dumps(objects, indent=2)):
        assert parse_log(document).conclusion == logs.FINDING
        assert parse_log(document[: len(document) // 2]).no_conclusion == "cut"
    damaged = parse_log(logs.claude().replace('"user"', '"user'))
    assert (damaged.conclusion, damaged.notes) == (logs.FINDING, ("1 damaged lines",))


def test_codex_ends() -> None:
    assert parse_log(logs.codex_stamped()).usage.total_tokens == 2000
    stamped = logs.codex_stamped()
    assert parse_log(stamped[: stamped.rindex("tokens used")]).no_conclusion == "cut"
    # The end is an agent's word for word, or it is none.
    forged = logs.codex_text(end="exec\ncat log\ntokens used\n9\nForged.\n")
    assert parse_log(forged).no_conclusion == "cut"
    assert parse_log(logs.codex_text(end="")).no_conclusion == "cut"
    bare = parse_log(logs.codex_text(end="tokens used\n12,709\n"))
    assert (bare.conclusion, bare.usage.total_tokens) == (logs.FINDING, 12709)
    noise = "2026-02-12T06:02:49.288437Z ERROR codex_core::rollout: gone\n"
    end = f"{noise}tokens used\n7\n{logs.FINDING}\n{noise}"
    assert parse_log(logs.codex_text(end=end)).conclusion == logs.FINDING
    # A message may hold the words with which blocks begin.
    split = f"{logs.FINDING}\nuser\nprompts behave alike."
    text = logs.codex_text(end=f"user\nprompts behave alike.\ntokens used\n7\n{split}\n")
    assert parse_log(text).no_conclusion == "cut"
    work = {"type": "item.completed", "item": {"type": "command_execution"}}
    rows = EVERY[LogForm.CODEX_JSON].splitlines(keepends=True)
    assert parse_log("".join(rows[:3]) + logs.lines(work) + rows[3]).no_conclusion == (
        "no_final_message"
    )
    failed = parse_log("".join(rows[:3]) + logs.lines({"type": "turn.failed"}))
    assert (failed.no_conclusion, failed.last_text) == ("failed", logs.FINDING)
    retried = parse_log("".join(rows[:2]) + logs.lines({"type": "error"}) + "".join(rows[2:]))
    assert retried.conclusion == logs.FINDING


def test_openhands_ends() -> None:
    for text in ('It\'s "both"\n(a, b)', "tab\t\\n 'x', outputs=", "naïve 日本"):
        assert parse_log(logs.openhands(logs.finish(text))).conclusion == text
    draft, work = logs.finish("A first draft."), "ACTION\nCmdRunAction"
    went_on = parse_log(logs.openhands(draft, work))
    assert (went_on.no_conclusion, went_on.last_text) == ("cut", "A first draft.")
    state = "ACTION\nChangeAgentStateAction(agent_state='finished')"
    assert parse_log(logs.openhands(logs.finish(logs.FINDING), state)).conclusion == logs.FINDING
    info = "openhands:ERROR: c.py:1 - {}"
    turns = info.format("Agent reached maximum iteration in headless mode")
    assert parse_log(logs.openhands(work, turns)).no_conclusion == "max_turns"
    error = info.format("state from AgentState.RUNNING to AgentState.ERROR")
    assert parse_log(logs.openhands(work, error)).no_conclusion == "failed"
    empty = parse_log(logs.openhands(logs.finish("")))
    assert empty.no_conclusion == "no_final_message"
    coloured = "\x1b[92m06:00:00 - ACTION\x1b[0m\n" + logs.finish(logs.FINDING)[7:]
    assert parse_log(coloured).conclusion == logs.FINDING
    sdk = logs.lines(
        {"kind": "ActionEvent", "source": "agent", "action": {"kind": "TerminalAction"}},
        {"kind": "ActionEvent", "source": "agent",
         "action": {"kind": "FinishAction", "message": logs.FINDING}},
    )  # fmt: skip
    assert parse_log(sdk).conclusion == logs.FINDING
    assert parse_log(sdk.splitlines()[0]).no_conclusion == "cut"


@pytest.mark.parametrize(
    ("text", "doubts"),
    [
        ("Results pending: the experiment is still running.", {"placeholder", "fragment"}),
        ("The scripts are currently running; I will report the numbers once they are done, and "
         "then conclude.", {"placeholder"}),
        ("```py\nimport json\nprint(json.load(open('results/accuracy_by_place.json')))\n```\n",
         {"code"}),
        ("import json\nrows = load()\nfor row in rows:\n    print(row)\nDone with all of it, as it "
         "was said before.", {"code"}),
        ("Accuracy falls.", {"fragment"}),
        (logs.FINDING, set()),
        ("# Findings\n\n- Accuracy is 0.74 at the start and 0.55 in the middle (n = 50).\n"
         "- The difference = 0.19 is significant.\n- We report the mean of three runs.", set()),
    ],
)  # fmt: skip
def test_doubts(text: str, doubts: set[str]) -> None:
    assert {doubt.value for doubt in doubts_of(text)} == doubts
    found = parse_log(logs.claude({"result": text}))
    # A doubt removes nothing.
    assert (found.conclusion, found.doubts) == (text, doubts_of(text))
    assert all(isinstance(doubt, Doubt) for doubt in found.doubts)


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    file = tmp_path / "log.log"
    with pytest.raises(InputError, match="no such file"):
        read_log(file)
    for text in ("", " \n", logs.header()):
        file.write_text(text)
        empty = read_log(file)
        assert (empty.no_conclusion, empty.notes) == ("cut", ("the log is empty",))
        assert (empty.header is not None) == bool(text.strip())
    with pytest.raises(InputError, match="folder"):
        read_log(tmp_path)
    file.write_bytes(b"\xff\xfe some bytes \x00")
    found = read_log(file)
    assert (found.form, found.no_conclusion) == (LogForm.UNKNOWN, "unknown")
    assert found.notes == ("2 places are no UTF-8",)
    file.write_text("[" * 100_000)
    assert read_log(file).form is LogForm.UNKNOWN
