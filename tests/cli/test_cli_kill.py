"""SIGKILL at twenty moments, each resumed: nothing lost, nothing twice, nothing asked again."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.command import basanite, row, start, write_rows
from support.mock_endpoint import MockConfig, mock_process

ITEMS = 260
KILLS = 20
MARGIN_S = 0.3
"""What was answered so long before a kill must not be asked again. What was answered later may
not have reached the client, which can't keep what it has not read."""


@dataclass
class Log:
    """The server's log: per request its hash, when it came and when it was answered."""

    path: Path
    kills: list[float] = field(default_factory=list)

    def lines(self) -> list[dict[str, object]]:
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def wait_for(self, more: int, deadline: float) -> None:
        aim = len(self.lines()) + more
        while time.monotonic() < deadline and len(self.lines()) < aim:
            time.sleep(0.01)


def test_twenty_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "cache.sqlite"))
    rows = write_rows(tmp_path / "rows.jsonl", [row(number) for number in range(ITEMS)])
    draw = random.Random(20)
    log = Log(tmp_path / "log.jsonl")
    with mock_process(MockConfig(latency=0.05, log=str(log.path))) as mock:
        arguments: tuple[object, ...] = (
            *("judge", "claims", rows, "-o", tmp_path / "run", "--endpoint", mock.url),
            *("--concurrency", 6, "--resume", "--json"),
        )
        for number in range(KILLS):
            process = start(*arguments)
            if number % 5 == 4:  # while it starts, before it asks anything
                time.sleep(draw.uniform(0.0, 1.5))
            else:
                log.wait_for(draw.randint(1, 60), deadline=time.monotonic() + 10)
            assert process.poll() is None, "the run ended before it could be killed"
            process.send_signal(signal.SIGKILL)
            log.kills.append(time.time())
            process.communicate()
        done = basanite(*arguments)
    assert done.code == 0, done.err

    summary = done.json()
    assert (summary["n_scored"], summary["n_total"]) == (ITEMS, ITEMS)
    kept = [
        json.loads(line)["subject_id"]
        for line in basanite("export", tmp_path / "run", "--format", "jsonl").out.splitlines()
    ]
    assert sorted(kept) == sorted({f"i{number}" for number in range(ITEMS)})
    _nothing_finished_was_asked_again(log)
    assert summary["scores"] == _uninterrupted(rows, tmp_path, monkeypatch)


def _nothing_finished_was_asked_again(log: Log) -> None:
    asked: dict[object, list[float]] = defaultdict(list)
    for line in log.lines():
        answered = line["answered"]
        assert isinstance(answered, float)
        asked[line["hash"]].append(answered)
    repeated = 0
    for times in asked.values():
        for answered in sorted(times)[:-1]:
            repeated += 1
            kill = min((kill for kill in log.kills if kill >= answered - MARGIN_S), default=None)
            assert kill is not None, "asked again with no kill after it"
            assert kill - answered < MARGIN_S, f"answered {kill - answered:.2f} s before the kill"
    # At most what was in flight is done again: 6 items of at most 2 calls at once.
    assert repeated <= KILLS * 12


def _uninterrupted(rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "other.sqlite"))
    with mock_process(MockConfig()) as mock:
        done = basanite(
            *("judge", "claims", rows, "-o", tmp_path / "whole", "--endpoint", mock.url),
            *("--concurrency", 32, "--json"),
        )
    assert done.code == 0, done.err
    return done.json()["scores"]
