"""A run's summary as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from ..schema import NOT_VALIDATED
from ._choice_table import choice_table
from ._console import stderr

if TYPE_CHECKING:
    from ..reports import Summary
    from ..runs import RunOutcome
    from ..stats import Estimate

_STOPPED = {
    "run_seconds": "the time limit was reached",
    "max_tokens": "the token limit was reached",
}


def print_summary(summary: Summary, outcome: RunOutcome, path: Path) -> None:
    """Print scores with intervals, what is unscored and why, and the baseline beside."""
    table = Table(title=f"{summary.judge} ({NOT_VALIDATED})", title_justify="left")
    for name in ("score", "mean", "95 % interval", "scored"):
        table.add_column(name, justify="left" if name == "score" else "right")
    for name, score in summary.scores.items():
        if name != summary.primary and score.is_left_out:
            continue
        scored = f"{score.n_scored}/{score.n_total}"
        table.add_row(name, *_mean(score.mean), scored)
    baseline = None if summary.is_baseline else summary.baseline
    if baseline is not None:
        table.add_section()
        for name, mean in baseline.scores.items():
            table.add_row(f"[dim]{baseline.judge} {name}[/]", *_mean(mean), str(mean.n))
    stderr.print(table)
    if summary.choice is not None:
        stderr.print(choice_table(summary.choice.baselines, summary.choice.n_compared))
    primary = summary.scores[summary.primary]
    if primary.unscored:
        stderr.print(f"unscored ({summary.primary}): {_counts(primary.unscored)}", markup=False)
    if summary.baseline is not None:
        stderr.print(f"lexical: {summary.baseline.caveat}", style="dim", markup=False)
    if outcome.stop_reason in _STOPPED:
        stderr.print(
            f"[yellow]{_STOPPED[outcome.stop_reason]}[/]: {outcome.not_started} items were not "
            "started; go on with --resume"
        )
    if outcome.to_retry:
        items = "1 item" if outcome.to_retry == 1 else f"{outcome.to_retry} items"
        stderr.print(f"{items} failed for a cause outside; --resume tries again")
    stderr.print(f"run: {path}   (basanite report {path} -o report.html)", markup=False)


def _mean(mean: Estimate) -> tuple[str, str]:
    value = "-" if mean.value is None else f"{mean.value:.3f}"
    if mean.low is None or mean.high is None:
        return value, "-"
    return value, f"{mean.low:.3f} to {mean.high:.3f}"


def _counts(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in reasons.items())
