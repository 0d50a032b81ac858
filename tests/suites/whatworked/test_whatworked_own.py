"""Workflows of one's own: enumerated in sandboxes, cached, resumed, told apart by output."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from basanite.errors import InputError, SetupError
from basanite.suites.whatworked import (
    CellFailure,
    EnumerateOptions,
    Enumeration,
    Factor,
    InertRule,
    Workflow,
    default_budgets,
    enumerate_workflow,
    enumeration_facts,
    equal_outputs,
    hardness,
    read_reference,
    read_workflow,
    reference_from_json,
    surface_report,
    workflow_of_command,
    workflow_of_function,
    write_workflow_report,
)
from support import small_workflow
from support.command import basanite, start
from support.whatworked import workflow as made_reference

FACTORS = (
    Factor("smooth", "moving average"),
    Factor("width", "of the average", ("3", "5", "9")),
    Factor("clip", "clip large values"),
)
SMALL = workflow_of_function(small_workflow.run, FACTORS, name="small", better="lower")
A = (Factor("a"), Factor("b"))


def enumerated(one: Workflow, cache: Path, workers: int = 2) -> Enumeration:
    return asyncio.run(enumerate_workflow(one, EnumerateOptions(cache, workers)))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def small(cache: Path) -> Enumeration:
    return enumerated(SMALL, cache)


def test_every_configuration_is_run_as_it_would_be_here(small: Enumeration) -> None:
    assert [one.mask for one in small.runs] == list(SMALL.space.masks)
    with pytest.warns(UserWarning, match="clipped"):
        here = [small_workflow.run(SMALL.config(mask), 0) for mask in SMALL.space.masks]
    assert [one.score for one in small.runs] == pytest.approx([one["score"] for one in here])
    assert small.runs[3].metrics == pytest.approx(here[3]["metrics"])
    reference = small.reference()
    assert reference.values == pytest.approx([1 - one["score"] for one in here])
    assert small.runs[1].warnings == ("UserWarning: clipped",)
    assert small.runs[0].warnings == ()
    assert small.made()["warnings"] == {"UserWarning: clipped": 6}
    assert all(one.wall_s > 0 and one.output_sha256 for one in small.runs)


def test_rules_are_found_by_output_hash(small: Enumeration) -> None:
    reference = small.reference()
    assert reference.rules == (InertRule(0, 0, 1),)
    # Smoothed twice as far, nothing is left to clip: equal outputs that no rule tells.
    equal = [("000", "010", "020"), ("001", "011", "021"), ("110", "111"), ("120", "121")]
    assert list(equal_outputs(reference)) == equal
    again = reference_from_json(json.loads(json.dumps(small.to_json())))
    assert again.sha256 == reference.sha256
    assert again.rules == reference.rules


def test_a_second_enumeration_runs_nothing(small: Enumeration, cache: Path) -> None:
    again = enumerated(SMALL, cache)
    assert again.n_cached == 12
    assert again.runs == small.runs
    # The same configurations by another order of factors.
    turned = replace(SMALL, factors=FACTORS[::-1], name="turned")
    assert turned.code_sha256 == SMALL.code_sha256
    found = enumerated(turned, cache)
    assert found.n_cached == 12
    order = small.reference().relabelled((2, 1, 0))
    assert found.reference().values == pytest.approx(order.values)


def test_the_cache_is_keyed_by_code_files_configuration_and_seed(cache: Path) -> None:
    from basanite.suites.whatworked import CellCache

    one = CellCache(cache, "here")
    files = {**SMALL.files, "more.csv": b"1"}
    keys = {
        one.key(SMALL, "000", 0),
        one.key(SMALL, "001", 0),
        one.key(SMALL, "000", 1),
        one.key(replace(SMALL, files=files), "000", 0),
        one.key(replace(SMALL, files={**files, "more.csv": b"2"}), "000", 0),
        one.key(replace(SMALL, function="small_workflow.py:lying"), "000", 0),
        CellCache(cache, "elsewhere").key(SMALL, "000", 0),
    }
    assert len(keys) == 7
    # What only scales the score does not run it again.
    assert one.key(replace(SMALL, range=(0, 2)), "000", 0) in keys


def test_a_damaged_file_of_the_cache_is_run_again(small: Enumeration, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one = workflow_of_function(small_workflow.noisy, A)
    first = enumerated(one, tmp_path / "a")
    for number, run in enumerate(first.runs):
        text = run.model_dump_json()
        kept = {0: text[:40], 1: text.replace(run.key, first.runs[0].key), 2: "", 3: text}[number]
        (tmp_path / "b" / f"{run.key}.json").write_text(kept, encoding="utf-8")
    again = enumerated(one, tmp_path / "b")
    assert again.n_cached == 1
    assert [r.score for r in again.runs] == [r.score for r in first.runs]
    assert enumerated(one, tmp_path / "b").n_cached == 4


def test_an_enumeration_goes_on_after_a_kill(tmp_path: Path) -> None:
    source = Path(small_workflow.__file__)
    shutil.copy(source, tmp_path / "slow.py")
    factors = "".join(f'[[factors]]\nname = "{name}"\n' for name in "abc")
    described = tmp_path / "slow.toml"
    described.write_text(f'name = "slow"\nfunction = "slow.py:slow"\n{factors}', encoding="utf-8")
    runs, out = tmp_path / "runs", tmp_path / "slow.json"
    arguments = ("suite", "whatworked", "enumerate", described, "--out", out, "--cache", runs)
    killed = start(*arguments)
    until = time.monotonic() + 60
    while len(list(runs.glob("[!.]*.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=10)
    done = len(list(runs.glob("[!.]*.json")))
    assert 2 <= done < 8
    assert not out.exists()
    page = tmp_path / "page.html"
    again = basanite(*arguments, "--json", "--quiet", "--page", page)
    assert again.code == 0
    assert ">How hard<" in page.read_text(encoding="utf-8")
    told = again.json()
    assert told["n_cached"] == done
    assert told["n_runs"] == 8
    reference = read_reference(out)
    on = reference.space.codes[:, 0]
    assert reference.values == pytest.approx(0.25 + 0.5 * on)
    assert reference.rules == ()  # no output, no equivalences, although scores are equal
    refused = basanite(*arguments)
    assert refused.code != 0  # the reference is there already


def test_runs_without_a_score_are_named_and_tried_again(tmp_path: Path) -> None:
    one = workflow_of_function(small_workflow.broken, A)
    told: list[object] = []
    options = EnumerateOptions(tmp_path, on_run=told.append)
    found = asyncio.run(enumerate_workflow(one, options))
    assert [run.mask for run in found.runs] == ["00"]
    assert [(f.mask, f.reason) for f in found.failures] == [
        ("01", "raised"),
        ("10", "raised"),
        ("11", "out_of_range"),
    ]
    assert "RuntimeError: out of tune" in found.failures[0].detail
    assert "no finite number" in found.failures[1].detail
    assert "1.5 is not from 0 to 1" in found.failures[2].detail
    assert len(told) == 4
    with pytest.raises(InputError, match=r"3 of 4 runs gave no score: 01 with seed 0: raised"):
        found.reference()
    again = enumerated(replace(one, range=(0, 2)), tmp_path)
    assert again.n_cached == 1
    assert len(again.failures) == 2


def test_a_run_over_its_time_is_a_failure(tmp_path: Path) -> None:
    one = workflow_of_function(small_workflow.slow, A, timeout_s=0.2)
    found = enumerated(one, tmp_path)
    assert {f.reason for f in found.failures} == {"timeout"}


def test_equal_outputs_with_different_scores_are_refused(tmp_path: Path) -> None:
    found = enumerated(workflow_of_function(small_workflow.lying, A), tmp_path)
    with pytest.raises(InputError, match="10 and 00 put the same out and have different scores"):
        found.reference()


def test_seeds_give_noise_and_seconds_give_costs(tmp_path: Path) -> None:
    one = workflow_of_function(small_workflow.noisy, A, seeds=(0, 1, 2, 3), cost="seconds")
    reference = enumerated(one, tmp_path).reference()
    assert reference.values == pytest.approx([0.5, 0.5, 0.6, 0.6])
    assert reference.noise is not None
    assert reference.noise.replicates == 4
    assert reference.noise.sd == pytest.approx(0.02 * np.sqrt(4 / 3))
    assert reference.costs is not None
    assert (reference.costs > 0).all()


SHELL = """
import sys
level, other, seed = sys.argv[1:]
score = 0.25 if level == "off" else 0.75
open("out.txt", "w").write(f"{level} {seed}")
print("some words")
print(score if other == "off" else '{"score": %s, "metrics": {"n": 1}}' % score)
"""


def command(tmp_path: Path, *, factors: tuple[Factor, ...], code: str = SHELL) -> Enumeration:
    one = workflow_of_command(
        ["/usr/bin/python3", "run.py", "{a}", "{b}", "{seed}"],
        factors,
        name="command",
        files={"run.py": code.encode()},
        outputs=("out.txt",),
    )
    return enumerated(one, tmp_path)


def test_a_command_template(tmp_path: Path) -> None:
    odd = "; touch {seed} $(id) 'x'"
    found = command(tmp_path, factors=(Factor("a", levels=("off", odd)), Factor("b")))
    reference = found.reference()
    assert reference.values.tolist() == [0.25, 0.25, 0.75, 0.75]
    assert found.runs[1].metrics == {"n": 1.0}
    # Factor b changes nothing, whatever a is.
    assert reference.rules == (InertRule(0, 0, 1), InertRule(0, 1, 1))


@pytest.mark.parametrize(
    ("code", "reason", "detail"),
    [
        ("print(0.5)", "no_score", "no out.txt"),
        ("print(True)", "no_score", "neither a number"),
        ("print('NaN')", "no_score", "neither a number"),
        ('print(\'{"score": "0.5"}\')', "no_score", "neither a number"),
        ('print(\'{"score": 0.5, "score": 0.6}\')', "no_score", "neither a number"),
        ("", "no_score", "neither a number"),
        ("raise SystemExit(3)", "exit_code", "3"),
    ],
)
def test_a_command_without_a_score(tmp_path: Path, code: str, reason: str, detail: str) -> None:
    found = command(tmp_path, factors=A, code=code)
    assert len(found.failures) == 4
    assert isinstance(found.failures[0], CellFailure)
    assert found.failures[0].reason == reason
    assert detail in found.failures[0].detail


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        (["x", "{a}"], r"does not use the factors \['b'\]"),
        (["x", "{a}", "{b}", "{c}"], r"unknown factors: \['c'\]"),
        ([], "the command is empty"),
    ],
)
def test_templates_that_do_not_fit(parts: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        workflow_of_command(parts, A, name="bad")
    with pytest.raises(InputError, match="can't be named 'seed'"):
        workflow_of_command(["{a}", "{seed}"], (Factor("a"), Factor("seed")), name="bad")


def test_functions_that_can_not_be_copied() -> None:
    with pytest.raises(InputError, match="top level of a file"):
        workflow_of_function(lambda config, seed: 0.5, A)
    with pytest.raises(InputError, match="top level of a file"):
        workflow_of_function(len, A)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = 'x'", "name and factors are needed"),
        ("name = 'x'\nfoo = 1", "unknown field 'foo'"),
        ("name = 3", "'name' can't be 3"),
        ("seeds = [true]\nname = 'x'\nfactors = []", "no whole numbers"),
        ("better = 'more'", "better is 'more'"),
        ("range = [1]\nname = 'x'\nfactors = []", "not two numbers"),
        ("memory_mb = true", "can't be True"),
        ("name = 'x'\nfunction = 'no.py:run'\nfactors = []", "'no.py' can't be read"),
        ("name = 'x'\nfactors = [{name = 'a', levels = [1, 2]}]", "are no texts"),
        ("name = 'x'\nfactors = [{name = 'a', level = ['1']}]", "unknown"),
        ("name = 'x'\nfactors = [{}]", "has no name"),
        ("name = 'x", "can't be read as TOML"),
        ("name = '../x'\ncommand = ['a']\nfactors = []", "is no name"),
    ],
)
def test_descriptions_that_do_not_fit(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_workflow(path)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"better": "lowest"}, "better is 'lowest'"),
        ({"cost": "second"}, "cost is 'second'"),
        ({"timeout_s": float("nan")}, "the limits are nan s"),
        ({"memory_mb": 0}, "and 0 MB"),
        ({"files": ["run.py"]}, "files is no mapping"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        workflow_of_function(small_workflow.run, FACTORS, **settings)  # type: ignore[arg-type]


def test_a_profile_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_PROFILES", str(tmp_path))
    with pytest.raises(SetupError, match="profile 'base' is not built"):
        enumerated(replace(SMALL, profile="base"), tmp_path)


def test_the_page_shows_effects_interactions_reversals_and_how_hard_it_is(
    small: Enumeration, tmp_path: Path
) -> None:
    reference = small.reference()
    points = hardness(reference, methods=("ridge-main", "ard"), orders=2)
    report = surface_report(reference, points=points, facts=enumeration_facts(small))
    page = tmp_path / "page.html"
    (plot,) = write_workflow_report(report, page, plots=tmp_path / "plots")
    text = page.read_text(encoding="utf-8")
    for shown in ("Effects", "Interactions", "Sign reversals", "How hard", "Equal outputs"):
        assert f">{shown}<" in text
    assert "while smooth is off, width changes nothing" in text
    assert "UserWarning: clipped" in text
    assert "ridge-main" in plot.read_text(encoding="utf-8")
    assert report.interaction("clip", "smooth") == report.interaction("smooth", "clip")
    assert report.interaction("clip", "clip") is None


def test_reversals_name_where_a_factor_helps_and_harms() -> None:
    space = made_reference().space
    on = space.codes
    values = 0.5 + 0.2 * (2 * on[:, 0] - 1) * (on[:, 1] - 0.25)
    reference = type(made_reference()).from_values("x", values.tolist(), made_reference().factors)
    report = surface_report(reference, points=())
    one, other = report.reversals
    assert (one.factor, other.factor) == ("impute", "scale")
    assert one.helps_at == "0100 to 1100"
    assert one.harms_at == "0000 to 1000"
    assert (one.most, one.least) == pytest.approx((0.3, -0.1))
    assert one.floor == pytest.approx(0.1 / 0.3)


def test_the_curve_of_a_surface_without_interactions_is_easy() -> None:
    space = made_reference().space
    values = (0.1 + space.codes @ np.array([0.3, 0.2, 0.1, 0.05])).tolist()
    reference = type(made_reference()).from_values("x", values, made_reference().factors)
    assert default_budgets(reference) == (0, 2, 4, 6, 8)
    points = hardness(reference, methods=("ridge-main", "random"), orders=3)
    curve = {(p.method, p.budget): p for p in points}
    assert curve["ridge-main", 4].recovery > 0.99
    assert curve["ridge-main", 0].recovery < 0.9
    assert curve["ridge-main", 8].exact == 1.0
    assert curve["random", 4].recovery < curve["ridge-main", 4].recovery
    with pytest.raises(InputError):
        hardness(reference, budgets=(4, 2))
