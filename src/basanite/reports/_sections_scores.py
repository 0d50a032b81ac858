"""Sections on scores: means, the baseline beside them, agreement with people's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..stats import Estimate
from ._agreement import AUTHOR_NOTE, Agreement, LabelAgreement
from ._figure import Figure, stacked
from ._forest import ForestRow, forest
from ._render import render
from ._run import ReadRun, score_scale, shown_scores
from ._scale import SHARE, scale_of
from ._section import Section
from ._strip import BEYOND, Axis, scale, strip
from ._summary import ScoreSummary


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


def scores(runs: Sequence[ReadRun]) -> Section:
    """Every score with its interval, its counts, and the baseline's beside it."""
    names = dict.fromkeys(name for run in runs for name in run.summary.scores)
    shown = set(shown_scores(runs))
    body = render(
        "scores.html.j2",
        blocks=[_score_block(name, runs) for name in names if name in shown],
        left_out=[name for name in names if name not in shown],
        strip=strip,
        scale=scale,
        beyond=BEYOND,
    )
    return Section("scores", "Scores", body)


def _score_block(name: str, runs: Sequence[ReadRun]) -> ScoreBlock:
    rows = [_score_row(run, run.summary.scores[name]) for run in runs if name in run.summary.scores]
    rows += _baseline_rows(name, runs)
    return ScoreBlock(
        name=name,
        primary_of=[run.letter for run in runs if run.summary.primary == name],
        axis=_axis(name, runs, rows),
        rows=rows,
    )


def _baseline_rows(name: str, runs: Sequence[ReadRun]) -> list[Row]:
    """Give the baseline's row for each set of items; runs on the same items share one."""
    letters: dict[tuple[Estimate, int], list[str]] = {}
    for run in runs:
        baseline = run.summary.baseline
        if baseline is not None and not run.is_baseline and name in baseline.scores:
            found = baseline.scores[name], baseline.n_total
            letters.setdefault(found, []).append(run.letter)
    rows: list[Row] = []
    for (estimate, n_total), of in letters.items():
        unscored = n_total - estimate.n
        reasons = {"no words to compare": unscored} if unscored else {}
        rows.append(Row(_baseline_name(of), estimate, n_total, reasons, baseline=True))
    return rows


def _baseline_name(letters: Sequence[str]) -> str:
    return f"lexical baseline on the items of {', '.join(letters)}"


def _axis(name: str, runs: Sequence[ReadRun], rows: Sequence[Row]) -> Axis:
    """Give the axis of the score's values; the baseline's are shares, which may not lie on it."""
    found = score_scale(runs, name)
    if found.known == SHARE or not any(row.baseline for row in rows):
        return found.axis
    values = [row.estimate.value for row in rows if row.estimate.value is not None]
    return scale_of(name, [found.axis.low, found.axis.high, *values]).axis


def score_plot(runs: Sequence[ReadRun]) -> Figure:
    """Draw each score's runs below each other, and the scores below each other."""
    figures: list[Figure] = []
    for name in shown_scores(runs):
        found = _score_block(name, runs)
        rows = [ForestRow(row.who, row.estimate, hollow=row.baseline) for row in found.rows]
        title = f"{name} ({score_scale(runs, name).unit})"
        figures.append(forest(f"scores-{name}", title, rows, found.axis))
    return stacked("scores", figures)


def _score_row(run: ReadRun, score: ScoreSummary) -> Row:
    who = f"{run.letter} · {run.title}"
    return Row(who, score.mean, score.n_total, dict(score.unscored))


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
    baselines: dict[Agreement, list[str]] = {}
    first: LabelAgreement | None = None
    for run in runs:
        for found in run.summary.agreement:
            if found.label != label:
                continue
            first = first or found
            rows.append((f"{run.letter} · {run.title}", found.judge, False))
            if found.baseline is not None and not run.is_baseline:
                baselines.setdefault(found.baseline, []).append(run.letter)
    rows += [(_baseline_name(of), found, True) for found, of in baselines.items()]
    assert first is not None  # the label comes from one of the runs
    values = sorted({mean.label for _, found, _ in rows for mean in found.means})
    return LabelBlock(first, rows, values)
