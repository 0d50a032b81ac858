"""Runs and agents against each other: what is paired, what is left out, what is corrected."""

from pathlib import Path

import pytest

from basanite.reports import ReadRun, compare_runs, read_runs
from basanite.reports._comparison import MAX_AGENTS, compare_agents
from basanite.schema import Answer, UnscoredReason
from basanite.stats import holm, paired_difference
from support.fake_runs import (
    FakeRun,
    make_answer,
    make_judgment,
    make_manifest,
    make_run,
    make_unscored,
)
from support.report_samples import agent_answers, claims_run, facts_run, rating_run


def _scores(run: ReadRun) -> list[float]:
    values = [run.tally.score(position, "f1") for position in range(run.tally.n_items)]
    assert None not in values
    return [value for value in values if value is not None]


def test_runs_are_compared_on_the_items_that_both_scored() -> None:
    first, second = make_run(30), make_run(30, scores=(0.7, 0.6, 0.1))
    rows = [row for row in second.rows if isinstance(row, Answer)]
    second.judged[4] = make_unscored(rows[4], UnscoredReason.TIMEOUT)
    second.judged[7] = make_judgment(make_answer(7, answer="another answer"))
    second.rows[7] = make_answer(7, answer="another answer")
    second.rows.append(make_answer(31))
    read = read_runs([first, second])
    (found,) = compare_runs(read).made
    kept = [place for place in range(30) if place not in (4, 7)]
    xs = [judgment.scores["f1"].value or 0.0 for judgment in first.judged]
    ys = [judgment.scores["f1"].value or 0.0 for judgment in second.judged]
    wanted = paired_difference(
        [xs[place] for place in kept], [ys[place] for place in kept], [p // 3 for p in kept]
    )
    assert found.difference == wanted
    assert (found.difference.n, found.n_same) == (28, 29)
    assert found.p_holm == wanted.p_value


def test_p_values_of_all_pairs_are_corrected_together() -> None:
    rows = agent_answers(12)
    read = read_runs([claims_run(rows, shift=shift) for shift in (0.0, -0.01, -0.05)])
    found = compare_runs(read).made
    assert [(pair.first, pair.second) for pair in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    plain = [pair.difference.p_value for pair in found]
    known = [value for value in plain if value is not None]
    assert [pair.p_holm for pair in found] == list(holm(known))
    assert [pair.p_holm for pair in found] != plain


def test_scores_of_different_names_and_scales_are_not_compared() -> None:
    rows = agent_answers(4)
    runs = [claims_run(rows), facts_run(rows), rating_run(rows, high=9)]
    found = compare_runs(read_runs(runs))
    assert not found.made
    whys = [pair.why for pair in found.left_out]
    assert "f1 and rating" in whys[0]
    assert "1 to 5" in whys[2]
    assert "1 to 9" in whys[2]
    assert [plain["not_compared"] for plain in found.to_json() if isinstance(plain, dict)] == whys


def test_runs_without_a_shared_item_are_not_compared() -> None:
    first, second = make_run(3), make_run(3)
    second.rows = [make_answer(number, answer="x") for number in range(3)]
    second.judged = [make_judgment(row) for row in second.rows if isinstance(row, Answer)]
    (found,) = compare_runs(read_runs([first, second])).left_out
    assert found.why == (
        "no item was scored by both (3 ids are equal, but what was judged differs)"
    )


def test_a_run_against_itself_differs_by_nothing() -> None:
    (found,) = compare_runs(read_runs([make_run(9), make_run(9)])).made
    assert found.difference.mean.value == 0
    assert found.difference.share_equal == 1
    assert found.difference.p_value == 1
    assert found.difference.detectable is None


def test_agents_are_paired_by_task() -> None:
    rows = agent_answers(12)
    (run,) = read_runs([claims_run(rows)])
    found = compare_agents(run)
    assert found is not None
    assert len(found.made) == 6
    scores = _scores(run)
    of = {agent: scores[place::4] for place, agent in enumerate(("reader", "coder"))}
    wanted = paired_difference(of["coder"], of["reader"], range(12))
    pair = next(p for p in found.made if (p.first, p.second) == ("coder", "reader"))
    assert pair.difference == wanted


@pytest.mark.parametrize("count", [1, MAX_AGENTS + 1])
def test_one_agent_or_too_many_are_not_compared(count: int) -> None:
    rows = [make_answer(n, id=f"i{n}", agent=f"agent {n % count}") for n in range(2 * count)]
    judged = [make_judgment(row) for row in rows]
    (run,) = read_runs([FakeRun(make_manifest(rows=len(rows)), list(rows), judged)])
    assert compare_agents(run) is None


def test_the_page_says_what_differs_and_what_is_not_compared(tmp_path: Path) -> None:
    from basanite.reports import write_report

    rows = agent_answers(12)
    out = tmp_path / "report.html"
    write_report([claims_run(rows), claims_run(rows, shift=-0.2), facts_run(rows)], out)
    text = out.read_text(encoding="utf-8")
    assert "first is higher" in text
    assert "their primary scores differ: f1 and rating" in text
    assert "agents against each other" in text
    write_report([claims_run(rows)], out)
    assert 'id="comparison"' not in out.read_text(encoding="utf-8")
