"""The section on multiple choice: scores beside answers without thought."""

from __future__ import annotations

import asyncio
import re

from basanite.judges import ChoiceJudge
from basanite.reports import summarise
from basanite.reports._choice_section import choice
from basanite.reports._run import read_runs
from basanite.schema import Answer
from support.choices import OPTIONS, choice_answer
from support.fake_runs import FakeRun, make_manifest, make_run


def made(*rows: Answer, judged: int | None = None) -> FakeRun:
    """A run of the choice judge over rows, of which the first ones are judged."""
    judge = ChoiceJudge()
    done = [asyncio.run(judge.judge(row)) for row in rows[:judged]]
    return FakeRun(make_manifest("choice", model="none", rows=len(rows)), list(rows), done)


def rows_of(body: str) -> dict[str, list[str]]:
    """Label of each table row to its cells, without marks."""
    found = {}
    for line in re.findall(r"<tr.*?</tr>", body, flags=re.DOTALL):
        cells = [re.sub(r"<[^>]+>", " ", cell).split() for cell in re.split(r"</t[hd]>", line)]
        found[" ".join(cells[0])] = [cell[0] for cell in cells[1:] if cell]
    return found


def test_baselines_are_over_the_items_that_were_scored() -> None:
    rows = [choice_answer(n, truth="ABCB"[n]) for n in range(4)]
    run = made(*rows, choice_answer(4, answer="hard to say", truth="D"))
    section = choice(read_runs([run]))
    assert section is not None
    assert section.id == "choice"
    found = rows_of(str(section.body))
    assert found["the agent’s answers"] == ["0.500", "0.500", "0.500", "0.500", "4"]
    assert found["always B"] == found["the agent’s answers"]
    assert found["always D"] == ["0.000", "0.000", "0.000", "0.000", "4"]
    assert found["one letter at random (expected)"][0] == "0.250"
    figures = summarise(run).choice
    assert figures is not None
    assert (figures.n_compared, figures.n_questions, figures.n_predicted) == (4, 5, 5)
    assert figures.published["published_accuracy"] == 2 / 5


def test_only_runs_of_multiple_choice_are_shown() -> None:
    claims, choices = make_run(6), made(choice_answer(0))
    assert choice(read_runs([claims])) is None
    section = choice(read_runs([claims, choices]))
    assert section is not None
    assert str(section.body).count("<table") == 1
    assert "B · choice" in str(section.body)
    assert summarise(claims).choice is None
    assert "choice" not in summarise(claims).to_json()


def test_a_run_without_scores_has_no_number() -> None:
    for run in (made(choice_answer(0), judged=0), made(choice_answer(0, answer="?"))):
        section = choice(read_runs([run]))
        assert section is not None
        found = rows_of(str(section.body))
        assert set(found["all letters"][:-1]) == {"n/a"}
        assert found["the agent’s answers"][-1] == "0"


def test_texts_of_options_never_reach_the_section() -> None:
    hostile = OPTIONS | {"E": "<script>alert(1)</script>"}
    section = choice(read_runs([made(choice_answer(0, options=hostile))]))
    assert section is not None
    assert "script" not in str(section.body)
