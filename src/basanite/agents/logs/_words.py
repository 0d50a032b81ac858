"""What makes one doubt that a text is a conclusion."""

from __future__ import annotations

import re

from ._log import Doubt

_SHORT = 60
"""Characters under which a text is hardly a finding."""

_PENDING = re.compile(
    r"\bresults?\s+(?:(?:are|is)\s+)?(?:still\s+)?pending\b"
    r"|\b(?:experiments?|runs?|scripts?|jobs?|evaluations?|analys[ei]s)\s+(?:is|are)\s+"
    r"(?:still\s+|currently\s+|now\s+)*(?:running|executing|in\s+progress|underway|ongoing)\b"
    r"|\bto\s+be\s+(?:determined|completed|added|filled\s+in)\b"
    r"|\bplaceholder\b|\bTBD\b"
    r"|\bwill\s+(?:report|update|provide|share|add)\b[^.\n]*\b(?:once|when|after|as soon as)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE_LINE = re.compile(
    r"^\s*(?:(?:import|class|def|async def|return|raise|assert|yield)\s"
    r"|from\s+\S+\s+import\s|(?:for|while|if|elif|with|try|except|else)\b[^.]*:\s*$"
    r"|(?:print|await)\b\s*\(?|[\w.]+(?:\[[^\]]*\])?\s*[-+*/]?=[^=]|[\w.]+\([^)]*\)\s*$"
    r"|[)}\]]+[,;]?\s*$|.*[;{]\s*$)"
)


def doubts_of(text: str) -> tuple[Doubt, ...]:
    """Give the reasons for which a text may be no conclusion.

    They are found by words and by shape, so that each is a question to whoever reads it, and no
    verdict.
    """
    found = []
    if _PENDING.search(text):
        found.append(Doubt.PLACEHOLDER)
    if _is_code(text):
        found.append(Doubt.CODE)
    if len(text.strip()) < _SHORT:
        found.append(Doubt.FRAGMENT)
    return tuple(found)


def _is_code(text: str) -> bool:
    prose = _FENCE.sub("", text).strip()
    if prose != text.strip() and len(prose) < _SHORT:
        return True
    lines = [line for line in prose.splitlines() if line.strip()]
    return len(lines) >= 3 and sum(bool(_CODE_LINE.match(line)) for line in lines) > len(lines) / 2
