"""The section on what has no score, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

from ._reasons import MEANINGS, Meaning
from ._render import render
from ._run import ReadRun
from ._section import Section


def unscored(runs: Sequence[ReadRun]) -> Section:
    """Count items without the primary score by reason, and say what to do about each."""
    counts = [dict(run.summary.scores[run.summary.primary].unscored) for run in runs]
    totals: dict[str, int] = {}
    for of_run in counts:
        for reason, number in of_run.items():
            totals[reason] = totals.get(reason, 0) + number
    ordered = sorted(totals, key=lambda reason: (-totals[reason], reason))
    body = render(
        "unscored.html.j2",
        any_rows=any(run.summary.n_total for run in runs),
        runs=list(zip(runs, counts, strict=True)),
        reasons=[(reason, *_words(reason)) for reason in ordered],
    )
    return Section("unscored", "Unscored items", body)


def _words(reason: str) -> tuple[Markup, Markup]:
    meaning = MEANINGS.get(reason, Meaning("A reason that this version does not know.", ""))
    return _code(meaning.what), _code(meaning.todo)


def _code(text: str) -> Markup:
    """Write what stands between backticks, and options, as code."""
    return Markup(re.sub(r"`([^`]+)`|(--[a-z-]+)", _as_code, str(escape(text))))


def _as_code(found: re.Match[str]) -> str:
    return f"<code>{found[1] or found[2]}</code>"
