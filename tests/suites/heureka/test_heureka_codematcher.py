"""CodeMatcher's figures on cases whose answer is known by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.suites.heureka import (
    FilePool,
    code_matches,
    gold_files,
    retrieved_files,
    script_pool,
)
from support.command import basanite

GOLD = {"i1": ["a.py", "b.py"], "i2": ["c.py"], "i3": ["d.py", "a.py"]}
POOL = FilePool(frozenset(f"{letter}.py" for letter in "abcdef"), "by hand")


def test_recall_and_precision_at_k_by_hand() -> None:
    found = code_matches(
        GOLD, {"i1": ["a.py", "x.py", "b.py"], "i2": [], "i3": ["e.py", "d.py"]}, POOL, cuts=[1, 2]
    )
    whole = found.figures()
    assert (whole.hits, whole.gold, whole.retrieved) == (3, 5, 5)
    assert whole.recall.value == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert whole.precision.value == pytest.approx((2 / 3 + 0 + 1 / 2) / 3)
    first = found.figures(1)
    assert first.recall.value == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert first.precision.value == pytest.approx(1 / 3)
    own = found.figures("gold")
    assert (own.hits, own.retrieved) == (2, 4)
    envelope: Any = found.to_json()
    assert envelope["unknown_paths"] == {"i1": ["x.py"]}
    assert envelope["returned_nothing"] == ["i2"]
    assert list(envelope["at"]) == ["1", "2", "gold"]
    assert envelope["random_recall"] == {"1": 1 / 6, "2": 2 / 6}
    assert json.loads(json.dumps(envelope, allow_nan=False)) == envelope


def test_everything_is_visible_and_no_hit() -> None:
    everything = [*sorted(POOL.paths), "x.py"]
    lists = {"i1": everything, "i2": ["c.py"], "i3": ["d.py", "a.py"]}
    found = code_matches(GOLD, lists, POOL)
    assert [one.everything for one in found.insights] == [True, False, False]
    assert found.figures().recall.value == pytest.approx(2 / 3)
    assert found.figures(1).hits == 2, "at a cut it finds nothing either"
    assert found.published().recall.value == 1
    assert found.without_everything().recall.value == 1
    assert any("1 of 3 lists hold every file" in note for note in found.notes())
    # All but one file is not everything; precision and the cuts say what it is worth.
    lists["i1"] = everything[1:]
    assert not code_matches(GOLD, lists, POOL).insights[0].everything


def test_a_complete_answer_is_not_everything() -> None:
    # With no files beside its own, an insight that gets them all is right.
    found = code_matches({"i": ["a", "b"]}, {"i": ["a", "b"]})
    assert not found.insights[0].everything
    assert found.figures().recall.value == 1


def test_unknown_paths_are_never_hits() -> None:
    lists = {"i1": ["./a.py", "code/b.py"], "i2": ["C.py"], "i3": ["d.py", "d.py", " d.py "]}
    found = code_matches(GOLD, lists, POOL)
    assert found.insights[0].unknown == ("code/b.py",)
    assert found.insights[1].unknown == ("C.py",)
    assert found.insights[2].repeated == ("d.py",)
    assert (found.figures().hits, found.figures().retrieved) == (2, 4)
    with pytest.raises(InputError, match=r"i2: its file 'c.py' is not among the 1 of two"):
        code_matches({"i2": ["c.py"]}, {"i2": ["c.py"]}, FilePool(frozenset({"a.py"}), "two"))


def test_an_insight_without_a_list_is_in_no_figure() -> None:
    found = code_matches(GOLD, {"i1": ["a.py", "b.py"], "i2": ["c.py"]}, POOL)
    assert found.not_retrieved == ("i3",)
    assert found.figures().recall.value == 1
    envelope: Any = found.to_json()
    assert (envelope["n_insights"], envelope["n_scored"]) == (3, 2)
    assert any("1 insights have no list" in note for note in envelope["notes"])


PATHS = st.lists(st.sampled_from([*sorted(POOL.paths), "x", "y"]), max_size=12)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PATHS, st.integers(1, 12))
def test_counts_hold_together(paths: list[str], k: int) -> None:
    found = code_matches(GOLD, {"i1": paths, "i2": [], "i3": []}, POOL).insights[0]
    ours, cut, published = found.counts(), found.counts(k), found.published_counts()
    assert cut.hits <= ours.hits <= published.hits <= published.gold == 2
    assert ours.hits == (0 if found.everything else published.hits)
    assert cut.retrieved == min(k, ours.retrieved) == min(k, len(set(paths)))
    assert 0 <= cut.precision <= 1
    assert set(found.unknown) == set(paths) & {"x", "y"}


@pytest.mark.parametrize(
    ("gold", "retrieved", "cuts", "said"),
    [
        ({}, {}, [1], "no insights"),
        ({"i": []}, {}, [1], "i: names no files"),
        ({"i": [" "]}, {}, [1], "or an empty path"),
        (GOLD, {"i9": ["a.py"]}, [1], "1 lists are for insights that are not there: 'i9'"),
        (GOLD, {"i1": ["a.py", ""]}, [1], "i1: an empty path came back"),
        (GOLD, {}, [0], r"the cuts are \[0\]"),
        (GOLD, {}, [], r"the cuts are \[\]"),
    ],
)
def test_bad_input_is_named(gold: Any, retrieved: Any, cuts: list[int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        code_matches(gold, retrieved, cuts=cuts)


def test_files_in_each_form() -> None:
    assert gold_files({"i": {"gt_files": "a.py; ./b.py;"}}) == {"i": ["a.py", "b.py"]}
    assert gold_files({"i": ["a.py"], "j": "b.py"}) == {"i": ["a.py"], "j": ["b.py"]}
    entry = {"gt_files": "b.py;a.py", "rt_files": ""}
    assert retrieved_files({"i": entry}, {"i": ["a.py", "b.py"]}) == {"i": []}
    with pytest.raises(InputError, match="i: its gt_files are others"):
        retrieved_files({"i": entry}, {"i": ["a.py"]})
    for parsed, said in (
        ([], "must be an object"),
        ({"i": {"rt_files": "a"}}, "i: has no gt_files"),
        ({"i": True}, "i: gt_files is no text"),
        ({"i": {"gt_files": ["a", 1]}}, "i: gt_files is no text and no list of texts"),
    ):
        with pytest.raises(InputError, match=said):
            gold_files(parsed)


def _write(folder: Path, name: str, value: object) -> Path:
    file = folder / name
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def test_the_pool_of_a_folder_holds_code_only(tmp_path: Path) -> None:
    (tmp_path / "code" / "sub").mkdir(parents=True)
    for name in ("a.py", "sub/b.R", "notes.txt", "index.json"):
        (tmp_path / "code" / name).touch()
    assert script_pool(tmp_path / "code").paths == {"a.py", "sub/b.R"}
    assert script_pool(tmp_path / "p.json", {"x.py": "says"}).paths == {"x.py"}
    with pytest.raises(InputError, match="holds no files of code"):
        script_pool(tmp_path / "code" / "none.json", [])
    with pytest.raises(InputError, match="no list of paths"):
        script_pool(tmp_path / "p.json", [1])


def test_the_command_with_and_without_scripts(tmp_path: Path) -> None:
    gold = _write(tmp_path, "insights.json", GOLD)
    lists = _write(tmp_path, "retrieved.json", {"i1": ["a.py", "zz.py"], "i2": ["c.py", "e.py"]})
    scripts = _write(tmp_path, "all.json", sorted(POOL.paths))
    command = ("suite", "heureka", "codematcher", gold, lists)
    found: Any = basanite(*command, "--scripts", scripts, "-k", 1, "--json").json()
    assert found["unknown_paths"] == {"i1": ["zz.py"]}
    assert found["not_retrieved"] == ["i3"]
    assert found["pool"] == {"n": 6, "source": str(scripts), "complete": True}
    alone: Any = basanite(*command, "--json").json()
    assert alone["unknown_paths"] == {"i1": ["zz.py"], "i2": ["e.py"]}
    assert (alone["hits"], alone["recall"]) == (found["hits"], found["recall"])
    # A folder `code` that lacks a file of the insights is not theirs.
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").touch()
    assert basanite(*command, "--json").json()["pool"] == alone["pool"]
    shown = basanite(*command)
    assert shown.code == 0
    assert "unknown paths of i1: zz.py" in shown.out
    assert "no list for these insights: i3" in shown.out
    bad = basanite("suite", "heureka", "codematcher", gold, _write(tmp_path, "b.json", {"i9": ""}))
    assert bad.code == 2
    assert "'i9'" in bad.err
