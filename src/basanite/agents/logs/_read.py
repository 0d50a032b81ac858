"""A log of any agent: which form it has, and what that form's reader finds in it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ...errors import InputError
from ._claude import is_claude, read_claude
from ._codex_json import is_codex, read_codex_json
from ._codex_text import HEADER, STAMPED, read_codex_stamped, read_codex_text
from ._log import AgentLog, Ending, LogForm, LogHeader
from ._openhands import EVENT, FINISH, read_openhands
from ._openhands_events import is_openhands, read_openhands_events
from ._values import LogValues, values_of
from ._words import doubts_of

_WRAPPER = re.compile(
    r"\s*agent_id: *(?P<agent>[^\n]*)\ntask_id: *(?P<task>[^\n]*)\n"
    r"llm_model: *(?P<model>[^\n]*)\n={10,}[^\S\n]*(?:\n|\Z)"
)
_LIST = re.compile(r"\s*\[\s*\{")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_log(path: str | Path) -> AgentLog:
    """Read the log of one run.

    Bytes that are no UTF-8 become U+FFFD, and a note says so. An empty log is one that was cut
    off before its first line.

    Raises:
        InputError: there is no such file, or it is a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError("this is a folder, not a log", where=str(path), todo="Name its log.log.")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), todo="Check the path.") from None
    text = data.decode("utf-8-sig", "replace")
    found = parse_log(text)
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    if broken > 0:
        found = replace(found, notes=(*found.notes, f"{broken} places are no UTF-8"))
    return found


def parse_log(text: str) -> AgentLog:
    """Read the text of a log, with FIRE-Bench's header or without it."""
    text = _COLOUR.sub("", text.replace("\r\n", "\n"))
    header = _WRAPPER.match(text)
    body = text[header.end() :] if header else text
    values = values_of(body)
    form = _form(body, values)
    found = _reading(form, body, values)
    return replace(
        found,
        header=LogHeader(*(header[name].strip() for name in ("agent", "task", "model")))
        if header
        else None,
        doubts=() if found.conclusion is None else doubts_of(found.conclusion),
    )


def _reading(form: LogForm, body: str, values: LogValues) -> AgentLog:
    if form is LogForm.CLAUDE:
        values.objects = [value for value in values.objects if is_claude(value)]
        return read_claude(values)
    if form is LogForm.CODEX_JSON:
        return read_codex_json(values)
    if form is LogForm.OPENHANDS_EVENTS:
        return read_openhands_events(values)
    if form is LogForm.CODEX_STAMPED:
        return read_codex_stamped(body)
    if form is LogForm.CODEX_TEXT:
        return read_codex_text(body)
    if form is LogForm.OPENHANDS:
        return read_openhands(body)
    if not body.strip():
        return AgentLog(form=LogForm.UNKNOWN, ending=Ending.CUT, notes=("the log is empty",))
    return AgentLog(form=LogForm.UNKNOWN, ending=Ending.UNKNOWN)


def _form(body: str, values: LogValues) -> LogForm:
    """The form of the first line that only one form has.

    What follows may be the output of any tool, such as another agent's log.
    """
    found = _json_form(values) if _LIST.match(body) else None
    if found is not None:
        return found
    for line in body.split("\n"):
        if line.lstrip().startswith("{"):
            found = _json_form(values_of(line))
            if found is not None:
                return found
        if HEADER.match(line):
            return LogForm.CODEX_STAMPED if line.startswith("[") else LogForm.CODEX_TEXT
        if STAMPED.match(line):
            return LogForm.CODEX_STAMPED
        if EVENT.match(line) or line.startswith(FINISH):
            return LogForm.OPENHANDS
    return _json_form(values) or LogForm.UNKNOWN


def _json_form(values: LogValues) -> LogForm | None:
    for value in values.objects:
        if is_claude(value):
            return LogForm.CLAUDE
        if is_codex(value):
            return LogForm.CODEX_JSON
        if is_openhands(value):
            return LogForm.OPENHANDS_EVENTS
    return None
