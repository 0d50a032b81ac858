"""The summary's numbers: counts that add up, nothing made up, one plain envelope."""

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from basanite.judges import LexicalJudge
from basanite.reports import Summary, summarise
from basanite.schema import Answer, InvalidRow, Judgment, Score, UnscoredReason, Usage
from basanite.stats import clustered_mean
from support.fake_runs import (
    FakeRun,
    make_answer,
    make_judgment,
    make_manifest,
    make_run,
    make_unscored,
)


def _plain(found: Summary) -> Any:
    """The envelope, through strict JSON."""
    return json.loads(json.dumps(found.to_json(), allow_nan=False))


def _mixed() -> FakeRun:
    """Six rows: three scored, a timeout, an invalid row, one never judged; two unseen."""
    rows = [make_answer(n) for n in range(5)]
    judged = [make_judgment(row, 0.2 * (n + 1)) for n, row in enumerate(rows[:3])]
    judged.append(make_unscored(rows[3], UnscoredReason.TIMEOUT))
    invalid = InvalidRow(id="row-6", row=6, message="truth is missing")
    return FakeRun(make_manifest(rows=8), [*rows, invalid], judged)


def test_every_row_is_counted_once() -> None:
    found = summarise(_mixed())
    assert (found.n_total, found.n_scored) == (8, 3)
    assert found.share_unscored == pytest.approx(5 / 8)
    unscored = found.scores["f1"].unscored
    assert unscored == {"timeout": 1, "invalid_row": 1, "not_judged": 3}
    for score in found.scores.values():
        assert score.n_scored + sum(score.unscored.values()) == score.n_total == 8


def test_means_are_over_scored_items_and_clustered_by_task() -> None:
    run = make_run(30)
    values = [judgment.scores["f1"].value or 0.0 for judgment in run.judged]
    wanted = clustered_mean(values, [judgment.task for judgment in run.judged])
    found = summarise(run).scores["f1"].mean
    assert found == wanted
    assert found.n_clusters == 10


def test_an_invalid_row_that_was_judged_counts_once() -> None:
    invalid = InvalidRow(id="row-1", row=1, message="truth is missing")
    missing = Score(unscored_reason=UnscoredReason.INVALID_ROW)
    judgment = make_judgment(
        make_answer(0), subject_id="row-1", subject_digest="", scores={"f1": missing}
    )
    found = summarise(FakeRun(make_manifest(rows=1), [invalid], [judgment]))
    assert (found.n_total, dict(found.scores["f1"].unscored)) == (1, {"invalid_row": 1})


def test_a_score_that_some_judgments_lack_is_counted_as_not_reported() -> None:
    rows = [make_answer(n) for n in range(3)]
    judged = [make_judgment(row) for row in rows]
    judged[1] = make_judgment(rows[1], scores={"f1": Score(value=0.5)})
    found = summarise(FakeRun(make_manifest(rows=3), list(rows), judged))
    assert found.scores["recall"].unscored == {"not_reported": 1}
    assert found.scores["f1"].unscored == {}


def test_a_run_without_judgments_has_no_number() -> None:
    rows = [make_answer(n) for n in range(3)]
    found = summarise(FakeRun(make_manifest(rows=3), list(rows), []))
    assert (found.n_total, found.n_scored, found.share_unscored) == (3, 0, 1.0)
    plain = _plain(found)
    assert plain["baseline"] is None
    assert plain["unscored"] == {"not_judged": 3}
    empty = summarise(FakeRun(make_manifest(rows=0), [], []))
    assert (empty.n_total, empty.share_unscored) == (0, 0.0)


def test_the_envelope_is_plain_json_with_named_intervals() -> None:
    summary = summarise(make_run(30), seconds=12.5)
    found = _plain(summary)
    assert found == summary.to_json()
    assert found["schema"] == "basanite.summary/1"
    assert (found["judge"], found["primary"], found["seconds"]) == ("claims", "f1", 12.5)
    assert found["validated"] is False and found["validation"] == "judge not validated"
    scores = found["scores"]
    low, high = scores["f1_interval"]
    assert low < scores["f1"] < high
    assert set(scores) == {
        f"{name}{part}" for name in ("f1", "precision", "recall") for part in ("", "_interval")
    }


def test_an_interval_that_can_not_be_given_is_null() -> None:
    found = _plain(summarise(make_run(3)))  # three answers, one task
    assert found["scores"]["f1"] == pytest.approx(0.528666, abs=1e-5)
    assert found["scores"]["f1_interval"] is None


def test_tokens_are_null_where_no_server_reported_any() -> None:
    row = make_answer(0)
    for usage, tokens in (
        (Usage(calls=2, calls_without_usage=2), None),
        (Usage(calls=2, calls_without_usage=1, prompt_tokens=7), 7),
        (Usage(), 0),
    ):
        run = FakeRun(make_manifest(rows=1), [row], [make_judgment(row, usage=usage)])
        assert _plain(summarise(run))["usage"]["prompt_tokens"] == tokens


def test_agents_are_broken_down_only_where_there_are_any() -> None:
    agents = summarise(make_run(30)).agents
    assert [(group.name, group.n_total) for group in agents] == [("coder", 15), ("reader", 15)]
    rows = [make_answer(n, agent=None) for n in range(3)]
    nameless = FakeRun(make_manifest(rows=3), list(rows), [make_judgment(row) for row in rows])
    assert summarise(nameless).agents == ()


async def test_the_baseline_is_the_lexical_judge_on_the_items_that_were_scored() -> None:
    run = make_run(12)
    run.judged[0] = make_unscored(make_answer(0), UnscoredReason.TIMEOUT)
    lexical = LexicalJudge("weighted")
    answers = [row for row in run.rows if isinstance(row, Answer)]
    lexical.fit(answers)
    wanted = [(await lexical.judge(answer)).scores["f1"].value for answer in answers[1:]]
    found = summarise(run).baseline
    assert found is not None
    assert (found.form, found.n_total, found.scores["f1"].n) == ("weighted", 11, 11)
    assert found.scores["f1"].value == pytest.approx(sum(v or 0 for v in wanted) / 11)
    assert found.caveat == LexicalJudge.caveat


def test_agreement_is_with_each_set_of_numbers_that_people_gave() -> None:
    run = make_run(30)
    for position, judgment in enumerate(run.judged):
        human = {"overall": 1 - position % 3, "comment": "good", "Author": position % 3 == 0}
        run.judged[position] = judgment.model_copy(update={"human": human})
    found = {entry.label: entry for entry in summarise(run).agreement}
    assert set(found) == {"Author", "overall"}  # text is no number; true counts as 1
    assert (found["Author"].kind, found["overall"].kind) == ("author labels", "human labels")
    overall = found["overall"]
    assert overall.judge.pearson.value is not None and overall.judge.pearson.value > 0.9
    assert [(mean.label, mean.n) for mean in overall.judge.means] == [(-1, 10), (0, 10), (1, 10)]
    assert overall.judge.means[2].mean > overall.judge.means[0].mean
    assert overall.baseline is not None and overall.baseline.n == overall.judge.n == 30
    plain = _plain(summarise(run))["agreement"]
    assert plain["Author"]["note"] == "not a human ceiling"
    assert plain["overall"]["note"] is None


def test_undefined_agreement_has_a_reason() -> None:
    run = make_run(30, scores=(0.5,))
    run.judged = [j.model_copy(update={"scores": {"f1": Score(value=0.5)}}) for j in run.judged]
    plain = _plain(summarise(run))["agreement"]
    judge = plain["author_quality"]["judge"]
    assert judge["pearson"] is None
    assert judge["pearson_reason"] == "x is constant"


def test_no_text_is_kept_in_memory() -> None:
    class Streamed(FakeRun):
        def judgments(self) -> Iterator[Judgment]:
            for number in range(1500):
                yield make_judgment(make_answer(number), message="m" * 20_000)

    run = Streamed(make_manifest(rows=1500))
    summarise(make_run(9))  # loads what is loaded lazily
    tracemalloc.start()
    try:
        found = summarise(run)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.n_scored == 1500
    # The bootstrap's block (at most 16 MB a table) counts; 30 MB of messages would not fit.
    assert peak < 25e6 + 1500 * 2000


def test_a_summary_needs_no_template_engine() -> None:
    script = "import sys, basanite.reports; print('jinja2' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.split() == [b"False", b"False"]
