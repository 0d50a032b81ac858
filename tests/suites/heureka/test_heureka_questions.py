"""Question files: read, written in both forms, and refused where something would be lost."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError, RowError
from basanite.schema import Answer
from basanite.store import InputFile
from basanite.suites.heureka import (
    HeurekaInsight,
    HeurekaQuestion,
    Kind,
    QuestionSet,
    agent_tasks,
    judge_rows,
    question_json,
    question_set,
    with_categories,
)
from support.command import write_rows
from support.heureka import (
    RAW_CHOICE,
    RAW_OPEN,
    choice_file,
    choice_questions,
    entry,
    open_file,
    open_questions,
)


def test_open_questions_are_read() -> None:
    found = open_questions()
    assert found.kind is Kind.OPEN
    assert list(found.papers.items()) == [
        ("paper1/insight #1/Question1", "paper1"),
        ("paper1/insight #1/Question3", "paper1"),
        ("paper1/insight #4/Question1", "paper1"),
        ("paper2/insight #5/Question1", "paper2"),
    ]
    second = found.find("paper1/insight #1/Question3").question
    assert second.question == "And which fall?\nWith all their kinds?"
    assert second.answer == "None of them."
    assert found.insights[2].other == {"doi": ["10.1/x"]}
    with pytest.raises(InputError, match=r"no question 'paper9'.*paper1/insight #1/Question1"):
        found.find("paper9")


def test_multiple_choice_is_read() -> None:
    one = choice_questions().find("paper2/insight #1/Question1").question
    assert one.kind is Kind.CHOICE
    assert one.options == {"A": "alpha", "B": "beta and more", "C": "gamma"}
    assert one.right == ("A", "C")
    assert one.answer is None


@pytest.mark.parametrize("parsed", [open_file(), choice_file()])
def test_both_forms_give_the_same_questions(parsed: dict[str, Any]) -> None:
    found = question_set(parsed)
    for raw in (True, False):
        written = json.loads(json.dumps(question_json(found, raw=raw)))
        assert question_set(written) == found
        assert question_json(question_set(written), raw=raw) == written


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


@given(TEXT, TEXT, st.sampled_from(["", "**Answer1:** x", "**Question2:** y", "\nA) z", " "]))
def test_the_raw_form_holds_a_question_as_it_is_or_refuses_it(
    question: str, answer: str, tail: str
) -> None:
    one = HeurekaQuestion(name="Question1", question=question, answer=answer + tail)
    try:
        found = QuestionSet((HeurekaInsight(paper="p", insight="i", questions=(one,)),))
    except InputError:
        assert not question.strip() or not (answer + tail).strip()
        return
    assert question_set(json.loads(json.dumps(question_json(found)))) == found
    try:
        raw = question_json(found, raw=True)
    except InputError as error:
        assert error.where == "p/i"
        marked = any(mark in question + answer + tail for mark in ("**Question", "**Answer"))
        assert marked or question != question.strip() or answer + tail != (answer + tail).strip()
    else:
        assert question_set(raw) == found


def _choice(**fields: Any) -> QuestionSet:
    given: dict[str, Any] = {"name": "Question1", "question": "Which?", "right": ("A",)}
    one = HeurekaQuestion(**given | {"options": {"A": "x", "B": "y"}} | fields)
    return QuestionSet((HeurekaInsight(paper="p", insight="i", questions=(one,)),))


def test_what_the_raw_form_cannot_hold_stays_in_the_structured_one() -> None:
    for fields in (
        {"options": {"A": "x\ny", "B": "z"}},
        {"options": {"A": "x  x", "B": "z"}},
        {"question": "Which?\nA) or B) "},
        {"name": "Q1"},
        {"name": "Question01"},
    ):
        found = _choice(**fields)
        assert question_set(question_json(found)) == found
        with pytest.raises(InputError, match="published form"):
            question_json(found, raw=True)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"options": {"A": "x"}}, "p/i/Question1: needs two options"),
        ({"options": {"A": "x", "B": " "}}, "needs two options or more, each with a text"),
        ({"options": {"A": "x", "b": "y"}}, "options are named A to Z"),
        ({"right": ()}, r"right is \[\]"),
        ({"right": ("B", "A")}, "right is"),
        ({"right": ("C",)}, "C is right and no option"),
        ({"answer": "x"}, "options and an answer in words"),
        ({"options": None}, "right letters and no options"),
        ({"options": None, "right": None}, "the answer is empty"),
        ({"question": " "}, "the question is empty"),
        ({"name": ""}, "has no name"),
    ],
)
def test_a_question_without_what_it_needs_is_refused(fields: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _choice(**fields)


def test_a_set_is_of_one_kind_and_names_stand_once() -> None:
    open_one, choice_one = open_questions().insights, choice_questions().insights
    with pytest.raises(InputError, match="open and multiple-choice"):
        QuestionSet((open_one[0], choice_one[1]))
    with pytest.raises(InputError, match="paper1/insight #1: the insight stands twice"):
        QuestionSet((open_one[0], open_one[0]))
    with pytest.raises(InputError, match="no questions"):
        QuestionSet(())
    with pytest.raises(InputError, match="p/i: asks no question"):
        QuestionSet((HeurekaInsight(paper="p", insight="i", questions=()),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Rules first. {RAW_OPEN}", r"p/i: the text does not begin with"),
        ("", "does not begin with"),
        (RAW_OPEN.replace("**Answer1:**", ""), r"p/i/Question1: no \*\*Answer1:\*\* follows"),
        (RAW_OPEN.replace("**Answer3:**", "**Answer2:**"), r"p/i/Question3: no \*\*Answer3"),
        (RAW_OPEN + "\n**Answer3:** more", r"p/i/Question3: a second \*\*Answer3"),
        (RAW_OPEN.replace("Which cells grow?", ""), "p/i/Question1: the question is empty"),
        (RAW_OPEN.replace("None of them.", ""), "p/i/Question3: the answer is empty"),
        (RAW_OPEN.replace("3:**", "1:**"), "p/i/Question1: the question stands twice"),
        (7, "p/i: oe_question is no text"),
    ],
)
def test_a_damaged_text_is_named(text: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        question_set({"p": {"i": entry(oe_question=text)}})


def test_other_shapes_are_refused() -> None:
    both = entry(oe_question=RAW_OPEN, mcq_question=RAW_CHOICE)
    for parsed, said in (
        ({"p": {"i": both}}, "has both"),
        ({"p": {"i": entry()}}, "asks no question"),
        ({"p": {"i": entry(oe_question=RAW_OPEN) | {"how": 3}}}, "how is no text"),
        ({"p": {"i": entry(oe_question=RAW_OPEN) | {"data": ["x"]}}}, "must be an object"),
        ({"p": []}, "must be an object"),
        ([], "must be an object"),
        ({}, "no questions"),
        ({"schema": "other/1", "insights": []}, "the schema is 'other/1'"),
        ({"schema": "basanite.heureka_questions/1"}, "insights is no list"),
        ({"schema": "basanite.heureka_questions/1", "insights": [], "x": 1}, "holds x"),
        ({"schema": "basanite.heureka_questions/1", "insights": [{}]}, "insight number 1: paper"),
    ):
        with pytest.raises(InputError, match=said):
            question_set(parsed)
    structured: Any = question_json(choice_questions())
    damaged = deepcopy(structured)
    damaged["insights"][1]["questions"][0]["name"] = True
    with pytest.raises(InputError, match=r"insight number 2: questions.0.name"):
        question_set(damaged)


def test_agents_see_no_answer_and_nothing_of_the_insight() -> None:
    for questions in (open_questions(), choice_questions()):
        tasks = agent_tasks(questions)
        assert [task["id"] for task in tasks] == list(questions.by_id)
        assert {key for task in tasks for key in task} <= {"id", "question", "options", "data"}
        assert "Something grows" not in json.dumps(tasks)


def test_rows_for_a_judge_can_be_read(tmp_path: Path) -> None:
    ids = list(open_questions().by_id)
    rows = judge_rows(open_questions(), {ids[0]: "b cells", ids[3]: "none"}, "mine", "2")
    rows += [
        row | {"id": f"c/{row['id']}"}
        for row in judge_rows(choice_questions(), {"paper1/insight #1/Question1": "A, C"}, "mine")
    ]
    read = [row for _, row in InputFile.scan(write_rows(tmp_path / "rows.jsonl", rows)).answers()]
    assert all(isinstance(row, Answer) for row in read)
    first, _, choice = (row for row in read if isinstance(row, Answer))
    assert (first.id, first.task, first.agent, first.trial) == (ids[0], "paper1", "mine", "2")
    assert first.truth.startswith("Cells of kind")
    assert (choice.answer, choice.truth) == ("A, C", "A,C")
    with pytest.raises(InputError, match=r"1 answers .*'paper1/insight #9/Question1'"):
        judge_rows(open_questions(), {"paper1/insight #9/Question1": "x"}, "mine")


def test_categories_are_checked(tmp_path: Path) -> None:
    questions = open_questions()
    head = ",p_id,i_id,q_id,question,task_category"
    lines = [
        f"{n},{placed.insight.paper},{placed.insight.insight},{placed.question.name},"
        f'"{" ".join(placed.question.question.split())}", "kind, {n % 2}"'
        for n, placed in enumerate(questions.placed())
    ]
    other = '9,paper9,insight #9,Question1,"Elsewhere?", "kind, 1"'

    def read(*rows: str) -> dict[str, str]:
        file = tmp_path / "labels.csv"
        file.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return dict(with_categories(questions, file).categories)

    assert list(read(head, *lines, other).values()) == ["kind, 0", "kind, 1"] * 2
    for rows, said in (
        ((head, *lines[:-1]), "1 questions have no label: paper2/insight #5/Question1"),
        ((head, *lines, lines[0]), "row 6: paper1/insight #1/Question1 stands twice"),
        ((head, lines[0].replace("grow", "fall"), *lines[1:]), "row 2: its question is not"),
        ((head, lines[0].replace('"kind, 0"', '""'), *lines[1:]), "row 2: .* has no category"),
    ):
        with pytest.raises(RowError, match=said):
            read(*rows)
    with pytest.raises(InputError, match="no column task_category"):
        read(head.replace("task_category", "label"), *lines)
    with pytest.raises(InputError, match="no such file"):
        with_categories(questions, tmp_path / "none.csv")
