"""Runs that are killed or interrupted in the middle, in a real process, and resumed."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from basanite.store import RunFolder
from support.store_child import ITEMS
from support.store_children import start_child


def test_killed_again_and_again_and_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    path = tmp_path / "run"
    chance = random.Random(7)
    asked: Counter[str] = Counter()
    committed: set[str] = set()
    for _ in range(8):
        child = start_child("run", path)
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(2)]
        time.sleep(chance.uniform(0.0, 0.06))
        child.send_signal(signal.SIGKILL)
        lines += child.communicate(timeout=30)[0].splitlines()
        now = Counter(line.split()[1] for line in lines if line.startswith("asked"))
        # What was committed before this process began was not asked again in it.
        assert not {f"q{number}" for number in now} & committed
        asked += now
        with RunFolder.open(path) as folder:
            records = [record.key for record in folder.ledger.records(folder.run, "judgment")]
        assert len(records) == len(set(records))
        assert committed <= set(records)
        committed = set(records)
    assert 0 < len(committed) < ITEMS

    child = start_child("run", path)
    told = child.communicate(timeout=60)[0].splitlines()
    assert told[-1] == f"outcome {ITEMS - len(committed)} {len(committed)}"
    with RunFolder.open(path) as folder:
        judgments = list(folder.judgments())
    assert sorted(one.subject_id for one in judgments) == sorted(f"q{n}" for n in range(ITEMS))
    for judgment in judgments:
        assert judgment.scores["f1"].value == int(judgment.subject_id[1:]) / ITEMS
    # At most what was in flight was asked for a second time.
    repeated = sum(asked.values()) - len(committed)
    assert repeated <= 8 * (16 * 2)


@pytest.mark.parametrize("wait", [0.02, 0.08])
def test_an_interrupt_keeps_what_was_finished(tmp_path: Path, wait: float) -> None:
    path = tmp_path / "run"
    child = start_child("run", path)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(wait)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert child.returncode in (130, -signal.SIGINT)
    with RunFolder.open(path) as folder:
        count = folder.ledger.count(folder.run, "judgment")
    again = start_child("run", path).communicate(timeout=60)[0].splitlines()
    assert again[-1] == f"outcome {ITEMS - count} {count}"
