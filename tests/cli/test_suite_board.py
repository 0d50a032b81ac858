"""`compare` and `report` as every suite has them, over boards from a small loader."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from basanite.cli._console import reported
from basanite.cli._data import Force
from basanite.cli._options import AsJson
from basanite.cli._suite_board import (
    Baseline,
    Level,
    Page,
    Plots,
    check_report_files,
    compare_boards,
    report_boards,
)
from basanite.errors import InputError
from basanite.reports import Board, compare_board
from support.boards import AGENTS, board_of, full_board
from support.command import basanite

Run = Callable[..., Result]
Load = Callable[[Path], list[Board]]


def _load(path: Path) -> list[Board]:
    if path.stem == "bad":
        raise InputError("row 3: the score is `true`", where=str(path))
    if path.stem == "two":
        rows = full_board().rows
        return [Board("Two", measure, rows, (0, 1)) for measure in ("precision", "recall")]
    return [full_board()]


def _app(load: Load) -> typer.Typer:
    """Commands over boards, as a suite writes them."""
    app = typer.Typer()

    def compare(
        file: Path, *, baseline: Baseline = None, level: Level = 0.95, as_json: AsJson = False
    ) -> None:
        compare_boards("some", load(file), baseline=baseline, level=level, as_json=as_json)

    def report(
        file: Path,
        *,
        out: Page = Path("report.html"),
        plots: Plots = None,
        baseline: Baseline = None,
        level: Level = 0.95,
        as_json: AsJson = False,
        force: Force = False,
    ) -> None:
        check_report_files(out, plots, force=force)
        report_boards(
            "some", load(file), out, plots=plots, baseline=baseline, level=level, as_json=as_json
        )

    for command in (compare, report):
        app.command(command.__name__)(reported(command))
    return app


@pytest.fixture
def run() -> Run:
    app = _app(_load)

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


def test_compare_prints_agents_and_differences(run: Run) -> None:
    done = run("compare", "rows.jsonl")
    assert done.exit_code == 0, done.output
    assert "Every part: F1" in done.stdout
    # A name that looks like markup stays as it is in the file.
    assert "[bold]D[/]" in done.stdout
    assert "not tried by Agent B: task-7" in done.stdout
    assert "no value of [bold]D[/] <script>alert(1)</script>: task-5" in done.stdout
    assert "note: A note on these numbers." in done.stdout


def test_compare_as_json_is_one_envelope(run: Run) -> None:
    done = run("compare", "rows.jsonl", "--baseline", "Agent B", "--json", "--level", "0.9")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["schema"] == "basanite.suite.some.compare/1"
    assert found["baseline"] == "Agent B"
    (board,) = found["boards"]
    assert board["level"] == 0.9
    assert list(board["agents"]) == [AGENTS[0], *AGENTS[1:]]
    pairs = board["comparisons"]
    assert [pair["second"] for pair in pairs] == ["Agent B"] * 3
    made = compare_board(full_board(), "Agent B").made
    assert [pair["difference"] for pair in pairs] == [one.difference.mean.value for one in made]


def test_wrong_input_is_an_error_that_says_where(run: Run) -> None:
    done = run("compare", "bad.jsonl")
    assert done.exit_code == 2
    assert "bad.jsonl: row 3: the score is `true`" in done.stderr
    done = run("compare", "rows.jsonl", "--baseline", "nobody")
    assert done.exit_code == 2
    assert "no agent 'nobody'" in done.stderr
    done = run("compare", "rows.jsonl", "--level", "95")
    assert done.exit_code == 2
    assert "between 0 and 1" in done.stderr


def test_report_writes_page_and_plots_and_keeps_what_is_not_its_own(
    run: Run, tmp_path: Path
) -> None:
    out, plots = tmp_path / "r.html", tmp_path / "plots"
    done = run("report", "two.jsonl", "-o", out, "--plots", plots, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["schema"] == "basanite.suite.some.report/1"
    assert [board["measure"] for board in json.loads(done.stdout)["boards"]] == [
        "precision",
        "recall",
    ]
    assert "recall: leaderboard" in out.read_text(encoding="utf-8")
    names = {path.name for path in plots.iterdir()}
    assert {"board-1-leaderboard.svg", "board-2-heat-map.svg"} <= names
    # Its own page is replaced; another file is not.
    assert run("report", "two.jsonl", "-o", out).exit_code == 0
    out.write_text("mine", encoding="utf-8")
    assert run("report", "two.jsonl", "-o", out).exit_code == 2
    (plots / "mine.svg").write_text("<svg/>", encoding="utf-8")
    other = tmp_path / "other.html"
    done = run("report", "two.jsonl", "-o", other, "--plots", plots)
    assert done.exit_code == 2
    assert not other.exists()
    assert run("report", "two.jsonl", "-o", out, "--force").exit_code == 0


def test_the_level_of_the_report_is_that_of_its_page_plots_and_numbers(
    run: Run, tmp_path: Path
) -> None:
    out, plots = tmp_path / "r.html", tmp_path / "plots"
    given = ("report", "one.jsonl", "-o", out, "--plots", plots, "--json", "--level", "0.9")
    done = run(*given)
    assert done.exit_code == 0, done.output
    (board,) = json.loads(done.stdout)["boards"]
    low, high = board["agents"]["Agent B"]["mean_interval"]
    assert board["level"] == 0.9
    page = out.read_text(encoding="utf-8")
    assert f"[{low:.3f}, {high:.3f}]" in page
    assert "90 % interval" in page
    assert "at the 0.1 level" in page
    for name in ("leaderboard", "differences"):
        assert "with 90 % intervals" in (plots / f"{name}.svg").read_text(encoding="utf-8")
    assert "95 %" not in page
    done = run("report", "one.jsonl", "-o", tmp_path / "bad.html", "--level", "1")
    assert done.exit_code == 2
    assert not (tmp_path / "bad.html").exists()


def test_one_agent_has_a_report_but_no_comparison(tmp_path: Path) -> None:
    app = _app(lambda _: [board_of({"a": {"t": [0.5], "u": [0.7]}})])
    out = tmp_path / "r.html"
    assert CliRunner().invoke(app, ["report", "x", "-o", str(out)]).exit_code == 0
    assert CliRunner().invoke(app, ["compare", "x"]).exit_code == 2


def test_the_suites_are_a_group_of_commands() -> None:
    assert basanite("suite", "--help").code == 0
    assert "suite" in basanite("--help").out
