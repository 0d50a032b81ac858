"""Sections as data: chosen, ordered, replaced; the reasons why something has no score."""

import ast
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from markupsafe import Markup

from basanite import errors
from basanite.errors import InputError, UnscoredReason
from basanite.reports import (
    ReadRun,
    Section,
    SectionMaker,
    default_sections,
    read_runs,
    write_report,
)
from basanite.reports._reasons import MEANINGS
from support.fake_runs import FINGERPRINT, make_run
from support.report_samples import (
    agent_answers,
    choice_run,
    claims_run,
    facts_run,
    failing_run,
    rating_run,
)


def _ids(out: Path) -> list[str]:
    return re.findall(r'<section id="([^"]+)"', out.read_text(encoding="utf-8"))


def _sizes(runs: Sequence[ReadRun]) -> Section:
    return Section("sizes", "Sizes", f"{len(runs)} runs & <b>no</b> markup")


def test_callers_choose_order_and_replace_sections(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    parts = default_sections()
    end = Section("end", "End", Markup("<hr>"))
    chosen: list[Section | SectionMaker] = [parts["judges"], _sizes, parts["comparison"], end]
    write_report([make_run(3)], out, sections=chosen)
    assert _ids(out) == ["judges", "sizes", "end"]
    text = out.read_text(encoding="utf-8")
    assert "1 runs &amp; &lt;b&gt;no" in text
    assert 'id="s-0"' not in text, "without the list of items, none of their texts"
    parts.clear()
    assert "overview" in default_sections()


def test_two_sections_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'sizes'"):
        write_report([make_run(3)], tmp_path / "r.html", sections=[_sizes, _sizes])


def test_a_judge_card_stands_in_place_of_not_validated(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    card = Section("card", "agrees with 3 experts at 0.71", Markup("<p>measured on 200 items</p>"))
    write_report(read_runs([make_run(3)], cards={FINGERPRINT: card}), out)
    text = out.read_text(encoding="utf-8")
    assert "agrees with 3 experts at 0.71" in text
    assert "measured on 200 items" in text
    assert "judge not validated" not in text


def _written_reasons() -> dict[str, str]:
    """The value of each reason to the words that its own module has below it."""
    tree = ast.parse(Path(errors.__file__).read_text(encoding="utf-8"))
    body = next(
        node.body
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "UnscoredReason"
    )
    found: dict[str, str] = {}
    for name, doc in pairwise(body):
        if isinstance(name, ast.Assign) and isinstance(doc, ast.Expr):
            assert isinstance(name.value, ast.Constant)
            assert isinstance(doc.value, ast.Constant)
            found[str(name.value.value)] = str(doc.value.value)
    return found


def test_runs_on_the_same_items_share_one_row_of_the_baseline(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    rows = agent_answers(3)
    write_report([claims_run(rows), claims_run(rows, shift=-0.1), claims_run(rows[:9])], out)
    text = out.read_text(encoding="utf-8")
    table = text[text.index("<caption>f1") : text.index("<caption>precision")]
    assert re.findall(r"items of ([A-C, ]+)<", table) == ["A, B", "C"]
    assert "items of A, B<" in text[text.index('id="agreement"') :]


def test_runs_of_one_judge_in_several_modes_have_titles_of_their_own() -> None:
    rows = agent_answers(3)
    titles = [run.title for run in read_runs([facts_run(rows), rating_run(rows)])]
    assert titles == ["geval · facts · Qwen3-8B", "geval · weighted · Qwen3-8B"]


def test_every_reason_has_a_meaning_which_is_its_own() -> None:
    written = _written_reasons()
    assert {reason.value for reason in UnscoredReason} == set(written)
    assert {name: MEANINGS[name].what for name in written} == written
    for name, meaning in MEANINGS.items():
        assert meaning.what.endswith("."), name
        assert meaning.todo.endswith((".", "?")), name


def test_reasons_add_up_and_lead_to_their_items(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    run = failing_run(agent_answers(10))
    (read,) = read_runs([run])
    write_report([read], out)
    text = out.read_text(encoding="utf-8")
    table = text[text.index('id="unscored"') : text.index('id="judges"')]
    counts = {
        reason: int(number)
        for reason, number in re.findall(r'data-status="reason:(\w+)" data-run="0">(\d+)<', table)
    }
    assert counts == dict(read.summary.scores["f1"].unscored)
    assert sum(counts.values()) == read.summary.n_total - read.summary.n_scored
    assert {"invalid_row", "not_judged", "timeout"} <= set(counts)


def test_a_judge_without_a_model_has_costs_of_nothing(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    write_report([choice_run(6)], out)
    text = out.read_text(encoding="utf-8")
    costs = text[text.index('id="costs"') : text.index('id="items"')]
    assert ">0</td>" in costs
    assert "$" not in costs
