"""The package's own workflows, their references, and an agent that wants to see them."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from basanite.sandboxes import SandboxSpec, find_profile, open_sandbox
from basanite.schema import digest
from basanite.suites.whatworked import (
    WORKFLOWS,
    CellCache,
    CellRun,
    EnumerateOptions,
    EpisodeHost,
    EpisodeOptions,
    InertRule,
    Refused,
    enumerate_workflow,
    host_process,
    published_references,
    shipped_origin,
    shipped_reference,
    shipped_references,
    shipped_workflow,
    sign_reversals,
)
from support.command import basanite

RULES = {
    "cells": {InertRule(3, 0, 4)},
    "mauna": set(),
    "diabetes": {InertRule(1, 0, 2)},
    "digits": {InertRule(1, 0, 2)},
    "photo": {InertRule(2, 0, 3)},
    "growers": {InertRule(1, 0, 2), InertRule(3, 0, 4)},
}
"""Seen in the workflows' code: `whiten` without `pca`, and the like."""


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_reference_is_of_the_code_that_is_here(name: str) -> None:
    workflow, origin, reference = (
        shipped_workflow(name),
        shipped_origin(name),
        shipped_reference(name),
    )
    assert origin["code_sha256"] == workflow.code_sha256
    assert reference.factors == workflow.factors
    assert reference.family == workflow.family
    runs = origin["runs"]
    assert isinstance(runs, list)
    assert [run["mask"] for run in runs] == list(workflow.space.masks)
    values = [workflow.utility(run["score"]) for run in runs]
    assert reference.values == pytest.approx(values, abs=1e-12)
    assert all(len(run["output_sha256"]) == 64 and run["wall_s"] > 0 for run in runs)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_rules_found_by_output_hash_are_those_of_the_code(name: str) -> None:
    reference = shipped_reference(name)
    assert set(reference.rules) == RULES[name]
    assert sign_reversals(reference.truth, 0.01), "a workflow in which nothing depends is too easy"
    assert reference.truth.spread > 0.05


def test_names_are_none_of_the_published_ones() -> None:
    assert not {one.name for one in published_references()} & set(WORKFLOWS)


def test_families_are_six() -> None:
    assert len({one.family for one in shipped_references()}) == 6
    assert {len(one.levels) for ref in shipped_references() for one in ref.factors} == {2, 3}


# Another processor may round a pixel, or a cluster's edge, otherwise.
@pytest.mark.parametrize(("name", "tolerance"), [("photo", 1e-3), ("cells", 0.1)])
def test_a_run_gives_what_the_reference_holds(name: str, tolerance: float, tmp_path: Path) -> None:
    if find_profile("scanpy") is None:
        pytest.skip("the profile is not built: basanite sandbox profile build scanpy")
    workflow, origin = shipped_workflow(name), shipped_origin(name)
    runs = origin["runs"]
    assert isinstance(runs, list)
    assert isinstance(origin["environment"], dict)
    cache = CellCache(tmp_path, digest(origin["environment"]))
    for run in runs[:-1]:  # all but one are done
        mask, seed = run["mask"], run["seed"]
        cache.put(
            CellRun(
                key=cache.key(workflow, mask, seed),
                workflow=name,
                config=workflow.config(mask),
                backend="none",
                policy_hash="",
                **run,
            )
        )
    found = asyncio.run(enumerate_workflow(workflow, EnumerateOptions(tmp_path)))
    assert found.n_cached == len(runs) - 1
    assert found.environment == origin["environment"]
    assert found.runs[-1].score == pytest.approx(runs[-1]["score"], abs=tolerance)
    assert found.runs[-1].backend != "none"
    assert found.reference().rules == shipped_reference(name).rules


def test_a_batch_over_budget_is_refused_whole(tmp_path: Path) -> None:
    options = EpisodeOptions(budget=2)
    with EpisodeHost(tmp_path / "e.json", shipped_reference("growers"), options) as one:
        with pytest.raises(Refused, match="nothing was measured"):
            one.call("measure", {"masks": ["00001", "00010", "00100"]})
        assert one.call("status")["left"] == 2


def test_the_three_views(tmp_path: Path) -> None:
    workflow = shipped_workflow("growers")
    seen = {}
    for view in ("opaque", "rules", "full"):
        options = EpisodeOptions(view=view, code=workflow.code if view == "full" else None)
        with EpisodeHost(tmp_path / view, shipped_reference("growers"), options) as one:
            seen[view] = one.call("task")
    assert seen["full"]["code"] == workflow.code
    assert "KNeighborsClassifier" in workflow.code
    assert seen["rules"]["rules"] == ["B=0 makes C inert", "D=0 makes E inert"]
    for view in ("opaque", "rules"):
        text = json.dumps(seen[view])
        assert not any(word in text for word in ("whiten", "growers", "wine", "pca", "neighbours"))
    assert "rules" not in seen["opaque"]


CANARY = """
import glob, os, sys
sys.path.insert(0, "/work")
from client import EpisodeClient
secrets = {secrets!r}
paths = {paths!r}
opened = [path for path in paths if os.path.exists(path)]
found = []
for top in ("/work", "/tmp", "/home", "/root", "/var", "/opt", "/srv", "/mnt", "/run", "/etc"):
    for folder, _, names in os.walk(top):
        for name in names:
            try:
                text = open(os.path.join(folder, name), errors="replace").read(1 << 20)
            except OSError:
                continue
            if name != "code.py" and any(one in text for one in secrets):
                found.append(os.path.join(folder, name))
for process in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        text = open(process, errors="replace").read()
    except OSError:
        continue
    if any(one in text for one in paths):
        found.append(process)
try:
    import basanite
    found.append(basanite.__file__)
except ImportError:
    pass
agent = EpisodeClient("/episode.sock")
for tool in ("truth", "reference", "__class__"):
    try:
        agent.call(tool)
        found.append(tool)
    except Exception as error:
        assert "unknown_tool" in repr(error) + str(getattr(error, "code", "")), error
bought = agent.measure(["10000"])["measurements"][0]["value"]
agent.submit(estimator="ard")
print({{"opened": opened, "found": found, "bought": bought}})
"""


@pytest.fixture
def short() -> Iterator[Path]:
    path = Path(f"/tmp/ww-{os.getpid()}-{time.monotonic_ns()}")
    yield path
    path.unlink(missing_ok=True)


async def test_a_canary_agent_in_a_sandbox_can_not_read_references(
    tmp_path: Path, short: Path
) -> None:
    package = Path(str(files("basanite.suites.whatworked")))
    reference = shipped_reference("growers")
    values = np.delete(reference.values, [0, 16, 31])
    state = tmp_path / "e.json"
    # One of the values as the reference's file has it.
    secrets = [repr(float(one)) for one in values if len(repr(float(one))) > 15]
    assert secrets[0] in (package / "workflows" / "growers.json").read_text(encoding="utf-8")
    paths = [str(package), str(state), str(tmp_path), str(package / "workflows" / "growers.json")]
    arguments = ["growers", "--state", str(state), "--budget", "3", "--any-user"]
    with host_process(arguments, short):
        spec = SandboxSpec.create(mounts=[{"source": short, "target": "/episode.sock"}])
        async with await open_sandbox(spec, backend="bubblewrap") as sandbox:
            await sandbox.upload("client.py", (package / "_client.py").read_bytes())
            done = await sandbox.execute(code=CANARY.format(secrets=secrets, paths=paths))
    assert done.ok, done.stderr.text
    bought = float(reference.values[reference.space.cell("10000")])
    assert done.stdout.text.strip() == str({"opened": [], "found": [], "bought": bought})


def test_without_the_option_only_the_hosts_user_can_connect(tmp_path: Path, short: Path) -> None:
    for more, others in (([], 0), (["--any-user"], 0o002)):
        state = str(tmp_path / f"{len(more)}.json")
        with host_process(["growers", "--state", state, *more], short):
            assert short.stat().st_mode & 0o002 == others
        assert not short.exists()  # an ended host takes it along


def test_workflows_are_listed_and_copied(tmp_path: Path) -> None:
    rows = basanite("suite", "whatworked", "workflows", "--json").json()["workflows"]
    assert isinstance(rows, list)
    assert [row["name"] for row in rows] == list(WORKFLOWS)
    assert all(row["current"] for row in rows)
    assert basanite("suite", "whatworked", "workflows", "--out", tmp_path).code == 0
    assert (tmp_path / "growers.py").read_bytes() == shipped_workflow("growers").files["growers.py"]
    shown = basanite(
        "suite", "whatworked", "evaluate", "--method", "ridge-pair", "--budget", "6",
        "--references", tmp_path / "references", "--json",
    ).json()  # fmt: skip
    assert shown["n_conditions"] == 6
    told = basanite("suite", "whatworked", "show", "photo", "--json").json()
    assert told["rules"] == ["C=0 makes D inert"]
    assert basanite("suite", "whatworked", "workflows", "--out", tmp_path).code != 0


def test_a_copy_that_would_overwrite_copies_nothing(tmp_path: Path) -> None:
    (tmp_path / "photo.py").write_text("mine", encoding="utf-8")
    assert basanite("suite", "whatworked", "workflows", "--out", tmp_path).code != 0
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["photo.py"]
