"""What was skipped and how to get what it lacked; in CI a skip is a failure."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

STRICT_VARIABLE = "BASANITE_NO_SKIPS"
"""`1`: a skipped test fails the session unless its reason is in the allow list."""
ALLOWED_VARIABLE = "BASANITE_ALLOWED_SKIPS"
"""File of allowed reasons: one a line, the beginning of the reason; `#` starts a comment."""

_ADVICE = {
    "chromium": "apt-get install chromium",
    "postgres": "apt-get install postgresql",
    "bubblewrap": "apt-get install bubblewrap",
    "scanpy is missing": "make test (installs the dev dependency group)",
    "xllamacpp": "pip install 'basanite[embedded]'",
    "embedded model": "basanite embedded install",
    "pyarrow": "pip install 'basanite[parquet]'",
    "psycopg": "pip install 'basanite[postgres]'",
    "basanite_reference_data": "set BASANITE_REFERENCE_DATA to the folder of the published data",
}


def advice(reason: str) -> str | None:
    """How to get what a skipped test lacked; None where the reason says it by itself."""
    lower = reason.lower()
    for word, text in _ADVICE.items():
        if word in lower and text.lower() not in lower:
            return text
    return None


def clean(reason: str) -> str:
    """Give a reason as its test wrote it, without what pytest puts before it."""
    return reason.removeprefix("Skipped: ").strip()


def summary(reasons: Iterable[str]) -> list[str]:
    """Give one line for each reason: how many tests, why, and how to get what is missing."""
    lines = []
    for reason, count in sorted(Counter(map(clean, reasons)).items()):
        todo = advice(reason)
        tests = "1 test" if count == 1 else f"{count} tests"
        lines.append(f"{tests} skipped: {reason}" + (f" -> {todo}" if todo else ""))
    return lines


def forbidden(reasons: Iterable[str]) -> list[str]:
    """Give the reasons that fail this session: none where skips are not forbidden."""
    if os.environ.get(STRICT_VARIABLE) != "1":
        return []
    listed = os.environ.get(ALLOWED_VARIABLE)
    lines = Path(listed).read_text(encoding="utf-8").splitlines() if listed else []
    allowed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    cleaned = sorted(set(map(clean, reasons)))
    return [reason for reason in cleaned if not any(map(reason.startswith, allowed))]
