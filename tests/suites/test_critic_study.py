"""A critic study: paired differences, groups by an independent run, and what they find."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.stats import PairedTest
from basanite.store import Ledger
from basanite.suites import (
    TRY_AGAIN,
    Agent,
    Contrast,
    GroupCuts,
    StudyOptions,
    StudyRow,
    StudyRun,
    collect_scores,
    critic_study,
    naive_groups,
    read_study,
    second_attempt,
)
from support.command import basanite, write_rows

QUICK = StudyOptions(PairedTest(draws=50))
"""For simulations of intervals, in which no p-value is looked at."""
TASKS, LOW, HIGH, NOISE = 60, 2.5, 3.5, 0.6


def contrast(found: tuple[Contrast, ...], name: str, group: str | None = None) -> Contrast:
    (one,) = (one for one in found if (one.name, one.group) == (name, group))
    return one


def rows_of(**arms: Sequence[float | None]) -> list[StudyRow]:
    return [
        StudyRow(f"t{task}", arm, score, unscored_reason=None if score is not None else "timeout")
        for arm, scores in arms.items()
        for task, score in enumerate(scores)
    ]


def test_a_small_study_by_hand() -> None:
    rows = rows_of(
        none=[1.0, 2.0, 3.0, 4.0],
        end=[2.0, 2.0, 5.0, 3.0],
        again=[1.0, 3.0, 3.0, 4.0],
    )
    study = critic_study(rows)
    end = contrast(study.contrasts, "end - none")
    # Differences 1, 0, 2, -1: mean 0.5, sd 1.291, standard error 0.6455, t(3) at 0.975 = 3.1824.
    assert end.difference.mean.value == pytest.approx(0.5)
    mean = end.difference.mean
    assert (mean.low, mean.high) == pytest.approx((-1.5543, 2.5543), abs=1e-3)
    assert (end.better, end.equal, end.worse) == (2, 1, 1)
    assert contrast(study.contrasts, "end - again").difference.mean.value == pytest.approx(0.25)
    assert contrast(study.contrasts, "again - none").difference.mean.value == pytest.approx(0.25)
    assert {one.name for one in study.contrasts} == {"end - none", "again - none", "end - again"}
    assert study.notes == ()


def test_a_threshold_changes_the_counts_alone() -> None:
    rows = rows_of(none=[1.0, 2.0, 3.0], end=[1.4, 2.0, 4.0])
    plain, strict = (
        contrast(critic_study(rows, StudyOptions(threshold=threshold)).contrasts, "end - none")
        for threshold in (0.0, 0.5)
    )
    assert (plain.better, strict.better, strict.equal) == (2, 1, 2)
    assert plain.difference == strict.difference


def test_what_is_missing_is_named_and_never_a_zero() -> None:
    rows = rows_of(none=[1.0, None, 3.0], end=[2.0, 5.0, 3.0])
    study = critic_study(rows)
    end = contrast(study.contrasts, "end - none")
    assert end.difference.mean.value == pytest.approx(0.5)
    assert [item.task for item in end.left_out] == ["t1"]
    assert study.arms["none"].unscored == {"timeout": 1}
    assert [str(one.item) for one in study.arms["none"].missing] == ["t1"]
    assert any("again" in note for note in study.notes), "the control is asked for"


def test_trials_are_averaged_first_and_agents_stand_by_themselves() -> None:
    rows = [
        StudyRow(task, arm, score, agent, trial)
        for agent, gain in (("a", 1.0), ("b", -1.0))
        for task in ("t0", "t1", "t2")
        for arm, scores in (("none", (1.0, 3.0)), ("end", (2.0 + gain, 2.0 + gain)))
        for trial, score in zip("12", scores, strict=True)
    ]
    study = critic_study(rows)
    pooled = contrast(study.contrasts, "end - none")
    assert pooled.difference.mean.value == pytest.approx(0)
    assert (pooled.difference.n, pooled.difference.n_clusters) == (6, 3)
    assert {
        agent: one.difference.mean.value for agent, (one,) in study.by_agent.items()
    } == pytest.approx({"a": 1.0, "b": -1.0})


def test_groups_need_an_independent_run() -> None:
    rows = rows_of(none=[1.0, 5.0], end=[2.0, 4.0])
    with pytest.raises(InputError, match="regression to the mean"):
        critic_study(rows, groups=GroupCuts())
    copied = rows_of(none=[1.0, 2.0, 3.0, 4.0, 5.0], end=[2.0] * 5, baseline=[1.0, 2, 3, 4, 5])
    study = critic_study(copied, groups=GroupCuts())
    assert any("copy of that run" in note for note in study.notes)


scores = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=2, max_size=12)


@settings(max_examples=40, deadline=None)
@given(scores)
def test_swapped_arms_flip_the_sign(pairs: list[tuple[float, float]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    one = contrast(critic_study(rows_of(none=left, end=right), QUICK).contrasts, "end - none")
    two = contrast(critic_study(rows_of(none=right, end=left), QUICK).contrasts, "end - none")
    assert one.difference.mean.value == pytest.approx(-(two.difference.mean.value or 0.0))
    assert (one.better, one.equal, one.worse) == (two.worse, two.equal, two.better)


class Study:
    """Made-up studies whose truth is known: a critic helps weak tasks and hurts strong ones."""

    def __init__(self, seed: int, gain: float = 0.5, loss: float = -0.3) -> None:
        self._random = np.random.default_rng(seed)
        self._gain, self._loss = gain, loss

    def columns(self, tasks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """True effect of each task, and its scores in `none`, `end` and an independent run."""
        ability = self._random.normal(3.0, 0.8, tasks)
        effect = np.where(ability < 3.0, self._gain, self._loss)
        noise = self._random.normal(0.0, NOISE, (3, tasks))
        return effect, ability + noise[0], ability + effect + noise[1], ability + noise[2]

    def low_effect(self) -> float:
        """Mean true effect of the tasks that an independent run puts into the low group."""
        effect, _, _, baseline = self.columns(2_000_000)
        return float(effect[baseline <= LOW].mean())

    def rows(self) -> list[StudyRow]:
        _, none, end, baseline = self.columns(TASKS)
        return rows_of(none=none.tolist(), end=end.tolist(), baseline=baseline.tolist())


def covered(found: Contrast, truth: float) -> bool:
    mean = found.difference.mean
    assert mean.low is not None and mean.high is not None
    return mean.low <= truth <= mean.high


def test_the_true_effect_is_found_and_naive_groups_miss_it() -> None:
    made, cuts = Study(1), GroupCuts(LOW, HIGH)
    overall, low = (0.5 - 0.3) / 2, made.low_effect()
    hits = np.zeros(3)
    for _ in range(500):
        rows = made.rows()
        study = critic_study(rows, QUICK, cuts)
        assert study.groups is not None
        hits += (
            covered(contrast(study.contrasts, "end - none"), overall),
            covered(contrast(study.groups.contrasts, "end - none", "low"), low),
            covered(contrast(naive_groups(rows, cuts, QUICK).contrasts, "end - none", "low"), low),
        )
    whole, independent, naive = hits / 500
    print(f"coverage: {whole:.3f} of the mean, {independent:.3f} in the low group, naive {naive}")
    assert 0.92 <= whole <= 0.98
    assert 0.92 <= independent <= 0.98
    assert naive < 0.8


def test_naive_groups_show_a_gain_where_a_critic_does_nothing() -> None:
    made, cuts = Study(2, gain=0.0, loss=0.0), GroupCuts(LOW, HIGH)
    gains: dict[str, list[float]] = {"naive": [], "independent": []}
    for _ in range(60):
        rows = made.rows()
        study = critic_study(rows, QUICK, cuts)
        assert study.groups is not None
        for name, groups in (
            ("naive", naive_groups(rows, cuts, QUICK)),
            ("independent", study.groups),
        ):
            value = contrast(groups.contrasts, "end - none", "low").difference.mean.value
            assert value is not None
            gains[name].append(value)
    # (m - s) * v / w with m = 3, v = 0.36, w = 1 and s the mean of scores up to 2.5: 1.6 below.
    assert 0.3 < np.mean(gains["naive"]) < 0.6
    assert abs(np.mean(gains["independent"])) < 0.06


def test_corrected_tests_keep_the_family_error() -> None:
    random, wrong = np.random.default_rng(3), 0
    options = StudyOptions(PairedTest(draws=400))
    for _ in range(200):
        ability = random.normal(3, 0.8, 30)
        arms = {name: (ability + random.normal(0, 0.5, 30)).tolist() for name in ("none", "end")}
        arms |= {name: (ability + random.normal(0, 0.5, 30)).tolist() for name in ("plan", "again")}
        found = critic_study(rows_of(**arms), options).contrasts
        wrong += any(one.p_holm is not None and one.p_holm <= 0.05 for one in found)
    assert wrong / 200 <= 0.09, "5 %, with what 200 studies scatter"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"task": "t", "arm": "magic", "score": 1}, "magic"),
        ({"task": "t", "arm": "end", "score": "high"}, "not a number"),
        ({"task": "t", "arm": "end"}, "score"),
        ({"task": "", "arm": "end", "score": 1}, "task"),
        ({"task": "t", "arm": "none", "score": 2}, "same agent, task, arm and trial"),
        ({"task": "t", "arm": "end", "score": 1, "unscored_reason": "timeout"}, "one of the two"),
    ],
)
def test_rows_that_can_not_be(row: dict[str, object], said: str, tmp_path: Path) -> None:
    good = {"task": "t", "arm": "none", "score": 1, "unscored_reason": None}
    file = write_rows(tmp_path / "rows.jsonl", [good, row])
    with pytest.raises(InputError, match=said):
        read_study(file)


def test_one_arm_alone_can_not_be_compared() -> None:
    with pytest.raises(InputError, match="no two arms"):
        critic_study(rows_of(end=[1.0, 2.0]))


async def test_scores_of_callables_are_kept_and_not_made_twice(tmp_path: Path) -> None:
    calls: list[str] = []

    def agent(task: str) -> str:
        calls.append(task)
        return "better" if TRY_AGAIN in task else "good"

    ledger = Ledger.open(tmp_path / "ledger.sqlite")
    keep = StudyRun(ledger, "one", trials=2)
    arms: dict[str, Agent] = {"none": agent, "again": second_attempt(agent)}

    def score(task: str, answer: str) -> float | None:
        return None if task == "odd" else {"good": 1.0, "better": 2.0}[answer]

    for _ in range(2):
        found = await collect_scores({"a": "Do a.", "odd": "Do b."}, arms, score, keep)
        assert len(found.rows) == 8
        assert len(calls) == 4 + 8, "the second run made nothing"
    by_arm = {(row.task, row.arm): row.score for row in found.rows}
    assert (by_arm["a", "none"], by_arm["a", "again"]) == (1.0, 2.0)
    assert by_arm["odd", "none"] is None
    assert {row.unscored_reason for row in found.rows if row.task == "odd"} == {"undefined"}
    assert critic_study(found.rows).contrasts[0].difference.mean.value == pytest.approx(1.0)
    ledger.close()


async def test_a_second_attempt_says_nothing_of_the_draft() -> None:
    seen: list[str] = []

    async def agent(task: str) -> str:
        seen.append(task)
        if len(seen) == 2:
            raise RuntimeError("out of memory")
        return "draft one"

    assert await second_attempt(agent)("Do it.") == "draft one"
    assert seen[0] == "Do it."
    assert seen[1].startswith("Do it.\n\nYour draft:\n<<<") and seen[1].endswith(TRY_AGAIN)


def test_the_command(tmp_path: Path) -> None:
    rows = [
        {"task": f"t{task}", "arm": arm, "score": score + task % 3}
        for task in range(9)
        for arm, score in (("none", 1), ("end", 2), ("again", 1.5), ("baseline", 1))
    ]
    file = write_rows(tmp_path / "rows.jsonl", rows)
    done = basanite("critic-study", file)
    assert done.code == 0, done.err
    assert "end - again" in done.out and "baseline" in done.out
    grouped = basanite("critic-study", file, "--group-by-baseline", "--low", "1", "--json")
    assert grouped.code == 0, grouped.err
    assert grouped.json()["schema"] == "basanite.critic_study/1"
    bare = write_rows(tmp_path / "bare.jsonl", [row for row in rows if row["arm"] != "baseline"])
    refused = basanite("critic-study", bare, "--group-by-baseline")
    assert refused.code == 2
    assert "regression to the mean" in refused.err
    assert basanite("critic-study", tmp_path / "none.jsonl").code == 2
