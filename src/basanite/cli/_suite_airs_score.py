"""`suite airs score`, `compare` and `report`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from . import _options as opt
from ._console import print_json, reported, stdout
from ._data import Force
from ._suite_board import (
    Baseline,
    Page,
    Plots,
    check_report_files,
    compared,
    compared_json,
    print_compared,
    write_boards,
)
from ._suite_tables import number, titled_table, with_interval

if TYPE_CHECKING:
    from ..reports import Section
    from ..suites.airs import AgentScores, AirsOptions, AirsScores, EloDifference


class Drawn(StrEnum):
    """What intervals draw."""

    TASKS = "tasks"
    SEEDS = "seeds"
    BOTH = "both"


_RESAMPLE = {Drawn.TASKS: "clusters", Drawn.SEEDS: "members", Drawn.BOTH: "both"}

Runs = Annotated[
    Path,
    typer.Argument(
        help="JSONL, CSV or Parquet: agent, task, seed, score, valid (cost).",
        metavar="RUNS",
        show_default=False,
    ),
]
SMin = Annotated[
    str,
    typer.Option(
        "--s-min",
        help="Worst scores: given (the tasks' metadata), observed (of these runs), or a JSON "
        "file of task to number.",
        metavar="given|observed|FILE",
    ),
]
Draw = Annotated[Drawn, typer.Option("--resample", help="What intervals draw.")]
Replicates = Annotated[int, typer.Option(min=10, max=100_000, help="Draws of the intervals.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all draws.")]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Prior = Annotated[
    float,
    typer.Option(
        min=0.0,
        help="Drawn games added between each two players where players separate; 0: none.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands that score."""
    app.command("score")(reported(_score))
    app.command("compare")(reported(_compare))
    app.command("report")(reported(_report))


def _score(
    runs: Runs,
    *,
    s_min: SMin = "given",
    resample: Draw = Drawn.BOTH,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    prior: Prior = 1.0,
    as_json: opt.AsJson = False,
) -> None:
    """Score runs: share of valid ones, normalized score and Elo, ours and as published."""
    scores = _scored(runs, _options(s_min, resample, (replicates, seed, level), prior))
    if as_json:
        print_json(scores.to_json())
    else:
        _print_scores(scores)


def _compare(
    runs: Runs,
    *,
    baseline: Baseline = None,
    s_min: SMin = "given",
    resample: Draw = Drawn.BOTH,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    prior: Prior = 1.0,
    as_json: opt.AsJson = False,
) -> None:
    """Compare agents task by task on normalized score and valid runs, and by their ratings."""
    from ..suites.airs import airs_boards, elo_differences
    from ..suites.airs._json import differences

    scores = _scored(runs, _options(s_min, resample, (replicates, seed, level), prior))
    elo = elo_differences(scores, baseline)
    found = compared(airs_boards(scores), baseline, level)
    if as_json:
        print_json({**compared_json("airs", found, baseline), "elo": differences(elo)})
        return
    print_compared(found)
    _print_elo_differences(elo, level)


def _report(
    runs: Runs,
    *,
    out: Page = Path("report.html"),
    plots: Plots = None,
    baseline: Baseline = None,
    s_min: SMin = "given",
    resample: Draw = Drawn.BOTH,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    prior: Prior = 1.0,
    as_json: opt.AsJson = False,
    force: Force = False,
) -> None:
    """Write one HTML page: leaderboards, ratings, comparison, tasks, trials, costs."""
    from ..suites.airs import airs_boards

    check_report_files(out, plots, force=force)
    scores = _scored(runs, _options(s_min, resample, (replicates, seed, level), prior))
    write_boards(
        airs_boards(scores),
        out,
        plots=plots,
        baseline=baseline,
        level=level,
        title="AIRS-Bench",
        extra=list(_rating_sections(scores)),
    )
    if as_json:
        print_json({**scores.to_json(), "schema": "basanite.suite.airs.report/1"})


def _options(
    s_min: str, resample: Drawn, drawing: tuple[int, int, float], prior: float
) -> AirsOptions:
    from ..stats import Bootstrap, Resample
    from ..suites.airs import AirsOptions, read_s_min

    how, plan = Resample(_RESAMPLE[resample]), Bootstrap(*drawing)
    if s_min == "given":
        return AirsOptions("given", how, plan, prior)
    if s_min == "observed":
        return AirsOptions("observed", how, plan, prior)
    return AirsOptions(read_s_min(s_min), how, plan, prior)


def _scored(runs: Path, options: AirsOptions) -> AirsScores:
    from ..suites.airs import read_runs, score_runs

    return score_runs(read_runs(runs), options)


def _rating_sections(scores: AirsScores) -> Iterable[Section]:
    from ..reports import leaderboard_section

    drawn = next(name for name, value in _RESAMPLE.items() if value == scores.options.resample)
    kinds = (
        ("elo", "Elo", {name: one.elo for name, one in scores.agents.items()}, scores.sota_elo,
         f"Intervals draw {'tasks and seeds' if drawn is Drawn.BOTH else drawn.value}."),
        ("elo-published", "Elo as published",
         {name: one.elo_published for name, one in scores.agents.items()},
         scores.sota_elo_published,
         "Intervals draw single games, as if they were independent: they are far too narrow."),
    )  # fmt: skip
    for id_, title, estimates, sota, note in kinds:
        all_players = {**estimates, "SOTA": sota}
        known = {name: one for name, one in all_players.items() if one.value is not None}
        if known:
            ends = [
                end
                for one in known.values()
                for end in (one.value, one.low, one.high)
                if end is not None
            ]
            axis = (min(ends) // 100 * 100, max(ends) // 100 * 100 + 100)
            best = dict(sorted(known.items(), key=lambda item: -(item[1].value or 0.0)))
            yield leaderboard_section(
                best,
                id=id_,
                title=title,
                measure="Elo rating",
                axis=axis,
                level=scores.options.plan.level,
                note=note,
            )


def _print_scores(scores: AirsScores) -> None:
    percent = f"{100 * scores.options.plan.level:g} % intervals"
    table = titled_table(
        f"{len(scores.runs)} runs on {len(scores.tasks)} tasks; {percent}", "agent"
    )
    for head in ("VSR", "NS", "published", "Elo", "published"):
        table.add_column(head, justify="right")
    for one in sorted(scores.agents.values(), key=_rank):
        table.add_row(
            Text(one.agent),
            with_interval(one.vsr, 2),
            with_interval(one.ns, 3),
            with_interval(one.ns_published, 3),
            with_interval(one.elo, 0),
            with_interval(one.elo_published, 0),
        )
    sota = with_interval(scores.sota_elo, 0), with_interval(scores.sota_elo_published, 0)
    table.add_row("SOTA", "", "", "", *sota)
    stdout.print(table)
    _print_sensitivity(scores)
    names = {"battles": "games", "members": "seeds", "clusters": "tasks", "both": "both"}
    widths = ", ".join(
        f"{names[name]} {value:.1f}"
        for name, value in scores.elo_half_widths.items()
        if value is not None
    )
    if widths:
        stdout.print(f"mean half width of an Elo interval, drawing: {widths}", markup=False)
    for note in scores.notes:
        stdout.print(f"note: {note}", markup=False)


def _print_sensitivity(scores: AirsScores) -> None:
    table = titled_table("Normalized score by the choice of s_min", "agent")
    rows = {row.name: row for row in scores.sensitivity}
    without = [row for name, row in rows.items() if name.startswith("observed without ")]
    shown = [row for row in scores.sensitivity if row not in without]
    for row in shown:
        table.add_column(row.name, justify="right")
    if without:
        table.add_column("observed, less one agent", justify="right")
    for agent in scores.agents:
        cells = [number(row.ns[agent], 3) for row in shown]
        left = [value for row in without if (value := row.ns[agent]) is not None]
        if without:
            cells.append(f"{min(left):.3f} to {max(left):.3f}" if left else "-")
        table.add_row(Text(agent), *cells)
    stdout.print(table)
    for row in scores.sensitivity:
        if row.n_tasks < len(scores.tasks):
            stdout.print(f"{row.name}: only {row.n_tasks} tasks have a scale", markup=False)


def _print_elo_differences(found: Iterable[EloDifference], level: float) -> None:
    table = titled_table("Elo, first minus second, in the same draws", "first − second")
    for head in ("diff.", f"{100 * level:g} % interval", "first above"):
        table.add_column(head, justify="right")
    for one in found:
        low, high = one.difference.low, one.difference.high
        reason = one.difference.reason or "-"
        interval = reason if low is None or high is None else f"{low:+.0f} to {high:+.0f}"
        value = one.difference.value
        table.add_row(
            Text(f"{one.first} − {one.second}"),
            "-" if value is None else f"{value:+.0f}",
            interval,
            "-" if one.share_above is None else f"{one.share_above:.3f}",
        )
    stdout.print(table)


def _rank(one: AgentScores) -> float:
    return -(one.ns.value or 0.0)


__all__ = ["register"]
