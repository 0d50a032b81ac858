"""Scores over many questions: one denominator, the published variant, and the baselines."""

from __future__ import annotations

import json
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.judges import (
    CHOICE_SCORES,
    ChoiceBaselines,
    ChoiceQuestion,
    PublishedMetrics,
    choice_file,
    choice_predictions,
    choice_scores,
    choice_set,
    read_letters,
)
from basanite.judges._choice_metrics import single_letter_scores, subset_scores
from support.reference import reference

SETS = st.sets(st.sampled_from("ABCDE"))


@given(SETS, SETS)
def test_scores_of_one_item(chosen: set[str], right: set[str]) -> None:
    found = choice_scores(chosen, right)
    assert tuple(found) == CHOICE_SCORES
    assert all(0 <= value <= 1 for value in found.values())
    assert (found["accuracy"] == 1) == (chosen == right) == (found["f1"] == 1)
    swapped = choice_scores(right, chosen)
    assert (swapped["recall"], swapped["precision"]) == (found["precision"], found["recall"])
    if chosen and right:
        recall, precision = found["recall"], found["precision"]
        harmonic = 2 * recall * precision / (recall + precision) if recall else 0
        assert found["f1"] == pytest.approx(harmonic)


@pytest.mark.parametrize("n_options", [1, 2, 4, 6])
def test_expected_scores_are_those_of_all_draws(n_options: int) -> None:
    letters = "ABCDEF"[:n_options]
    drawn = [set(s) for r in range(1, n_options + 1) for s in combinations(letters, r)]
    for n_right in range(n_options + 1):
        right = set(letters[:n_right])
        for draws, found in (
            ([{letter} for letter in letters], single_letter_scores(n_options, n_right)),
            (drawn, subset_scores(n_options, n_right)),
        ):
            scores = [choice_scores(draw, right) for draw in draws]
            for name in CHOICE_SCORES:
                mean = sum(one[name] for one in scores) / len(scores)
                assert found[name] == pytest.approx(mean), (n_right, name)


def test_baselines_over_questions_of_different_size() -> None:
    baselines = ChoiceBaselines()
    baselines.add({"A": "xx", "B": "yy"}, {"B"})
    baselines.add({"A": "x", "B": "y", "C": "long"}, {"C"})
    found = baselines.means()
    assert baselines.n == 2
    assert list(found) == [
        *("always_A", "always_B", "always_C"),
        *("longest_option", "all_letters", "random_letter", "random_set"),
    ]
    assert [found[name]["accuracy"] for name in found][:5] == [0, 0.5, 0.5, 0.5, 0]
    assert found["always_C"]["precision"] == 0.5  # nothing chosen where there is no C
    assert found["all_letters"]["precision"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert ChoiceBaselines().means()["all_letters"]["f1"] is None


def test_the_published_variant_has_two_denominators_and_does_not_strip() -> None:
    published = PublishedMetrics()
    published.add(" A,C ", {"A", "C"})
    published.add("A, C", {"A", "C"})
    published.add("b", {"B"})
    published.add(None, {"D"})
    found = published.figures()
    assert (published.n_total, published.n_predicted) == (4, 3)
    assert found["published_accuracy"] == 1 / 4
    assert found["published_recall"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["published_precision"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["published_f1"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["published_micro_recall"] == pytest.approx(3 / 5)
    assert found["published_micro_precision"] == pytest.approx(3 / 5)
    assert set(PublishedMetrics().figures().values()) == {None}


def question(number: int, right: tuple[str, ...] = ("A",)) -> ChoiceQuestion:
    options = {"A": "one", "B": "two", "C": "the third"}
    return ChoiceQuestion(f"q{number}", f"t{number}", "Which?", options, right)


def test_a_set_with_predictions() -> None:
    questions = [question(n) for n in range(5)] + [question(5, ("A", "C"))]
    given_ = {"q0": "A", "q1": "B", "q2": "A or B", "q4": "", "q5": "A, C"}
    found: Any = choice_set(questions, given_)
    mine = found["predictions"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (mine["n_scored"], mine["n_total"], mine["n_predicted"]) == (3, 6, 5)
    assert mine["unscored"] == {"ambiguous_choice": 1, "empty_answer": 1, "no_prediction": 1}
    assert mine["n_scored"] + sum(mine["unscored"].values()) == mine["n_total"]
    assert mine["accuracy"] == pytest.approx(2 / 3)
    low, high = mine["accuracy_interval"]
    assert low < mine["accuracy"] < high
    assert mine["published_accuracy"] == pytest.approx(1 / 6)
    assert found["baselines"]["always_B"]["published_accuracy"] == 0
    assert "published_accuracy" not in found["baselines"]["random_set"]


def test_predictions_for_other_questions_are_refused() -> None:
    with pytest.raises(InputError, match=r"1 predictions are for questions .*'q9'"):
        choice_set([question(0)], {"q0": "A", "q9": "B"})
    with pytest.raises(InputError, match="no questions"):
        choice_set([])


def test_predictions_in_each_form() -> None:
    nested = {"paper1": {"insight #1": {"Question1": "A,C"}}}
    assert choice_predictions(nested) == {"paper1/insight #1/Question1": "A,C"}
    assert choice_predictions({"q": ["A", "C"], "r": []}) == {"q": "A,C", "r": "[]"}
    for bad in ({"q": 1}, {"q": None}, ["A", 1], {"p": {"q": [1]}}):
        with pytest.raises(InputError, match="text or a list of letters"):
            choice_predictions(bad)


TEXT = """**Question1:** Which?
A) one

B)two
  more

**Answer1:**B


**Question3:** And?
A) x
B) y
**Answer3:** A,B"""


def test_raw_questions_are_read() -> None:
    first, second = choice_file({"p": {"i": {"mcq_question": TEXT}, "j": {"oe_question": "…"}}})
    assert (first.id, first.task, first.question) == ("p/i/Question1", "p", "Which?")
    assert first.options == {"A": "one", "B": "two more"}
    assert (first.right, second.right) == (("B",), ("A", "B"))
    assert second.id == "p/i/Question3"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (TEXT.replace("**Answer1:**B", ""), "p/i/Question1: no \\*\\*Answer1"),
        (TEXT.replace("A,B", "C"), "p/i/Question3: .*C is not among"),
        (TEXT.replace("A,B", "see below"), "p/i/Question3: the answer can't be used"),
        (TEXT.replace("B) y", "A) y"), "p/i/Question3: option A stands twice"),
        (TEXT.replace("B) y", ""), "p/i/Question3: needs two options"),
        (TEXT.replace("3:**", "1:**"), "p/i/Question1: the question stands twice"),
        ("no marks", "p/i: no \\*\\*Question1"),
        (7, "p/i: mcq_question is no text"),
    ],
)
def test_a_damaged_question_is_named(entry: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        choice_file({"p": {"i": {"mcq_question": entry}}})


@pytest.mark.parametrize("parsed", [[], {"p": []}, {"p": {"i": "x"}}, {}, {"p": {"i": {}}}])
def test_another_shape_is_refused(parsed: object) -> None:
    with pytest.raises(InputError, match=r"must be an object|no multiple-choice question"):
        choice_file(parsed)


def benchmark(name: str) -> list[ChoiceQuestion]:
    path = reference(f"heureka/benchmark/{name}")
    return choice_file(json.loads(path.read_text(encoding="utf-8")))


def test_baselines_of_the_published_questions() -> None:
    questions = benchmark("mcq.json")
    assert len(questions) == 50
    counts = [sum(len(one.right) == n for one in questions) for n in (1, 2, 3, 4)]
    assert counts == [39, 9, 1, 1]
    letters = list(chain.from_iterable(one.right for one in questions))
    assert [letters.count(letter) for letter in "ABCD"] == [15, 19, 14, 16]
    found: Any = choice_set(questions)["baselines"]
    for name, expected in {
        "always_B": (22.0, 29.2, 38.0),
        "longest_option": (30.0, 35.2, 42.0),
        "all_letters": (2.0, 100.0, 32.0),
    }.items():
        for prefix in ("", "published_"):
            shares = [found[name][prefix + score] for score in CHOICE_SCORES[:3]]
            assert [round(100 * share, 1) for share in shares] == list(expected), name


def test_baselines_of_the_smaller_set() -> None:
    found: Any = choice_set(benchmark("mcq_lite.json"))["baselines"]
    assert round(100 * found["always_B"]["accuracy"], 1) == 33.3
    assert round(100 * found["longest_option"]["accuracy"], 1) == 33.3


def test_the_right_letters_with_spaces_are_wrong_as_published_only() -> None:
    questions = benchmark("mcq.json")
    spaced = {one.id: ", ".join(one.right) for one in questions}
    found: Any = choice_set(questions, spaced)["predictions"]
    assert (found["accuracy"], found["f1"]) == (1, 1)
    assert found["published_accuracy"] == 39 / 50


def test_options_of_the_published_questions_read_back_in_any_form() -> None:
    for one in benchmark("mcq.json"):
        for letter, text in one.options.items():
            for said in (
                *(text, f"{letter}) {text}", f"Answer: {text}", f"The correct answer is {text}."),
                f"We looked at the data.\n\n**Final Answer: {letter}) {text}**\n\nIt is so.",
            ):
                assert read_letters(said, one.options) == (letter,), (one.id, said)
        every = "\n".join(f"- {letter}) {one.options[letter]}" for letter in one.right)
        assert read_letters(f"The correct options are:\n{every}", one.options) == one.right
