"""Sections on the runs as a whole: overview, judges, costs, items, manifest."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ._render import render, section_body
from ._run import ReadRun
from ._section import Section
from ._text import shortened
from ._view import text_at


def overview(runs: Sequence[ReadRun]) -> Section:
    """Runs side by side: what judged what, how much was scored, the primary score."""
    hashes = {run.input_sha256 for run in runs if run.input_sha256 is not None}
    body = render("overview.html.j2", runs=runs, inputs_differ=len(hashes) > 1, text_at=text_at)
    return Section("overview", "Overview", body)


def judges(runs: Sequence[ReadRun]) -> Section:
    """How far each judge can be trusted: its card, or that nobody has measured it."""
    shown = [
        (run, _identity(run), None if run.card is None else section_body(run.card)) for run in runs
    ]
    return Section("judges", "Can these judges be trusted?", render("judges.html.j2", runs=shown))


def _identity(run: ReadRun) -> dict[str, str]:
    return {
        name: text_at(run.manifest, "judge", "model", name) or "unknown"
        for name in ("engine", "dtype", "weights_sha256", "chat_template_sha256", "root")
    }


def costs(runs: Sequence[ReadRun]) -> Section:
    """What the judges used."""
    return Section("costs", "Costs", render("costs.html.j2", runs=runs))


def items(runs: Sequence[ReadRun]) -> Section:
    """The list of items; its script fills it from the page's data blocks."""
    body = render("items.html.j2", runs=runs)
    return Section("items", "Items", body)


def manifest(runs: Sequence[ReadRun]) -> Section:
    """How each run was made, whole."""
    texts = [
        shortened(json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=False))
        for run in runs
    ]
    body = render("manifest.html.j2", runs=list(zip(runs, texts, strict=True)))
    return Section("manifest", "Manifest", body)
