"""The small model on real inputs: every item accounted for, nine of ten replies valid at once.

These take minutes. What they show is the way through the command line, not how well it judges.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import pytest

from basanite.errors import UnscoredReason
from basanite.schema import Judgment, RawReply, Usage
from basanite.store import InputFile, RunFolder
from support.command import Done, basanite
from support.embedded import need_model
from support.fake_runs import make_answer, make_judgment
from support.reference import reference

LEAST_SHARE = 0.9


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("BASANITE_EMBEDDED_THREADS", "1")


def judge(source: Path, out: Path, *more: object) -> Done:
    need_model()
    # One at a time: on one thread, two are no faster.
    return basanite(
        *("judge", "claims", source, "-o", out, "--endpoint", "embedded", "--json"),
        *("--concurrency", 1, *more),
    )


def check(done: Done, source: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that a run lost nothing, and print its share of valid first replies."""
    assert done.code in {0, 4}, done.err
    summary = done.json()
    unscored = summary["unscored"]
    assert isinstance(unscored, dict)
    ids = sorted(row.id for _, row in InputFile.scan(source).answers())
    assert summary["n_total"] == len(ids)
    assert summary["n_scored"] == len(ids) - sum(unscored.values())
    with RunFolder.open(out) as folder:
        judgments = list(folder.judgments())
    assert sorted(judgment.subject_id for judgment in judgments) == ids
    valid, asked = first_attempts(judgments)
    with capsys.disabled():
        print(f"\n{source.name}: {valid} of {asked} replies valid at the first attempt")
    assert valid >= LEAST_SHARE * asked


def first_attempts(judgments: Iterable[Judgment]) -> tuple[int, int]:
    """Count first attempts: those whose reply was valid, and all.

    A valid reply that follows a refused one of its role is taken for a repair; every refused
    reply, and every call without a reply, for a failed first attempt. Where the records leave
    it open, that counts against the model.
    """
    valid = refused = replies = calls = 0
    for judgment in judgments:
        calls += judgment.usage.calls
        replies += len(judgment.replies)
        before = None
        for reply in judgment.replies:
            if reply.error is not None:
                refused += 1
                before = reply.role
            else:
                valid += reply.role != before
                before = None
    return valid, valid + refused + max(0, calls - replies)


def _judged(*errors: UnscoredReason | None, calls: int) -> Judgment:
    replies = tuple(RawReply(role="check:truth", text="{}", error=error) for error in errors)
    return make_judgment(make_answer(0), replies=replies, usage=Usage(calls=calls))


def test_what_the_records_leave_open_counts_against_the_model() -> None:
    bad = UnscoredReason.REPLY_INVALID
    assert first_attempts([_judged(None, None, calls=2)]) == (2, 2)
    assert first_attempts([_judged(bad, None, None, calls=3)]) == (1, 2)
    assert first_attempts([_judged(bad, bad, bad, calls=3), _judged(None, calls=1)]) == (1, 4)
    assert first_attempts([_judged(None, calls=3)]) == (1, 3)


def test_the_example_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with resources.as_file(resources.files("basanite.data").joinpath("pbmc68k")) as folder:
        source = folder / "answers.jsonl"
        # One direction, which halves the time; the reference file takes both.
        done = judge(source, tmp_path / "run", "--direction", "precision")
        assert done.json()["n_total"] == 30
        check(done, source, tmp_path / "run", capsys)


def test_the_reference_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = reference("ragchecker/checking_inputs.json")
    done = judge(source, tmp_path / "run")
    check(done, source, tmp_path / "run", capsys)
    coverage = done.json()["coverage"]
    assert isinstance(coverage, dict)
    assert "faithfulness" in coverage  # the contexts were checked as well
