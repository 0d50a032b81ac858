"""Plots: axes that end where the scale ends, counts that add up, files that stand alone."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from basanite.errors import InputError
from basanite.reports import is_plot, read_runs, write_plots
from basanite.reports._distribution import count_ticks, distributions
from basanite.reports._figure import HALO, PRINT
from basanite.reports._forest import ForestRow, forest
from basanite.reports._render import asset
from basanite.reports._run import score_scale
from basanite.reports._scale import RATING, SHARE, ranges, scale_of
from basanite.reports._strip import Axis, axis_around_zero, strip
from basanite.schema import Score
from basanite.stats import Estimate, clustered_mean
from support.fake_runs import FakeRun, make_answer, make_judgment, make_manifest
from support.report_samples import agent_answers, claims_run, facts_run, failing_run, rating_run

SVG = "{http://www.w3.org/2000/svg}"


def _one_score(name: str, values: list[float]) -> FakeRun:
    rows = [make_answer(number) for number in range(len(values))]
    judged = [
        make_judgment(row, primary=name, scores={name: Score(value=value)})
        for row, value in zip(rows, values, strict=True)
    ]
    return FakeRun(make_manifest(rows=len(rows)), list(rows), judged)


@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("f1", [0.0, 0.5, 1.0], {SHARE}),
        ("f1", [1.0, 1.0], {SHARE, RATING}),
        ("rating", [1.0, 1.0], {RATING}),
        ("rating", [0.0, 7.0], {None}),
        ("length", [12.0, 900.0], {None}),
    ],
)
def test_a_scale_is_read_from_values(
    name: str, values: list[float], wanted: set[tuple[float, float] | None]
) -> None:
    assert ranges(name, values) == wanted


def test_a_rating_s_scale_is_the_judge_s() -> None:
    rows = agent_answers(3)
    (run,) = read_runs([rating_run(rows, low=0, high=9)])
    found = score_scale([run], "rating")
    assert (found.axis, found.unit) == (Axis(0.0, 9.0), "rating, 0 to 9")
    assert ranges("rating", [11.0], (0.0, 9.0)) == {None}
    assert scale_of("f1", [0.5], (0.0, 9.0)).axis == Axis()


def test_an_interval_beyond_the_scale_ends_in_an_arrow() -> None:
    estimate = clustered_mean([1.0, 1.0, 0.9, 0.4], range(4))
    assert estimate.high is not None
    assert estimate.high > 1
    figure = forest("x", "f1", [ForestRow("A", estimate)], Axis())
    places = [float(value) for mark in figure.marks for name, value in mark.places if name == "x"]
    assert max(places) <= figure.width
    assert [mark.role for mark in figure.marks].count("beyond") == 1
    assert any("goes on beyond" in mark.text for mark in figure.marks)
    assert f"{estimate.high:.2f}" in figure.alt
    assert "beyond" in strip(Axis(), estimate.value, (estimate.low, estimate.high))
    inside = Estimate(0.5, 0.4, 0.6, 9, 9)
    assert "beyond" not in strip(Axis(), 0.5, (0.4, 0.6))
    assert not [
        mark
        for mark in forest("x", "f1", [ForestRow("A", inside)], Axis()).marks
        if mark.role == "beyond"
    ]


def test_an_axis_around_zero_is_even() -> None:
    assert axis_around_zero([0.059, 0.048, 0.069]) == pytest.approx(Axis(-0.08, 0.08))
    assert axis_around_zero([None]) == Axis(-1.0, 1.0)
    axis = axis_around_zero([-3.0, 1.0])
    assert axis.low == -axis.high
    assert axis.leaves(-3.0, 1.0) == (False, False)


def test_every_item_is_in_one_bar() -> None:
    rows = agent_answers(30)
    for made in (claims_run(rows), facts_run(rows), failing_run(rows)):
        (run,) = read_runs([made])
        score = run.summary.primary
        (found,) = distributions([run], score, score_scale([run], score))
        assert sum(bar.count for bar in found.bars) == run.summary.n_scored
        assert sum(bar.count for bar in found.bars) + found.unscored == run.summary.n_total


def test_a_bar_holds_its_left_edge_and_the_last_one_both() -> None:
    (run,) = read_runs([_one_score("f1", [0.0, 0.1, 0.3, 0.3, 0.7, 1.0])])
    (found,) = distributions([run], "f1", score_scale([run], "f1"))
    assert [bar.count for bar in found.bars] == [1, 1, 0, 2, 0, 0, 0, 1, 0, 1]
    (run,) = read_runs([_one_score("rating", [1.0, 5.0, 5.0])])
    (found,) = distributions([run], "rating", score_scale([run], "rating"))
    assert [(bar.text, bar.count) for bar in found.bars] == [
        ("1", 1),
        ("2", 0),
        ("3", 0),
        ("4", 0),
        ("5", 2),
    ]


@pytest.mark.parametrize("tallest", [0, 1, 4, 7, 19, 100, 2600])
def test_ticks_of_counts_are_round_and_few(tallest: int) -> None:
    ticks = count_ticks(tallest)
    assert ticks[-1] >= tallest
    assert 2 <= len(ticks) <= 5
    assert len({right - left for left, right in pairwise(ticks)}) == 1


def test_plots_are_files_that_stand_alone(tmp_path: Path) -> None:
    rows = agent_answers(12)
    evil = "</svg><script>x</script> \x00\u202e"
    runs = read_runs([claims_run(rows), claims_run(rows, model=evil, shift=-0.1)])
    made = write_plots(runs, tmp_path / "plots")
    assert [path.name for path in made] == [
        "scores.svg",
        "distribution-f1.svg",
        "distribution-precision.svg",
        "distribution-recall.svg",
        "differences-f1.svg",
        "agents-A-f1.svg",
        "agents-B-f1.svg",
    ]
    for path in made:
        root = ET.parse(path).getroot()
        assert is_plot(path)
        assert root.find(f"{SVG}title") is not None
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in {
                "svg",
                "title",
                "rect",
                "path",
                "text",
                "circle",
                "polygon",
            }
            assert not {"class", "style", "href"} & set(element.attrib)


def test_page_and_file_know_the_same_roles() -> None:
    style = asset("report_plots.css") + asset("report_board.css")
    for role in PRINT:
        assert re.search(rf"\.drawing \.{role}\b", style), role
    halo = next(line for line in style.splitlines() if "paint-order" in line)
    assert set(re.findall(r"\.drawing \.(\w+)", halo)) == HALO


def test_plots_are_written_anew_and_need_a_folder(tmp_path: Path) -> None:
    runs = read_runs([claims_run(agent_answers(3))])
    first = [path.read_bytes() for path in write_plots(runs, tmp_path)]
    assert [path.read_bytes() for path in write_plots(runs, tmp_path)] == first
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="folder"):
        write_plots(runs, file)


def test_scores_of_odd_names_have_files_of_their_own(tmp_path: Path) -> None:
    row = make_answer(0)
    scores = {name: Score(value=0.5) for name in ("a/b", "a:b", "../c")}
    judged = make_judgment(row, primary="a/b", scores=scores)
    runs = read_runs([FakeRun(make_manifest(rows=1), [row], [judged])])
    made = write_plots(runs, tmp_path / "plots")
    assert len({path.name for path in made}) == len(made) == 4
    assert {path.parent for path in made} == {tmp_path / "plots"}
