"""What the published files hold and what the paper reports, by our readers and figures.

Source: HeurekaBench (ICLR 2026) and its question files (mlbio-epfl/HeurekaBench at 24a67f1).
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from basanite.judges import CHOICE_SCORES, choice_file, choice_set
from basanite.suites.heureka import (
    AskedQuestions,
    QuestionSet,
    code_matches,
    gold_files,
    published_figures,
    published_set,
    question_baselines,
    question_json,
    question_set,
    results_of_answers,
    retrieved_files,
    score_results,
    script_pool,
    with_categories,
)
from support.command import basanite
from support.reference import reference

COUNTS = {  # papers, insights, questions
    "oeq": (12, 41, 50),
    "mcq": (13, 37, 50),
    "oeq_lite": (7, 17, 22),
    "mcq_lite": (7, 14, 18),
    "oeq_tu": (4, 9, 12),
    "mcq_tu": (5, 11, 16),
}


def _json(path: str) -> Any:
    return json.loads(reference(f"heureka/{path}").read_text(encoding="utf-8"))


def _questions(name: str) -> QuestionSet:
    return question_set(_json(f"benchmark/{name}.json"))


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_the_files_and_of_what_ships(name: str) -> None:
    found = _questions(name)
    papers = set(found.papers.values())
    assert (len(papers), len(found.insights), len(found.by_id)) == COUNTS[name]
    shipped = published_set(name)
    assert (len(set(shipped.papers.values())), shipped.n_insights) == COUNTS[name][:2]
    assert shipped.papers == found.papers
    assert shipped.kind is found.kind


def test_what_ships_has_the_published_counts_without_the_files() -> None:
    for name, counts in COUNTS.items():
        found = published_set(name)
        here = len(set(found.papers.values())), found.n_insights, len(found.papers)
        assert here == counts
    # Questions a paper, from the same source.
    per_paper = Counter(published_set("oeq").papers.values())
    assert [per_paper[f"paper{n}"] for n in range(1, 14)] == [
        4,
        8,
        1,
        0,
        2,
        2,
        11,
        2,
        6,
        3,
        5,
        2,
        4,
    ]
    for lite in ("oeq_lite", "mcq_lite"):
        assert published_set(lite).papers.keys() <= published_set(lite[:3]).papers.keys()


@pytest.mark.parametrize("name", COUNTS)
def test_each_file_goes_through_both_forms_unchanged(name: str) -> None:
    published = _json(f"benchmark/{name}.json")
    found = question_set(published)
    raw = question_json(found, raw=True)
    assert question_set(raw) == found
    structured = json.loads(json.dumps(question_json(found)))
    assert question_set(structured) == found
    # Our raw text is that of the file, but for white space around options and between parts.
    for paper, insights in published.items():
        for insight, entry in insights.items():
            written: Any = raw[paper][insight]  # type: ignore[index]
            assert written.keys() == entry.keys()
            for key, value in entry.items():
                if key.endswith("_question"):
                    assert _bare(written[key]) == _bare(value)
                else:
                    assert written[key] == value


def _bare(text: str) -> str:
    return "".join(text.split())


def test_categories_of_the_open_questions() -> None:
    path = reference("heureka/benchmark/oeq_task_category_labels.csv")
    found = with_categories(_questions("oeq"), path)
    assert sorted(Counter(found.categories.values()).values()) == [3, 4, 5, 10, 10, 18]
    lite = with_categories(_questions("oeq_lite"), path)
    assert lite.categories.items() <= found.categories.items()
    with path.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 51


@pytest.mark.parametrize(
    ("name", "baseline", "accuracy", "recall", "precision"),
    [
        ("mcq", "always_B", 22.0, 29.2, 38.0),
        ("mcq", "longest_option", 30.0, 35.2, 42.0),
        ("mcq", "all_letters", 2.0, 100.0, 32.0),
        ("mcq_lite", "always_B", 33.3, None, None),
        ("mcq_lite", "longest_option", 33.3, None, None),
    ],
)
def test_baselines_of_the_multiple_choice_questions(
    name: str, baseline: str, accuracy: float, recall: float | None, precision: float | None
) -> None:
    baselines = question_baselines(AskedQuestions.of(_questions(name)))
    assert baselines is not None
    found = baselines[baseline]
    for key, expected in (("accuracy", accuracy), ("recall", recall), ("precision", precision)):
        value = found[key]
        assert value is not None
        assert expected is None or round(100 * value, 1) == expected


@pytest.mark.parametrize("name", ["mcq", "mcq_lite", "mcq_tu"])
def test_one_run_has_the_figures_of_the_choice_metrics(name: str) -> None:
    parsed, asked = _json(f"benchmark/{name}.json"), AskedQuestions.of(_questions(name))
    written = ("B", "A,C", "A, D", "B or C", "")
    answers = {id_: written[at % 5] for at, id_ in enumerate(list(asked.papers)[3:])}
    expected: Any = choice_set(choice_file(parsed), answers)
    scores = score_results(results_of_answers(answers, "A"), asked)
    envelope: Any = scores.to_json()
    found, wanted = envelope["agents"]["A"], expected["predictions"]
    assert envelope["baselines"]["always_B"].items() <= expected["baselines"]["always_B"].items()
    for measure in CHOICE_SCORES:
        assert found[measure] == pytest.approx(wanted[measure])
        assert found[f"{measure}_interval"] == pytest.approx(wanted[f"{measure}_interval"])
        assert found[f"{measure}_published"] == pytest.approx(wanted[f"published_{measure}"])
    assert found["n_scored"] == wanted["n_scored"]


def test_code_matching_on_the_given_half_both_ways() -> None:
    """Half of the published evaluation: 25 insights, two of which got all 136 files back."""
    gold = gold_files(_json("codematcher/insights.json"))
    retrieved = retrieved_files(_json("codematcher/retrieved.json"), gold)
    pool = script_pool(reference("heureka/codematcher/code"))
    assert len(pool.paths) == 136
    found = code_matches(gold, retrieved, pool)

    whole = [one for one in found.insights if one.everything]
    assert [one.id for one in whole] == ["Insight #13", "Insight #15"]
    # By the published procedure: mean over insights of the share of distinct gold files that
    # stand in the list, counted here a second time with sets alone.
    shares = [len(set(gold[i]) & set(retrieved[i])) / len(set(gold[i])) for i in gold]
    published = found.published()
    assert published.recall.value == pytest.approx(sum(shares) / 25) == pytest.approx(0.752)
    assert (published.hits, published.gold, published.retrieved) == (82, 111, 373)
    assert published.precision.value == pytest.approx(0.66990196)
    # Ours: the two lists of everything find nothing, which costs 2 of 25.
    ours = found.figures()
    assert ours.recall.value == pytest.approx(0.752 - 2 / 25)
    assert (ours.hits, ours.gold, ours.retrieved) == (82 - 11, 111, 373)
    left = found.without_everything()
    assert left.recall.value == pytest.approx((25 * 0.752 - 2) / 23)
    assert (left.hits, left.gold, left.retrieved) == (71, 100, 101)
    # All lists but those two are as long as the insight has steps, so that a cut there is whole.
    own = found.figures("gold")
    assert own.recall.value == pytest.approx(own.precision.value)
    assert not any(one.unknown for one in found.insights)

    # The paper's figure is over all 50 insights, of which this is half.
    stated = published_figures().codematcher
    assert stated["hits"] / stated["gold"] == pytest.approx(158 / 215)  # type: ignore[operator]
    assert round(stated["recall"], 3) == 0.746  # type: ignore[arg-type]


def test_code_matching_from_the_command_line(tmp_path: Path) -> None:
    files = [reference(f"heureka/codematcher/{name}.json") for name in ("insights", "retrieved")]
    done = basanite("suite", "heureka", "codematcher", *files, "--json")
    assert done.code == 0, done.err
    found: Any = done.json()
    assert found["schema"] == "basanite.suite.heureka.codematcher/1"
    assert found["recall"] == pytest.approx(0.672)
    assert found["recall_published"] == found["as_published"]["recall"] == pytest.approx(0.752)
    assert found["as_published"]["hits"] == 82
    assert found["without_everything"]["recall"] == pytest.approx(0.7304348)
    assert found["returned_everything"] == ["Insight #13", "Insight #15"]
    assert found["pool"]["n"] == 136

    # Without the scripts beside them the figures are the same, and the lists are still seen.
    copies = [tmp_path / file.name for file in files]
    for copy, file in zip(copies, files, strict=True):
        copy.write_bytes(file.read_bytes())
    alone: Any = basanite("suite", "heureka", "codematcher", *copies, "--json").json()
    assert alone["returned_everything"] == found["returned_everything"]
    assert alone["pool"]["complete"] is False
    for part in ("recall", "precision", "hits", "at", "as_published", "without_everything"):
        assert alone[part] == found[part]


def test_published_tables_are_as_printed() -> None:
    figures = published_figures()

    def of(table: int, measure: str, **fields: object) -> dict[str, float]:
        return {
            f"{one.agent} {one.llm}": one.value
            for one in figures.results
            if one.table == table
            and one.measure == measure
            and all(getattr(one, key) == value for key, value in fields.items())
        }

    assert of(1, "rating") == {
        "BixBench-Agent Claude-4-Sonnet": 2.34,
        "CellVoyager Claude-4-Sonnet": 2.03,
        "Biomni Claude-4-Sonnet": 2.31,
    }
    assert of(2, "rating")["Biomni GPT-OSS-120B"] == 2.08
    assert of(3, "rating", critic="end")["Biomni Qwen3-235B-thinking"] == 1.73
    assert of(7, "accuracy")["none Claude-4-Sonnet"] == 0.22
    assert all(1 <= one.value <= 5 for one in figures.results if one.measure == "rating")
    assert all(0 <= one.value <= 1 for one in figures.results if one.measure != "rating")
