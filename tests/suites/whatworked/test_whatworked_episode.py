"""The protocol: budget, receipts, views, limits, and a reference that no agent reads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from basanite.errors import InputError, StorageError
from basanite.suites.whatworked import (
    TOOLS,
    EpisodeClient,
    EpisodeHost,
    EpisodeOptions,
    EpisodeRefused,
    Noise,
    Refused,
    episode_submission,
    estimator_named,
    host_process,
    score_submission,
)
from basanite.suites.whatworked._client import main as client_main
from basanite.suites.whatworked._episode_state import EpisodeState, StateFile
from basanite.suites.whatworked._serve import answer_line
from support.command import basanite
from support.whatworked import SECRET, host, reference_file, workflow


def test_measure_gives_receipts_and_repeats_are_free(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        first = one.call("measure", {"masks": ["0001", "1000"]})
        assert (first["receipt"], first["left"]) == (1, 1.0)
        assert first["measurements"][1] == {"mask": "1000", "value": 0.5}  # type: ignore[index]
        again = one.call("measure", {"masks": ["1000", "0000", "1000", "0001"]})
        assert (again["receipt"], again["left"]) == (2, 1.0)


def test_a_batch_over_budget_is_refused_whole(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        with pytest.raises(Refused, match="costs 4 and 3 is left; nothing") as refused:
            one.call("measure", {"masks": ["0001", "0010", "0100", "1000"]})
        assert refused.value.reason == "over_budget"
        status = one.call("status")
        assert status["left"] == 3.0
        assert len(status["measurements"]) == 2  # type: ignore[arg-type]
        with pytest.raises(Refused, match="is no mask"):
            one.call("measure", {"masks": ["0001", "00x1"]})
        assert one.call("status")["left"] == 3.0


def test_submission_closes_the_episode_and_is_scored(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        one.call("measure", {"masks": ["1000", "0100", "1001"]})
        table = one.call("fit", {"estimator": "ridge-main"})["table"]
        assert isinstance(table, dict)
        one.call("submit", {"table": table})
        with pytest.raises(Refused, match="closed"):
            one.call("measure", {"masks": ["0001"]})
        assert one.call("status")["submitted"] is True
    found = score_submission(
        episode_submission(tmp_path / "episode.json", workflow(), agent="me"),
        [estimator_named("ridge-main")],
    )
    assert found.delivered is not None
    assert found.delivered == found.replayed["ridge-main"]
    assert found.to_json()["n_measured"] == 5


def test_submitting_an_estimator_hands_its_intervals_in(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        one.call("measure", {"masks": ["1000", "0100", "0010"]})
        one.call("submit", {"estimator": "ard"})
    found = score_submission(episode_submission(tmp_path / "episode.json", workflow(), agent="me"))
    assert found.coverage is not None
    assert found.width is not None
    assert 0 < found.width < 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"table": {"0000": 0.5}}, "15 of 16 masks are missing: 0001"),
        ({"table": {f"{i:04b}": True for i in range(16)}}, "no numbers from 0 to 1: 0000: True"),
        ({"table": {f"{i:04b}": float("nan") for i in range(16)}}, "0000: nan"),
        ({"table": {f"{i:04b}": 1.5 for i in range(16)}}, "0000: 1.5"),
        ({"table": {f"{i:05b}": 0.5 for i in range(16)}}, "unknown masks"),
        ({"table": [0.5] * 15}, "15 values for 16 masks"),
        ({"table": 3}, "no object of numbers"),
        ({}, "one of the two"),
        ({"estimator": "oracle"}, "no estimator 'oracle'"),
        ({"estimator": "ard", "intervals": {"0000": [0, 1]}}, "masks are missing"),
        ({"truth": {}}, "unexpected keyword"),
    ],
)
def test_bad_submissions_are_refused_and_leave_it_open(
    tmp_path: Path, arguments: dict[str, object], problem: str
) -> None:
    with host(tmp_path) as one:
        with pytest.raises(Refused, match=problem.replace("(", r"\(")):
            one.call("submit", arguments)
        assert not one.submitted


def test_the_three_views(tmp_path: Path) -> None:
    code = "def run(impute, scale): ..."
    seen = {}
    for view in ("full", "opaque", "rules"):
        folder = tmp_path / view
        folder.mkdir()
        with host(folder, view=view, code=code if view == "full" else None) as one:
            seen[view] = one.call("task")
    full = json.dumps(seen["full"])
    assert code in full
    assert "impute" in full
    for view in ("opaque", "rules"):
        text = json.dumps(seen[view])
        assert not any(word in text for word in ("impute", "stack", "made", "def run"))
    assert seen["rules"]["rules"] == ["A=0 makes D inert"]
    assert "rules" not in seen["opaque"]
    assert seen["opaque"]["anchors"] == {"0000": 0.2, "1111": workflow().values[15]}
    with pytest.raises(InputError, match="needs the workflow's code"):
        host(tmp_path, view="full")


def test_rules_reach_the_helpers_only_where_the_agent_sees_them(tmp_path: Path) -> None:
    tables = {}
    for view in ("opaque", "rules"):
        (tmp_path / view).mkdir()
        with host(tmp_path / view, view=view) as one:
            one.call("measure", {"masks": ["0001"]})
            tables[view] = one.call("fit", {"estimator": "gp"})["table"]
    same = [("0010", "0011"), ("0100", "0101")]
    assert all(tables["rules"][a] == tables["rules"][b] for a, b in same)  # type: ignore[index]
    assert any(tables["opaque"][a] != tables["opaque"][b] for a, b in same)  # type: ignore[index]


def test_a_table_with_a_mask_twice_is_refused(tmp_path: Path) -> None:
    line = '{"tool": "submit", "arguments": {"table": {"0000": 0.1, "0000": 0.9}}}'
    with host(tmp_path) as one:
        found = answer_line(one, line)
        assert "'0000' stands twice" in str(found["error"])
        assert not one.submitted


def test_a_state_file_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    with host(tmp_path):
        pass
    path = tmp_path / "episode.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"budget": 3', '"budget": 3, "budget": 9'), encoding="utf-8")
    with pytest.raises(InputError, match="'budget' stands twice"):
        host(tmp_path)


@pytest.mark.parametrize("tool", [[], {}, 3, None])
def test_a_tool_that_is_no_text_is_unknown(tmp_path: Path, tool: object) -> None:
    with host(tmp_path) as one:
        error = answer_line(one, json.dumps({"tool": tool}))["error"]
    assert isinstance(error, dict)
    assert error["code"] == "unknown_tool"


def test_what_can_not_be_written_has_not_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: StateFile, state: EpisodeState) -> None:
        raise StorageError("the disk is full")

    with host(tmp_path) as one:
        before = one.call("status")
        with monkeypatch.context() as patch:
            patch.setattr(StateFile, "write", full)
            for tool, arguments in (
                ("measure", {"masks": ["1000"]}),
                ("submit", {"estimator": "gp"}),
                ("calculate", {"code": "1"}),
            ):
                with pytest.raises(StorageError):
                    one.call(tool, arguments)
        assert one.call("status") == before
        assert one.call("measure", {"masks": ["1000"]})["left"] == 2.0
    assert episode_submission(tmp_path / "episode.json", workflow(), agent="me").table is None


def test_a_budget_holds_costs_whose_sum_is_rounded(tmp_path: Path) -> None:
    costs = np.full(16, 0.1)
    costs[8] = 1e6
    reference = workflow(costs=costs.tolist())
    options = EpisodeOptions(budget=1e6 + 0.1)
    with EpisodeHost(tmp_path / "costs.json", reference, options) as one:
        one.call("measure", {"masks": ["1000"]})
        assert one.call("measure", {"masks": ["0100"]})["left"] == 0.0


def test_an_episode_goes_on_after_its_host_ended(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        one.call("measure", {"masks": ["0001"]})
        with pytest.raises(InputError, match="another host"):
            host(tmp_path)
    with host(tmp_path) as one:
        assert one.call("status")["left"] == 2.0
    with pytest.raises(InputError, match="another budget"):
        host(tmp_path, budget=9)


def test_an_episode_stays_with_its_reference(tmp_path: Path) -> None:
    host(tmp_path).close()
    other = workflow(family="another")
    with pytest.raises(InputError, match="of another reference"):
        EpisodeHost(tmp_path / "episode.json", other, EpisodeOptions(budget=3))
    with pytest.raises(InputError, match="of another reference"):
        episode_submission(tmp_path / "episode.json", other, agent="me")


def test_the_state_holds_no_utility_that_was_not_measured(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        one.call("measure", {"masks": ["0001"]})
    text = (tmp_path / "episode.json").read_text(encoding="utf-8")
    assert str(SECRET) not in text
    assert str(SECRET) in json.dumps(workflow().to_json())


def test_noise_costs_each_run_and_is_the_same_again(tmp_path: Path) -> None:
    made = workflow(noise=Noise(0.05, 4))
    values = []
    for name in ("a", "b"):
        with EpisodeHost(tmp_path / name, made, EpisodeOptions(budget=4, seed=3)) as one:
            if name == "b":
                one.call("measure", {"masks": ["1000"]})
            got = one.call("measure", {"masks": ["0001", "0001"]})
            values.append([row["value"] for row in got["measurements"]])  # type: ignore[attr-defined]
            assert got["left"] == (2.0 if name == "a" else 1.0)
            assert one.call("fit")["table"]["0001"] not in values[-1]  # type: ignore[index]
    assert values[0] == values[1]
    assert values[0][0] != values[0][1]


def test_costs(tmp_path: Path) -> None:
    made = workflow(costs=[1.0] * 8 + [5.0] * 8)
    with EpisodeHost(tmp_path / "e", made, EpisodeOptions(budget=6)) as one:
        assert one.call("measure", {"masks": ["1000"]})["left"] == 1.0
        with pytest.raises(Refused, match="costs 5 and 1 is left"):
            one.call("measure", {"masks": ["1001"]})
        assert one.call("task")["unit"] == "cost"


class TestCalculate:
    def test_it_computes_over_what_was_measured(self, tmp_path: Path) -> None:
        with host(tmp_path) as one:
            got = one.call("calculate", {"code": "d = y['1111'] - y['0000']\nround(d, 3)"})
        assert got == {"value": 0.55, "calls_left": 19}

    @pytest.mark.parametrize(
        "code",
        [
            "().__class__",
            "__import__('os')",
            "import os",
            "open('/etc/passwd')",
            "[x for x in y].append(1)",
            "(lambda: 1)()",
            "f'{y.__class__}'",
            "x = 1",
            "10 ** 10 ** 10",
            "[0] * 10 ** 9",
            "sum(range(10 ** 12))",
            "'a' * 200000",
            "y['0110']",
        ],
    )
    def test_it_reaches_nothing_else(self, tmp_path: Path, code: str) -> None:
        with host(tmp_path, calculate_call_s=1) as one:
            with pytest.raises(Refused) as refused:
                one.call("calculate", {"code": code})
            assert refused.value.reason == "calculate"
            assert one.call("status")["calculate_calls_left"] == 19

    def test_calls_and_cpu_are_capped(self, tmp_path: Path) -> None:
        with host(tmp_path, calculate_calls=1) as one:
            one.call("calculate", {"code": "1"})
            with pytest.raises(Refused, match="no calculations are left"):
                one.call("calculate", {"code": "1"})
        (tmp_path / "cpu").mkdir()
        with host(tmp_path / "cpu", calculate_cpu_s=0.5, calculate_call_s=1) as one:
            with pytest.raises(Refused, match="limits of 1 s"):
                one.call("calculate", {"code": "sum(range(10 ** 12))"})
            with pytest.raises(Refused, match="no calculations are left"):
                one.call("calculate", {"code": "1"})


def begin(tmp_path: Path, *more: str) -> list[str]:
    state = str(tmp_path / "e.json")
    return [str(reference_file(tmp_path)), "--state", state, "--budget", "2", *more]


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A path that fits into a socket's address."""
    path = Path(f"/tmp/ww-{os.getpid()}-{time.monotonic_ns()}")
    assert len(str(path)) < 100
    return path


def test_an_agent_in_another_process(tmp_path: Path, short: Path) -> None:
    with host_process(begin(tmp_path), short) as agent:
        assert agent.task()["n_masks"] == 16
        assert agent.measure(["1000", "0100"])["left"] == 0.0
        assert agent.calculate("y['1000'] - y['0000']") == 0.3
        with pytest.raises(EpisodeRefused, match="nothing was measured") as refused:
            agent.measure(["0001"])
        assert refused.value.code == "over_budget"
        for line in ("{", "[]", '{"tool": "measure", "arguments": 3}', '{"tool": 3}'):
            assert "error" in raw(short, line)
        assert agent.suggest()["mask"] is not None
        assert agent.submit(estimator="ard")["submitted"] is True
    found = score_submission(episode_submission(tmp_path / "e.json", workflow(), agent="me"))
    assert found.delivered is not None


def raw(path: Path, line: str) -> dict[str, object]:
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(line.encode() + b"\n")
        answer: dict[str, object] = json.loads(connection.makefile().readline())
    return answer


def test_an_episode_survives_a_kill_of_its_host(tmp_path: Path, short: Path) -> None:
    command = [sys.executable, "-m", "basanite", "suite", "whatworked", "episode", "host"]
    killed = subprocess.Popen([*command, *begin(tmp_path, "--socket", str(short))])
    agent = EpisodeClient(str(short))
    until = time.monotonic() + 30
    while not short.exists() and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.1)
    assert agent.measure(["1000"])["receipt"] == 1
    killed.send_signal(signal.SIGKILL)
    killed.wait(10)
    short.unlink()
    with host_process(begin(tmp_path), short) as agent:
        assert agent.status()["left"] == 1.0
        assert agent.measure(["1000"])["left"] == 1.0


def test_the_client_alone_needs_no_basanite(tmp_path: Path, short: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(basanite("suite", "whatworked", "episode", "client").out, encoding="utf-8")
    with host_process(begin(tmp_path), short):
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(script), str(short), "measure", '{"masks": ["0100"]}'],
            capture_output=True,
            text=True,
            check=True,
            env={},
        )
        assert json.loads(done.stdout)["left"] == 1.0
        bad = subprocess.run(
            [sys.executable, "-I", "-S", str(script), str(short), "truth"],
            capture_output=True,
            text=True,
            check=False,
            env={},
        )
    assert bad.returncode == 2
    assert "unknown_tool" in bad.stderr
    assert not short.exists()  # an ended host takes its socket along


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"masks": ["0100"], "masks": []}', "stands twice"),
        ("{", "can't be read as JSON"),
        ("[]", "no JSON object"),
    ],
)
def test_the_client_refuses_arguments_that_are_no_object(
    arguments: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert client_main(["/nowhere", "measure", arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_host_does_not_take_a_path_that_is_taken(tmp_path: Path, short: Path) -> None:
    with host_process(begin(tmp_path), short):
        second = host_process(begin(tmp_path), short)
        with pytest.raises(InputError, match="is there already"):
            second.__enter__()
        assert short.exists()


def test_agents_at_once_never_spend_more_than_the_budget(tmp_path: Path) -> None:
    with host(tmp_path) as one:
        got: list[str] = []

        def buy(mask: str) -> None:
            try:
                one.call("measure", {"masks": [mask]})
                got.append(mask)
            except Refused:
                pass

        masks = [f"{i:04b}" for i in range(1, 15)]
        threads = [threading.Thread(target=buy, args=(mask,)) for mask in masks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(got) == 3
        assert one.call("status")["left"] == 0.0


def test_tools_name_all_calls(tmp_path: Path) -> None:
    names = [tool["function"]["name"] for tool in TOOLS]  # type: ignore[index]
    with host(tmp_path) as one:
        for name in names:
            if name not in ("measure", "calculate", "submit"):
                one.call(name)
    assert len(names) == 7
    assert np.unique(names).size == 7
