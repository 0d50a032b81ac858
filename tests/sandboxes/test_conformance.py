"""Every attack of `basanite.sandboxes.conformance` on every backend that this machine has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import pytest

from basanite.sandboxes import BackendReport, Sandbox, SandboxSpec, open_sandbox, probe
from basanite.sandboxes._cgroup_find import find_groups
from basanite.sandboxes._probe import runtimes
from basanite.sandboxes.conformance import (
    CHECKS,
    Check,
    Verdict,
    check_backend,
    run_check,
)

GROUPS = find_groups().maker is not None
AMOUNTS = {"memory", "processes", "cpus", "cpu_time", "disk", "inodes"}
BY_NAME = {check.name: check for check in CHECKS}
NEED_GROUPS = {
    "unmapped_memory",
    "files_in_memory",
    "socket_buffers",
    "cpu_of_threads",
    "cpu_of_short_lives",
}
"""What only the kernel's groups can hold under bubblewrap."""
named = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)


@lru_cache
def _report(backend: str) -> BackendReport:
    return asyncio.run(probe([backend])).backends[0]


@pytest.fixture(params=[runtime.name for runtime in runtimes()])
def backend(request: pytest.FixtureRequest) -> str:
    report = _report(request.param)
    if not report.available:
        pytest.skip(f"{request.param} can't be used here: {report.why.splitlines()[0]}")
    return report.name


@named
async def test_contains(backend: str, check: Check) -> None:
    outcome = await run_check(check, partial(open_sandbox, backend=backend))
    assert outcome.verdict is not Verdict.NOT_CONTAINED, str(outcome)
    if backend == "bubblewrap":
        applies = GROUPS or check.name not in NEED_GROUPS
        assert (outcome.verdict is Verdict.CONTAINED) == applies, str(outcome)


# Without groups `test_contains` has shown this already.
WITHOUT_GROUPS = [check for check in CHECKS if GROUPS and AMOUNTS & set(check.aspects)]

if WITHOUT_GROUPS:

    @pytest.mark.parametrize("check", WITHOUT_GROUPS, ids=lambda check: check.name)
    async def test_contains_without_groups(
        needs_bubblewrap: None, no_groups: None, check: Check
    ) -> None:
        outcome = await run_check(check, partial(open_sandbox, backend="bubblewrap"))
        expected = Verdict.NOT_APPLICABLE if check.name in NEED_GROUPS else Verdict.CONTAINED
        assert outcome.verdict is expected, str(outcome)


Weakness = Callable[[list[str]], list[str]]


def _without(*options: str) -> Weakness:
    return lambda given: [option for option in given if option not in options]


def _instead(old: list[str], new: list[str]) -> Weakness:
    def changed(given: list[str]) -> list[str]:
        for at in range(len(given)):
            if given[at : at + len(old)] == old:
                return given[:at] + new + given[at + len(old) :]
        raise AssertionError(f"{old} is not among the arguments")

    return changed


def _writable_inputs(given: list[str]) -> list[str]:
    at = given.index("/inputs")
    return [*given[: at - 2], "--bind", *given[at - 1 :]]


@pytest.mark.parametrize(
    ("weakness", "notices"),
    [
        (_without("--unshare-net"), {"loopback", "unix_sockets", "routes"}),
        (_without("--unshare-pid"), {"host_processes"}),
        (_without("--unshare-ipc"), {"shared_ipc"}),
        (_without("--clearenv"), {"environment"}),
        (_instead(["--bind"], ["--ro-bind", "/var", "/var", "--bind"]), {"host_files"}),
        (_instead(["--bind"], ["--dev-bind", "/dev", "/dev", "--bind"]), {"devices"}),
        (_instead(["--remount-ro", "/"], []), {"system_files"}),
        (_writable_inputs, {"inputs"}),
    ],
    ids=["network", "processes", "ipc", "environment", "files", "devices", "root", "inputs"],
)
async def test_a_hole_is_noticed(
    needs_bubblewrap: None,
    monkeypatch: pytest.MonkeyPatch,
    weakness: Weakness,
    notices: set[str],
) -> None:
    from basanite.sandboxes import _bubblewrap_args

    whole = _bubblewrap_args.arguments

    def weak(*args: object, **kwargs: object) -> list[str]:
        return weakness(whole(*args, **kwargs))  # type: ignore[arg-type]

    monkeypatch.setattr(_bubblewrap_args, "arguments", weak)
    outcomes = await check_backend(
        partial(open_sandbox, backend="bubblewrap"), [BY_NAME[name] for name in sorted(notices)]
    )
    through = {outcome.check for outcome in outcomes if outcome.verdict is Verdict.NOT_CONTAINED}
    assert through == notices, outcomes


@pytest.mark.parametrize(
    "name", ["system_calls", "socket_families", "other_call_interfaces", "terminal"]
)
async def test_a_missing_filter_is_noticed(
    needs_bubblewrap: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # One instruction: allow whatever it is.
    allow = b"\x06\0\0\0\0\0\xff\x7f"
    monkeypatch.setattr("basanite.sandboxes._bubblewrap.filter_program", lambda **options: allow)
    outcome = await run_check(BY_NAME[name], partial(open_sandbox, backend="bubblewrap"))
    assert outcome.verdict is Verdict.NOT_CONTAINED
    assert not [reason for reason in outcome.reasons if "broke" in reason]


async def test_a_collector_that_follows_links_is_noticed(
    needs_bubblewrap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "O_NOFOLLOW", 0)
    whole = os.stat
    monkeypatch.setattr(
        os, "stat", lambda path, **options: whole(path, dir_fd=options.get("dir_fd"))
    )
    one_link = 'os.symlink(bait["secret"], "/work/link"); held("a link is laid out")'
    check = replace(BY_NAME["special_files"], attack=one_link)
    outcome = await run_check(check, partial(open_sandbox, backend="bubblewrap"))
    assert outcome.verdict is Verdict.NOT_CONTAINED
    assert any("the host's secret came out as link" in reason for reason in outcome.reasons)


async def test_an_attack_that_tries_nothing_shows_nothing(needs_bubblewrap: None) -> None:
    for attack, said in (("pass", "tried nothing"), ("1 / 0", "ZeroDivisionError")):
        check = Check("idle", "Nothing.", attack, ("files",))
        outcome = await run_check(check, partial(open_sandbox, backend="bubblewrap"))
        assert outcome.verdict is Verdict.NOT_CONTAINED
        assert said in str(outcome)


async def test_a_backend_that_breaks_does_not_contain(needs_bubblewrap: None) -> None:
    async def broken(spec: SandboxSpec) -> Sandbox:
        raise OSError("no more")

    (outcome,) = await check_backend(broken, [BY_NAME["stdin"]])
    assert outcome.verdict is Verdict.NOT_CONTAINED
    assert "no more" in str(outcome)


def test_every_check_says_what_it_shows() -> None:
    assert len(BY_NAME) == len(CHECKS)
    for check in CHECKS:
        assert check.shows.endswith(".")
        assert check.aspects
        compile(check.attack, check.name, "exec")
