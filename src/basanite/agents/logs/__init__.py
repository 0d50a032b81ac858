"""Agents' logs: what a run concluded, how it ended, and what it used.

Claude Code (`stream-json` and `json`), Codex (text of all versions, and `--json`) and OpenHands
(text, and JSON events) are told apart by the first line that only one of them writes, never by what
a tool printed later. A run that did not end well has no conclusion: what it said last is kept
apart.
"""

from ._log import AgentLog, Doubt, Ending, LogForm, LogHeader, LogUsage
from ._read import parse_log, read_log
from ._words import doubts_of

__all__ = [
    "AgentLog",
    "Doubt",
    "Ending",
    "LogForm",
    "LogHeader",
    "LogUsage",
    "doubts_of",
    "parse_log",
    "read_log",
]
