"""The Inspect log, read with Inspect itself."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from basanite.errors import InputError, StorageError, UnscoredReason
from basanite.reports import Summary, summarise
from basanite.schema import Answer, InvalidRow, Judgment, RawReply, Usage
from basanite.store import Record, RunFolder, export_inspect
from support.fake_runs import FakeRun, make_run
from support.report_samples import (
    agent_answers,
    claims_run,
    every_kind,
    failing_run,
)
from support.run_folders import PRIVATE, private_manifest, write_fake, write_run
from support.store_samples import FINGERPRINT, make_answer, make_judgment, make_manifest

inspect_log = pytest.importorskip("inspect_ai.log", reason="needs inspect_ai: make setup")


def export(run: Path, out: Path) -> tuple[dict[str, int], Summary]:
    with RunFolder.open(run) as folder:
        numbers = summarise(folder)
        return export_inspect(folder, out, lambda _: numbers), numbers


def read(file: Path) -> Any:
    return inspect_log.read_eval_log(str(file))


def samples_of(log: Any) -> dict[tuple[str, int], Any]:
    found = {(sample.id, sample.epoch): sample for sample in log.samples}
    assert len(found) == len(log.samples)
    return found


def kinds() -> dict[str, FakeRun]:
    return {**every_kind(), "replies": make_run(6), "failing": failing_run(agent_answers(3))}


@pytest.mark.parametrize("form", ["eval", "json"])
@pytest.mark.parametrize("kind", ["claims", "facts", "rating", "choice", "replies", "failing"])
def test_inspect_reads_each_score_and_message(kind: str, form: str, tmp_path: Path) -> None:
    fake = kinds()[kind]
    run = write_fake(tmp_path / "run", fake)
    out = tmp_path / f"log.{form}"
    counts, numbers = export(run, out)
    log = read(out)
    samples = samples_of(log)
    assert len(samples) == len(fake.rows)
    judged = {one.subject_id: one for one in fake.judged}
    assert counts == {"items": len(judged), "not_judged": numbers.n_total - len(judged)}
    for row in fake.rows:
        sample = samples[row.id, 1]
        judgment = judged.get(row.id)
        shown = [name for name, score in numbers.scores.items() if not score.is_left_out]
        assert list(sample.scores) == shown
        for name, score in sample.scores.items():
            expected = None if judgment is None else judgment.scores.get(name)
            if expected is not None and expected.value is not None:
                assert (score.value, score.reason) == (expected.value, None)
            else:
                # Inspect's own mark of a score without a value, which its metrics skip.
                assert math.isnan(score.value)
                assert score.reason == _reason(row, judgment, name)
        if isinstance(row, Answer):
            assert (sample.input, sample.target) == (row.question, row.truth)
            asked, said = sample.messages
            assert (asked.role, asked.content) == ("user", row.question)
            assert (said.role, said.content) == ("assistant", row.answer)
            assert sample.output.completion == row.answer
        if judgment is not None:
            details = sample.scores[judgment.primary].metadata or {}
            whole = judgment.model_dump(mode="json")
            for name in ("replies", "claims", "verdicts", "facts", "fact_verdicts"):
                assert details.get(name, []) == whole[name]
            for name in ("choice", "probabilities", "probability_mass"):
                assert details.get(name) == whole[name]


def _reason(row: Answer | InvalidRow, judgment: Judgment | None, name: str) -> str | None:
    if judgment is None:
        return "invalid_row" if isinstance(row, InvalidRow) else "not_judged"
    return judgment.scores[name].unscored_reason if name in judgment.scores else "not_reported"


@pytest.mark.parametrize("form", ["eval", "json"])
def test_the_metrics_are_the_runs_own(form: str, tmp_path: Path) -> None:
    run = write_fake(tmp_path / "run", claims_run(agent_answers(4)))
    _, numbers = export(run, tmp_path / f"log.{form}")
    log = inspect_log.read_eval_log(str(tmp_path / f"log.{form}"), header_only=True)
    assert log.status == "success"
    assert (log.results.total_samples, log.results.completed_samples) == (16, 16)
    assert [score.name for score in log.results.scores] == ["f1", "precision", "recall"]
    for score in log.results.scores:
        mean = numbers.scores[score.name].mean
        assert score.metrics["mean"].value == mean.value
        assert score.metrics["stderr"].value == mean.error
        assert score.metadata["interval_95"] == [mean.low, mean.high]
        assert (score.scored_samples, score.unscored_samples) == (16, 0)
    headline = log.results.headline
    assert (headline.score, headline.metric) == ("f1", "mean")
    assert log.eval.task == "basanite/claims"
    assert log.eval.metadata["scores_left_out"] == {"claim_recall": {"no_contexts": 16}}


def test_inspects_own_metrics_agree(tmp_path: Path) -> None:
    """Inspect scores the samples anew, skips the unscored and finds the same numbers."""
    scorer = pytest.importorskip("inspect_ai.scorer")
    rows = agent_answers(4)
    fake = claims_run(rows)
    for place in (3, 7):
        missing = (
            fake.judged[place]
            .scores["claim_recall"]
            .model_copy(update={"unscored_reason": UnscoredReason.TIMEOUT})
        )
        scores = fake.judged[place].scores | {"f1": missing}
        fake.judged[place] = fake.judged[place].model_copy(update={"scores": scores})
    run = write_fake(tmp_path / "run", fake)
    export(run, tmp_path / "log.eval")
    log = read(tmp_path / "log.eval")
    scored = [
        scorer.SampleScore(score=one.scores["f1"], sample_metadata=one.metadata)
        for one in log.samples
        if not math.isnan(one.scores["f1"].value)
    ]
    assert len(scored) == 14
    metrics = log.results.scores[0].metrics
    assert scorer.mean()(scored) == pytest.approx(metrics["mean"].value)
    assert scorer.stderr(cluster="task")(scored) == pytest.approx(metrics["stderr"].value)


def _trials(trials: Sequence[str], questions: int = 2) -> list[Answer]:
    return [
        make_answer(f"q{question}-{trial}", question=f"Question {question}?", trial=trial)
        for question in range(questions)
        for trial in trials
    ]


@pytest.mark.parametrize(
    ("trials", "epochs"),
    [
        (("1", "2", "3"), [1, 2, 3]),
        (("0", "1", "2"), [1, 2, 3]),
        (("3", "1", "2"), [3, 1, 2]),
        (("seed-9", "seed-4"), [1, 2]),
        (("2024", "2025"), [1, 2]),
    ],
)
def test_repeated_trials_are_epochs(
    trials: tuple[str, ...], epochs: list[int], tmp_path: Path
) -> None:
    rows = _trials(trials)
    judged = [make_judgment(row.id, place / 10) for place, row in enumerate(rows)]
    run = write_run(tmp_path / "run", rows, judged, make_manifest(input=_input(len(rows))))
    export(run, tmp_path / "log.eval")
    log = read(tmp_path / "log.eval")
    found = {
        (sample.metadata["id"], sample.id, sample.epoch): sample.scores["f1"].value
        for sample in log.samples
    }
    first = [f"q{question}-{trials[0]}" for question in range(2) for _ in trials]
    expected = zip(rows, first, epochs * 2, judged, strict=True)
    assert found == {
        (row.id, id_, epoch): one.scores["f1"].value for row, id_, epoch, one in expected
    }
    assert (log.eval.dataset.samples, log.eval.config.epochs) == (2, len(trials))


def test_rows_that_only_look_alike_are_no_epochs(tmp_path: Path) -> None:
    rows = [
        make_answer("a", trial="1", agent="x"),
        make_answer("b", trial="2", agent="y"),
        make_answer("c"),
        make_answer("d"),
        make_answer("e", trial="1", agent="x", truth="B cells."),
        make_answer("f", trial="2", agent="x"),
    ]
    judged = [make_judgment(row.id) for row in rows]
    run = write_run(tmp_path / "run", rows, judged, make_manifest(input=_input(len(rows))))
    export(run, tmp_path / "log.json")
    log = read(tmp_path / "log.json")
    expected = {("a", 1), ("b", 2), ("c", 1), ("d", 1), ("e", 1), ("a", 2)}
    assert set(samples_of(log)) == expected
    # Not all samples have as many epochs: samples times epochs must still be the rows.
    assert (log.eval.dataset.samples, log.eval.config.epochs) == (6, None)


def _input(rows: int) -> dict[str, object]:
    return {"path": "in.jsonl", "sha256": "0" * 64, "rows": rows}


def test_usage_is_shown_where_one_model_used_it(tmp_path: Path) -> None:
    model = FINGERPRINT.model.model_copy(update={"kind": "openai", "name": "Qwen/Qwen3-8B"})
    judge = FINGERPRINT.model_copy(update={"model": model})
    other = {"extract_model": {"name": "small", "kind": "openai"}}
    both = judge.model_copy(update={"options": other})
    for name, whole in (("one", judge), ("two", both)):
        manifest = make_manifest(judge=whole, fingerprint_digest=whole.digest)
        used = Usage(calls=2, prompt_tokens=70, completion_tokens=7, seconds=0.5)
        judged = [make_judgment("q1", usage=used)]
        run = write_run(tmp_path / f"{name}-run", [make_answer("q1")], judged, manifest)
        export(run, tmp_path / f"{name}.eval")
    one, two = (read(tmp_path / f"{name}.eval") for name in ("one", "two"))
    for usage in (one.stats.model_usage, one.samples[0].model_usage):
        assert set(usage) == {"Qwen/Qwen3-8B"}
        shown = usage["Qwen/Qwen3-8B"]
        assert (shown.input_tokens, shown.output_tokens, shown.total_tokens) == (70, 7, 77)
    assert one.stats.role_usage["grader"].total_tokens == 77
    # One sum of two models' tokens belongs to neither.
    assert two.stats.model_usage == two.samples[0].model_usage == {}
    roles = {role: config.model for role, config in two.eval.model_roles.items()}
    assert roles == {"grader": "Qwen/Qwen3-8B", "extract": "small"}
    assert two.samples[0].metadata["usage"]["prompt_tokens"] == 70


@pytest.mark.parametrize("form", ["eval", "json"])
def test_nothing_private_is_in_a_log(form: str, tmp_path: Path) -> None:
    message = "http://10.9.8.7:8001/v1: no answer from gpu-7.lab.example, see /home/zoe/log.txt"
    reply = RawReply(role="check", text="", error=UnscoredReason.HTTP_ERROR, detail=message)
    judged = make_judgment(
        "q1", None, UnscoredReason.HTTP_ERROR, message=message, notes=(message,), replies=(reply,)
    )
    broken = InvalidRow(id="row-2", row=2, message="/home/zoe/embargoed/in.jsonl: no truth")
    rows: list[Answer | InvalidRow] = [make_answer("q1"), broken]
    run = write_run(tmp_path / "run", rows, [judged], private_manifest(rows=2))
    out = tmp_path / f"log.{form}"
    export(run, out)
    if form == "eval":
        with ZipFile(out) as archive:
            parts = [archive.read(name) for name in archive.namelist()]
    else:
        parts = [out.read_bytes()]
    text = b"".join(parts).decode("utf-8")
    assert text.count("no answer from") >= 3
    assert [word for word in PRIVATE if word in text] == []
    assert read(out).samples[0].scores["f1"].metadata["replies"][0]["error"] == "http_error"


def test_texts_of_any_kind_come_back(tmp_path: Path) -> None:
    texts = ("half \ud83d", "nul \x00", "Zoë 🧬", "\u2028</script>", "x" * 9000)
    rows = [make_answer(f"a/b \\{n}", answer=text) for n, text in enumerate(texts)]
    judged = [make_judgment(row.id) for row in rows]
    manifest = make_manifest(input=_input(len(rows)))
    run = write_run(tmp_path / "run", rows, judged, manifest)
    for form in ("eval", "json"):
        export(run, tmp_path / f"log.{form}")
        log = str(tmp_path / f"log.{form}")
        for row in rows:
            sample = inspect_log.read_eval_log_sample(log, id=row.id)
            assert sample.output.completion == row.answer.replace("\ud83d", "\ufffd")
    summaries = inspect_log.read_eval_log_sample_summaries(str(tmp_path / "log.eval"))
    assert [one.id for one in summaries] == [row.id for row in rows]
    assert {one.scores["f1"].value for one in summaries} == {0.5}
    assert json.loads(ZipFile(tmp_path / "log.eval").read("_journal/start.json"))["version"] == 2


def test_a_run_without_judgments_is_a_log_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [], [], make_manifest(input=_input(4)))
    for form in ("eval", "json"):
        counts, _ = export(run, tmp_path / f"log.{form}")
        assert counts == {"items": 0, "not_judged": 4}
        log = read(tmp_path / f"log.{form}")
        assert (log.status, log.samples or []) == ("cancelled", [])


def test_other_names_and_a_failure_leave_what_is_there(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [make_answer("q1")], [make_judgment("q1")], make_manifest())
    with pytest.raises(InputError, match=r"\.eval or \.json"):
        export(run, tmp_path / "log.zip")
    out = tmp_path / "log.eval"
    out.write_bytes(b"old")
    with RunFolder.open(run) as folder:
        numbers = summarise(folder)
        folder.ledger.append_now(Record(folder.run, "answer", "q2", {"no": "answer"}))
        with pytest.raises(StorageError, match="can't be read as Answer"):
            export_inspect(folder, out, lambda _: numbers)
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.eval", "run"]
