"""Whatever an agent concludes is read as it is, and whatever is no log gives no conclusion."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.agents.logs import Ending, LogForm, parse_log
from support import agent_logs as logs

FINDINGS = st.text(min_size=1).filter(str.strip)
# What stands between a Codex log's blocks is plain text, whose line ends and edges are not kept.
PLAIN = st.lists(st.text(st.characters(exclude_categories=("C", "Z")), min_size=1), min_size=1)


@settings(max_examples=150, deadline=None)
@given(FINDINGS)
def test_any_conclusion_in_json_or_as_a_python_string(text: str) -> None:
    claude = logs.claude({"result": text})
    plain = "".join(
        json.dumps(json.loads(line), ensure_ascii=False) + "\n" for line in claude.splitlines()
    )
    for log in (claude, plain, logs.openhands(logs.finish(text))):
        found = parse_log(log)
        assert (found.ending, found.conclusion) == (Ending.FINISHED, text)
    event = {"id": 1, "source": "agent", "action": "finish", "args": {"final_thought": text}}
    assert parse_log(logs.lines(event)).conclusion == text


@settings(max_examples=150, deadline=None)
@given(PLAIN)
def test_any_conclusion_between_blocks(words: list[str]) -> None:
    text = "So: " + " ".join(words)
    for log in (logs.codex_text(), logs.codex_stamped()):
        assert parse_log(log.replace(logs.FINDING, text)).conclusion == text


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = parse_log(text)
    assert (found.conclusion is None) or found.form is not LogForm.UNKNOWN


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_log_with_a_piece_missing_invents_nothing(data: st.DataObject) -> None:
    whole = data.draw(
        st.sampled_from([logs.claude(), logs.codex_text(), logs.codex_stamped()])
        | st.just(logs.openhands(logs.finish(logs.FINDING)))
    )
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    left = whole[:start] + whole[end:]
    found = parse_log(left)
    # A hole may shorten the conclusion; it makes none of what stands nowhere.
    assert found.conclusion is None or found.conclusion in left
