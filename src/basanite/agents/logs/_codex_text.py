"""What `codex exec` prints for people: blocks with a time, and later blocks with a word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ._log import AgentLog, Ending, LogForm, LogUsage

_STAMP = r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\] "
_KINDS = "codex|thinking|tokens used|User instructions|exec|apply_patch|ERROR|tool"
STAMPED = re.compile(
    rf"{_STAMP}(?P<kind>(?:{_KINDS})\b|OpenAI Codex|.*\b(?:succeeded|failed|exited \S+) in \d)"
)
"""A stamped line that Codex itself writes; a tool's own stamps say something else."""
HEADER = re.compile(rf"(?:{_STAMP})?OpenAI Codex v\S+")

_WORDS = frozenset({"codex", "exec", "thinking", "tokens used", "user"})
_MORE = re.compile(
    r"(?:file update|apply[ _]patch|turn diff|plan update|mcp(?: startup)?:|web search:)"
)
_RUST = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z\s+(?:ERROR|WARN|INFO|DEBUG|TRACE)\s")
_COUNT = re.compile(r"\d[\d,. _]*$")
_MODEL = re.compile(r"^model: (\S+)$", re.MULTILINE)
_NO_MESSAGE = frozenset({"thinking", "tokens used"})


@dataclass(slots=True)
class _Block:
    kind: str
    rest: str = ""
    """What follows the kind on its line."""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(line for line in self.lines if not _RUST.match(line)).strip()


@dataclass(frozen=True, slots=True)
class _End:
    ending: Ending
    message: str | None = None
    tokens: int | None = None
    notes: tuple[str, ...] = ()


def read_codex_stamped(text: str) -> AgentLog:
    """Read a log whose blocks have times: its last `codex` block, if `tokens used` follows."""
    blocks = [_Block("")]
    for line in text.split("\n"):
        found = STAMPED.match(line)
        if found is None:
            blocks[-1].lines.append(line)
        else:
            blocks.append(_Block(found["kind"], line[found.end() :]))
    ends = [block for block in blocks if block.kind == "tokens used"]
    counts = [count for block in ends if (count := _count(block.rest)) is not None]
    ending = {"tokens used": Ending.FINISHED, "ERROR": Ending.FAILED}.get(
        blocks[-1].kind, Ending.CUT
    )
    end = _End(ending, _final(blocks), sum(counts) if counts else None)
    return _log(LogForm.CODEX_STAMPED, text, _said(blocks), end)


def read_codex_text(text: str) -> AgentLog:
    """Read a log whose blocks begin with a word, and which says its last message once more.

    A tool's output may hold the very words. So the end counts only if what follows
    `tokens used` is the last message, or as much of it as the log still holds.
    """
    blocks = [_Block("")]
    for line in text.split("\n"):
        if line in _WORDS or _MORE.match(line):
            blocks.append(_Block(line))
        else:
            blocks[-1].lines.append(line)
    last = next((n for n in range(len(blocks) - 1, 0, -1) if blocks[n].kind == "tokens used"), None)
    end = _End(Ending.CUT) if last is None else _end(blocks, last)
    return _log(LogForm.CODEX_TEXT, text, _said(blocks[:last]), end)


def _end(blocks: list[_Block], last: int) -> _End:
    """What the last `tokens used` ends, and whether it is the run's end."""
    after = list(blocks[last].lines)
    for block in blocks[last + 1 :]:
        after += [block.kind, *block.lines]
    again = _Block("", lines=after[1:]).text
    message = _final(blocks[: last + 1])
    if again and (message is None or not _same(again, message)):
        note = "what follows `tokens used` is not the last message"
        return _End(Ending.CUT, notes=(note,))
    if message is not None and len(again) > len(message):
        # The message itself holds a line that looks like the start of a block.
        message = again
    return _End(Ending.FINISHED, message, _count(after[0]) if after else None)


def _same(again: str, message: str) -> bool:
    return again.endswith(message) or message.startswith(again)


def _final(blocks: list[_Block]) -> str | None:
    """The text of the last block that is a message, if only thoughts and counts follow."""
    for block in reversed(blocks):
        if block.kind == "codex":
            return block.text or None
        if block.kind not in _NO_MESSAGE:
            return None
    return None


def _said(blocks: list[_Block]) -> str | None:
    return next((b.text for b in reversed(blocks) if b.kind == "codex" and b.text), None)


def _count(text: str) -> int | None:
    bare = text.strip(" :\t")
    return int(re.sub(r"\D", "", bare)) if _COUNT.match(bare) else None


def _log(form: LogForm, text: str, said: str | None, end: _End) -> AgentLog:
    model = _MODEL.search(text)
    conclusion = end.message if end.ending is Ending.FINISHED else None
    return AgentLog(
        form=form,
        ending=end.ending,
        conclusion=conclusion,
        source=None if conclusion is None else "last_message",
        last_text=said,
        model=model[1] if model else None,
        usage=LogUsage(total_tokens=end.tokens),
        notes=end.notes,
    )
