"""`run_limited`: what a call on a hostile file may do to the one who asked."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from basanite.errors import InputError, PolicyError, SetupError
from basanite.sandboxes import (
    Crashed,
    Invalid,
    LimitHit,
    Raised,
    ReadLimits,
    Returned,
    run_limited,
    run_limited_async,
    value_of,
)
from basanite.sandboxes._processes import children_of
from support import hostile_reads as reads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")

SHORT = ReadLimits(wall_s=20, cpu_s=20, memory_mb=200)
NO_SECCOMP = importlib.util.find_spec("pyseccomp") is None


class Doubled(BaseModel):
    doubled: int


def test_a_value_comes_back_as_the_type_that_was_asked_for() -> None:
    outcome = run_limited(reads.double, 21, returns=Doubled, limits=SHORT)
    assert isinstance(outcome, Returned)
    assert outcome.value == Doubled(doubled=42)
    assert {"memory", "cpu", "file_size", "open_files"} <= set(outcome.held)
    assert value_of(outcome, where="paper.pdf").doubled == 42


def test_a_function_can_be_named_without_loading_it_here() -> None:
    name = "support.hostile_reads:double"
    assert isinstance(run_limited(name, 1, returns=Doubled), Returned)


async def test_it_waits_where_a_loop_runs_already() -> None:
    both = await asyncio.gather(
        run_limited_async(reads.double, 1, returns=Doubled),
        run_limited_async(reads.double, 2, returns=Doubled),
    )
    assert [isinstance(one, Returned) and one.value.doubled for one in both] == [2, 4]
    assert isinstance(run_limited(reads.double, 3, returns=Doubled), Returned)


@pytest.mark.parametrize(
    ("function", "limits", "limit"),
    [
        (reads.fill_memory, SHORT, "memory"),
        (reads.spin, ReadLimits(cpu_s=1, wall_s=60), "cpu"),
        (reads.sleep, ReadLimits(wall_s=0.5), "wall"),
    ],
)
def test_a_limit_is_named(function: object, limits: ReadLimits, limit: str) -> None:
    assert callable(function)
    began = time.monotonic()
    outcome = run_limited(function, returns=int, limits=limits)
    assert outcome == LimitHit(limit)  # type: ignore[arg-type]
    assert time.monotonic() - began < 30
    with pytest.raises(InputError, match=r"paper\.pdf: the file can't be read: it met its limit"):
        value_of(outcome, where="paper.pdf")


def test_results_that_nobody_reads_to_their_end_hold_nothing_up() -> None:
    limits = ReadLimits(result_mb=1, memory_mb=400, wall_s=20)
    for size in (2**20 + 10, 2**23, 2**25):
        began = time.monotonic()
        outcome = run_limited(reads.answer_long, size, returns=str, limits=limits)
        assert outcome == LimitHit("result")
        assert time.monotonic() - began < 15  # it would wait for ever


def test_a_long_result_is_not_taken_in() -> None:
    limits = ReadLimits(result_mb=1)
    assert run_limited(reads.answer_long, 2**21, returns=str, limits=limits) == LimitHit("result")
    fits = run_limited(reads.answer_long, 2**19, returns=str, limits=limits)
    assert isinstance(fits, Returned)
    assert len(fits.value) == 2**19


def test_an_exception_comes_back_as_words() -> None:
    assert run_limited(reads.fail, "bad \udc80 file", returns=int) == Raised(
        "ValueError", "bad ? file"
    )
    outcome = run_limited(reads.recurse, returns=int)
    assert isinstance(outcome, Raised)
    assert outcome.type == "RecursionError"


def test_a_crash_is_an_outcome() -> None:
    outcome = run_limited(reads.crash, returns=int)
    assert isinstance(outcome, Crashed)
    assert outcome.signal == 11
    assert "SIGSEGV" in str(outcome)
    assert "Segmentation fault" in outcome.said
    assert run_limited(reads.leave, returns=int) == Crashed(None, 3)
    killed = run_limited(reads.end_itself, returns=int)
    assert isinstance(killed, Crashed)
    assert killed.signal == 9


@pytest.mark.parametrize("value", ["no number", None, [1], {"value": 1}])
def test_a_value_of_another_type_is_refused(value: object) -> None:
    assert isinstance(run_limited(reads.give, value, returns=int), Invalid)


def test_a_second_answer_is_refused() -> None:
    assert isinstance(run_limited(reads.two_answers, returns=str), Invalid)


def test_a_flood_of_messages_stops_nothing() -> None:
    assert isinstance(run_limited(reads.chatter, returns=int), Returned)


@pytest.mark.parametrize("what", ["write", "remove", "files"])
def test_files_are_neither_written_nor_piled_up(what: str, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_bytes(b"kept")
    path = tmp_path / "new" if what == "write" else there
    outcome = run_limited(reads.refused, what, str(path), returns=str)
    assert isinstance(outcome, Returned)
    if what == "remove" and "files" not in outcome.held:
        pytest.skip("this kernel has no Landlock: CONFIG_SECURITY_LANDLOCK, lsm=landlock")
    assert outcome.value in {"PermissionError", "OSError"}
    assert there.read_bytes() == b"kept"
    new = tmp_path / "new"
    assert not new.exists() or not new.stat().st_size


@pytest.mark.skipif(NO_SECCOMP, reason="pyseccomp is not installed")
@pytest.mark.parametrize("what", ["socket", "process", "fork", "signal"])
def test_nothing_beyond_the_process_is_reached(what: str) -> None:
    outcome = run_limited(reads.refused, what, "", returns=str)
    assert isinstance(outcome, Returned)
    assert {"network", "processes"} <= set(outcome.held)
    assert outcome.value == "PermissionError"


def test_threads_may_start() -> None:
    outcome = run_limited(reads.start_thread, returns=list[int])
    assert isinstance(outcome, Returned)
    assert outcome.value == [1]


def test_a_function_that_no_child_can_import_is_refused() -> None:
    functions: list[Callable[..., object] | str] = [
        lambda: 1,
        "no module",
        "os:path.join",
        _Callable(),
    ]
    for function in functions:
        with pytest.raises(PolicyError, match="top level of a module"):
            run_limited(function, returns=int)


def test_a_child_that_can_not_be_set_up_is_no_outcome_of_the_file() -> None:
    with pytest.raises(SetupError, match="no_such_function"):
        run_limited("support.hostile_reads:no_such_function", returns=int)


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    before = _children()
    call = asyncio.create_task(run_limited_async(reads.sleep, returns=int))
    async with asyncio.timeout(30):
        while not _children() - before:  # noqa: ASYNC110 - no event tells of a child
            await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not _children() - before


class _Callable:
    def __call__(self) -> int:
        return 1


def _children() -> set[int]:
    return set(children_of(os.getpid()))
