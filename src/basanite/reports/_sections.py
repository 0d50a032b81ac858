"""The sections of the page, one function each; a section may be absent (None)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..stats import Estimate
from ._agreement import AUTHOR_NOTE, Agreement, LabelAgreement
from ._choice_section import choice
from ._items import MAX_ITEMS
from ._render import render
from ._run import ReadRun
from ._section import Section
from ._strip import Axis, axis_for, scale, strip
from ._summary import GroupSummary, ScoreSummary, task_groups
from ._text import shortened
from ._view import text_at

MAX_GROUPS = 200
"""Tasks or agents that a table shows; all of them are in `summary.json` or the items."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of estimates."""

    who: str
    estimate: Estimate
    n_total: int
    unscored: dict[str, int]
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class ScoreBlock:
    """One score of all runs, on one axis."""

    name: str
    primary_of: list[str]
    axis: Axis
    rows: list[Row]


def overview(runs: Sequence[ReadRun]) -> Section:
    """Runs side by side: what judged what, how much was scored, the primary score."""
    hashes = {run.input_sha256 for run in runs if run.input_sha256 is not None}
    body = render("overview.html.j2", runs=runs, inputs_differ=len(hashes) > 1, text_at=text_at)
    return Section("overview", "Overview", body)


def scores(runs: Sequence[ReadRun]) -> Section:
    """Every score with its interval, its counts, and the baseline's beside it."""
    names = dict.fromkeys(name for run in runs for name in run.summary.scores)
    shown = {
        name: None
        for run in runs
        for name, score in run.summary.scores.items()
        if name == run.summary.primary or not score.is_left_out
    }
    body = render(
        "scores.html.j2",
        blocks=[_score_block(name, runs) for name in names if name in shown],
        left_out=[name for name in names if name not in shown],
        strip=strip,
        scale=scale,
    )
    return Section("scores", "Scores", body)


def _score_block(name: str, runs: Sequence[ReadRun]) -> ScoreBlock:
    rows: list[Row] = []
    for run in runs:
        score = run.summary.scores.get(name)
        if score is not None:
            rows.append(_score_row(run, score))
        baseline = run.summary.baseline
        if baseline is not None and not run.is_baseline and name in baseline.scores:
            who = f"{run.letter}’s items · lexical baseline"
            estimate = baseline.scores[name]
            unscored = baseline.n_total - estimate.n
            reasons = {"no words to compare": unscored} if unscored else {}
            rows.append(Row(who, estimate, baseline.n_total, reasons, baseline=True))
    return ScoreBlock(
        name=name,
        primary_of=[run.letter for run in runs if run.summary.primary == name],
        axis=axis_for(row.estimate.value for row in rows),
        rows=rows,
    )


def _score_row(run: ReadRun, score: ScoreSummary) -> Row:
    who = f"{run.letter} · {run.title}"
    return Row(who, score.mean, score.n_total, dict(score.unscored))


def judge_cards(runs: Sequence[ReadRun]) -> Section:
    """How far each judge can be trusted: so far, that nobody has measured it."""
    identities = [
        {
            name: text_at(run.manifest, "judge", "model", name) or "unknown"
            for name in ("engine", "dtype", "weights_sha256", "chat_template_sha256", "root")
        }
        for run in runs
    ]
    body = render("judges.html.j2", runs=list(zip(runs, identities, strict=True)))
    return Section("judges", "Can these judges be trusted?", body)


def baseline(runs: Sequence[ReadRun]) -> Section | None:
    """What word overlap alone reaches on the same items."""
    compared = [run for run in runs if run.summary.baseline is not None]
    if not compared:
        return None
    return Section("baseline", "Lexical baseline", render("baseline.html.j2", runs=compared))


def agreement(runs: Sequence[ReadRun]) -> Section | None:
    """Scores against people's labels, for each set of labels that the items carry."""
    labels = dict.fromkeys(found.label for run in runs for found in run.summary.agreement)
    if not labels:
        return None
    blocks = [_label_block(label, runs) for label in labels]
    body = render(
        "agreement.html.j2",
        blocks=blocks,
        strip=strip,
        scale=scale,
        axis=Axis(-1.0, 1.0),
        author_note=AUTHOR_NOTE,
    )
    return Section("agreement", "Agreement with labels", body)


@dataclass(frozen=True, slots=True)
class LabelBlock:
    """One set of labels: who was compared with it, and the mean scores per label value."""

    found: LabelAgreement
    rows: list[tuple[str, Agreement, bool]]
    values: list[float]


def _label_block(label: str, runs: Sequence[ReadRun]) -> LabelBlock:
    rows: list[tuple[str, Agreement, bool]] = []
    first: LabelAgreement | None = None
    for run in runs:
        for found in run.summary.agreement:
            if found.label != label:
                continue
            first = first or found
            rows.append((f"{run.letter} · {run.title}", found.judge, False))
            if found.baseline is not None and not run.is_baseline:
                rows.append((f"{run.letter}’s items · lexical baseline", found.baseline, True))
    assert first is not None  # the label comes from one of the runs
    values = sorted({mean.label for _, found, _ in rows for mean in found.means})
    return LabelBlock(first, rows, values)


def agents(runs: Sequence[ReadRun]) -> Section | None:
    """The primary score of each agent."""
    if not any(run.summary.agents for run in runs):
        return None
    body = _groups([(run, run.summary.agents) for run in runs], "agent")
    return Section("agents", "Agents", body)


def tasks(runs: Sequence[ReadRun]) -> Section:
    """The primary score of each task."""
    groups = [(run, task_groups(run.tally, [run.summary.primary])) for run in runs]
    return Section("tasks", "Tasks", _groups(groups, "task"))


def _groups(groups: Sequence[tuple[ReadRun, Sequence[GroupSummary]]], what: str) -> str:
    by_run = [(run, {group.name: group for group in of_run}) for run, of_run in groups]
    names = list(dict.fromkeys(name for _, of_run in by_run for name in of_run))
    return render(
        "groups.html.j2",
        what=what,
        runs=by_run,
        names=names[:MAX_GROUPS],
        n_names=len(names),
        strip=strip,
        axis=Axis(),
    )


def costs(runs: Sequence[ReadRun]) -> Section:
    """What the judges used."""
    return Section("costs", "Costs", render("costs.html.j2", runs=runs))


def items(runs: Sequence[ReadRun]) -> Section:
    """The list of items; its script fills it from the page's data blocks."""
    most = max((run.tally.n_items for run in runs), default=0)
    body = render("items.html.j2", runs=runs, limit=MAX_ITEMS, cut=most > MAX_ITEMS)
    return Section("items", "Items", body)


def manifests(runs: Sequence[ReadRun]) -> Section:
    """How each run was made, whole."""
    texts = [
        shortened(json.dumps(run.manifest, indent=2, ensure_ascii=False, sort_keys=False))
        for run in runs
    ]
    body = render("manifest.html.j2", runs=list(zip(runs, texts, strict=True)))
    return Section("manifest", "Manifest", body)


SECTIONS: tuple[Callable[[Sequence[ReadRun]], Section | None], ...] = (
    overview,
    scores,
    judge_cards,
    choice,
    baseline,
    agreement,
    agents,
    tasks,
    costs,
    items,
    manifests,
)
"""The page in its order; what callers add comes before the manifest."""
