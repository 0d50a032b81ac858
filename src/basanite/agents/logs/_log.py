"""What is read from a log, whichever agent wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LogForm(StrEnum):
    """Who wrote a log, and in which form."""

    CLAUDE = "claude"
    """Claude Code, `--output-format stream-json` or `json`."""
    CODEX_STAMPED = "codex_stamped"
    """Codex up to about 0.39: blocks that begin with a time in brackets."""
    CODEX_TEXT = "codex_text"
    """Later versions of Codex: blocks that begin with a word on its own line."""
    CODEX_JSON = "codex_json"
    """Codex with `--json`."""
    OPENHANDS = "openhands"
    """OpenHands' log lines and printed events."""
    OPENHANDS_EVENTS = "openhands_events"
    """OpenHands' events as JSON."""
    UNKNOWN = "unknown"


class Ending(StrEnum):
    """How a run ended, as far as its log says."""

    FINISHED = "finished"
    MAX_TURNS = "max_turns"
    """It used up its turns, or its iterations."""
    FAILED = "failed"
    """It says that it ended by an error."""
    CUT = "cut"
    """The log stops before the run's end: killed, out of time, or a damaged file."""
    UNKNOWN = "unknown"
    """The form of the log is not known."""


class Doubt(StrEnum):
    """Why a conclusion may be none. A doubt removes nothing."""

    PLACEHOLDER = "placeholder"
    """It says that results are still to come."""
    CODE = "code"
    """It is code and hardly any prose."""
    FRAGMENT = "fragment"
    """It is shorter than a sentence of sixty characters."""


@dataclass(frozen=True, slots=True)
class LogHeader:
    """What FIRE-Bench's wrapper writes before the agent's own output."""

    agent_id: str
    task_id: str
    llm_model: str


@dataclass(frozen=True, slots=True)
class LogUsage:
    """Tokens, where the log tells them."""

    input_tokens: int | None = None
    """All of the input, with what came from a cache."""
    cached_input_tokens: int | None = None
    """What of the input was read from a cache."""
    output_tokens: int | None = None
    total_tokens: int | None = None
    """Where only one number is told, which counts what the agent's version counts."""


@dataclass(frozen=True, slots=True)
class AgentLog:
    """One run, read from its log."""

    form: LogForm
    ending: Ending
    conclusion: str | None = None
    """The final message of a run that finished; None for every other one."""
    source: str | None = None
    """Where it stood: `result`, `last_message` or `finish_action`."""
    last_text: str | None = None
    """What the agent said last, finished or not. It is no conclusion."""
    doubts: tuple[Doubt, ...] = ()
    header: LogHeader | None = None
    model: str | None = None
    """As the agent itself names it."""
    usage: LogUsage = LogUsage()
    cost_usd: float | None = None
    """As the agent itself counts it."""
    seconds: float | None = None
    turns: int | None = None
    notes: tuple[str, ...] = ()
    """What was odd about the log."""

    @property
    def no_conclusion(self) -> str | None:
        """Why there is no conclusion, as a word that can be counted; None where there is one."""
        if self.conclusion is not None:
            return None
        return "no_final_message" if self.ending is Ending.FINISHED else self.ending.value
