"""Critics by groups, and judges beside experts: cases by hand, and what chance alone does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from basanite.errors import InputError, RowError
from basanite.stats import clustered_mean
from basanite.suites import StudyOptions, StudyRow
from basanite.suites.heureka import (
    ExpertRating,
    critic_figures,
    expert_agreement,
    published_figures,
    read_ratings,
)
from support.command import write_rows


def study(arm: str, scores: list[float]) -> list[StudyRow]:
    return [StudyRow(f"q{number}", arm, score) for number, score in enumerate(scores)]


def test_the_published_table_by_hand() -> None:
    rows = study("none", [1, 2, 2, 3, 5]) + study("end", [2, 2.5, 2, 2, 4.8])
    found = critic_figures(rows)
    table = {(one.arm, one.group): one for one in found.published}
    low, whole = table["end", "low"], table["end", None]
    assert low.n == 3
    assert (low.none, low.with_critic) == pytest.approx((5 / 3, 6.5 / 3))
    assert low.gain == pytest.approx(0.3)
    # A change of exactly the threshold, 0.5, is neither better nor worse.
    assert (low.better, low.worse) == (1, 0)
    assert (whole.n, whole.better, whole.worse) == (5, 1, 1)
    assert (table["end", "mid"].n, table["end", "high"].n) == (1, 1)
    assert found.study.threshold == 0.5
    assert found.study.groups is None
    assert any("regression to the mean" in note for note in found.notes)
    assert any("no arm `baseline`" in note for note in found.notes)
    envelope: Any = found.to_json()
    assert json.loads(json.dumps(envelope, allow_nan=False)) == envelope
    assert critic_figures(rows, StudyOptions(threshold=0.4)).published[0].better == 2


def test_the_published_groups_gain_where_a_critic_does_nothing() -> None:
    random = np.random.default_rng(1)
    ability = random.normal(2.6, 0.6, 400)
    rows = [
        row
        for arm in ("none", "end", "baseline")
        for row in study(arm, np.clip(ability + random.normal(0, 0.8, 400), 1, 5).tolist())
    ]
    found = critic_figures(rows)
    low = next(one for one in found.published if one.group == "low")
    assert low.gain is not None
    assert low.gain > 0.2, "as large as the gain that was published for weak answers"
    groups = found.study.groups
    assert groups is not None
    honest = next(one for one in groups.contrasts if one.group == "low").difference.mean
    assert honest.low is not None
    assert honest.high is not None
    assert honest.low < 0 < honest.high
    assert not any("no arm `baseline`" in note for note in found.notes)


def test_questions_of_one_paper_are_taken_together() -> None:
    rows = study("none", [1, 2, 2, 3, 5]) + study("end", [2, 2.5, 2, 2, 4.8])
    papers = {"q0": "p", "q1": "p", "q2": "q4"}
    found = critic_figures(rows, StudyOptions(clusters=papers)).study
    (contrast,) = found.contrasts
    # The paper `q4` is not the question `q4`.
    expected = clustered_mean([1, 0.5, 0, -1, -0.2], ["p", "p", "another", "q3", "q4"])
    assert contrast.difference.mean.low == pytest.approx(expected.low)
    assert contrast.difference.n_clusters == 4
    assert found.arms["end"].mean.n_clusters == 4


def test_the_published_gain_is_that_of_one_run() -> None:
    stated: Any = published_figures().critics[0]
    # Paper: +22.06 % of 2.04 -> 2.49; by the means of three runs 2.08 -> 2.40 it is +15 %.
    assert round(100 * (stated["end"] / stated["none"] - 1), 2) == 22.06
    three = {
        one.critic: one.value
        for one in published_figures().results
        if one.table == 3 and one.llm == "GPT-OSS-120B"
    }
    assert round(100 * (three["end"] / three["none"] - 1)) == 15


EXPERTS = {  # answer: ratings of three experts, then the judge's
    "a": (1, 1, 2, 1.4),
    "b": (2, 3, 3, 3.0),
    "c": (5, 5, 5, 4.6),
    "d": (4, 3, 2, 4.5),
    "e": (2, 2, 4, 2.5),
    "f": (1, 2, 1, 3.2),
}


def ratings() -> list[ExpertRating]:
    names = ("x", "y", "z", "judge")
    return [
        ExpertRating(item, name, value, item)
        for item, values in EXPERTS.items()
        for name, value in zip(names, values, strict=True)
    ]


def test_a_judge_beside_experts_by_hand() -> None:
    found = expert_agreement(ratings(), ["judge"])
    assert (found.n_experts, found.n_items) == (3, 6)
    median, mode = (found.judges["judge"][way] for way in ("median", "mode"))
    # Medians 1, 3, 5, 3, 2, 1; only d (4.5) and f (3.2) are more than 1 away.
    assert median.within_one == pytest.approx(4 / 6)
    assert median.mean_difference == pytest.approx((0.4 + 0 - 0.4 + 1.5 + 0.5 + 2.2) / 6)
    # Three different ratings of d: the mode is the one nearest to the median, 3.
    assert found.tied == ("d",)
    assert mode == median
    assert median.kappa.value is not None
    assert median.kappa.low is not None
    assert median.kappa_rounded.value != median.kappa.value
    # Each expert against the median of the other two: 1 and 1.5, ...
    assert found.experts is not None
    assert found.experts.n == 18
    gaps = [
        abs(one - np.median([values[at] for at in range(3) if at != position]))
        for values in EXPERTS.values()
        for position, one in enumerate(values[:3])
    ]
    assert found.experts.within_one == pytest.approx(np.mean(np.array(gaps) <= 1))
    envelope: Any = found.to_json()
    assert json.loads(json.dumps(envelope, allow_nan=False)) == envelope


def test_answers_that_one_side_lacks_are_named() -> None:
    rows = [one for one in ratings() if (one.item, one.rater) != ("a", "judge")]
    rows.append(ExpertRating("g", "judge", 2.0, "g"))
    found = expert_agreement(rows, ["judge"])
    assert found.unrated == {"judge": ("a",)}
    assert found.unmatched == {"judge": ("g",)}
    assert found.judges["judge"]["median"].n == 5
    for judges, said in (
        (["nobody"], "there is no rater 'nobody'.*judge, x, y, z"),
        ([], "needs judge and experts"),
        (["x", "y", "z", "judge"], "needs judge and experts"),
    ):
        with pytest.raises(InputError, match=said):
            expert_agreement(ratings(), judges)
    with pytest.raises(InputError, match="'x' rates 'a' twice"):
        expert_agreement([*ratings(), ratings()[0]], ["judge"])


def test_a_file_of_ratings(tmp_path: Path) -> None:
    rows = [{"item": 1, "rater": "x", "rating": 4, "task": "p"}, {"item": 1, "rater": "j"}]
    good = [rows[0], rows[1] | {"rating": 3.5, "task": "p"}]
    assert read_ratings(write_rows(tmp_path / "good.jsonl", good)) == [
        ExpertRating("1", "x", 4.0, "p"),
        ExpertRating("1", "j", 3.5, "p"),
    ]
    for change, said in (
        ({"rating": 0.5, "task": "p"}, r"row 2: rating is `0\.5`, not from 1 to 5"),
        ({"rating": True, "task": "p"}, "row 2: rating is `true`"),
        ({"rating": None, "task": "p"}, "row 2: rating is missing"),
        ({"rating": 3}, "row 2: another row gives '1' another task"),
        ({"rating": 3, "rater": "x", "task": "p"}, "row 2: is the same item and rater as row 1"),
        ({"rating": 3, "rater": None, "task": "p"}, "row 2: rater is missing"),
    ):
        with pytest.raises(RowError, match=said):
            read_ratings(write_rows(tmp_path / "bad.jsonl", [rows[0], rows[1] | change]))
