"""What a specification accepts, and the text with which it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.errors import IsolationFloorNotMet, PolicyError, SandboxUnavailable
from basanite.sandboxes import (
    Enforcement,
    Floor,
    Sandbox,
    SandboxSpec,
    Strength,
    _probe,
    open_sandbox,
    probe,
)
from basanite.sandboxes._bubblewrap import Bubblewrap
from basanite.sandboxes._cgroup import V1Maker, V2Maker
from basanite.sandboxes._cgroup_find import find_groups
from basanite.sandboxes._enforcement import LIMITS, Aspect, check_floor
from support.sandboxing import opened, small


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"command": ["true"], "code": "pass"}, "give `command` or `code`, not both"),
        ({"command": []}, "`command` is empty"),
        ({"command": ["a\0b"]}, "a NUL byte"),
        ({"environment": {"A": "x\0y"}}, "a NUL byte"),
        ({"environment": {"A-B": "x"}}, "'A-B' is no name of a variable"),
        ({"environment": {"": "x"}}, "'' is no name of a variable"),
        ({"limits": {"wall_s": 0}}, "limits.wall_s: Input should be greater than 0"),
        ({"limits": {"memory_mb": -1}}, "limits.memory_mb: Input should be greater than 0"),
        ({"limits": {"memory": 1}}, "limits.memory: Extra inputs are not permitted"),
        ({"mounts": [{"source": "x", "target": "/x"}]}, "source 'x' is not an absolute path"),
        ({"mounts": [{"source": "/x", "target": "x"}]}, "target 'x' must be absolute"),
        ({"mounts": [{"source": "/x", "target": "/a/../x"}]}, "must be absolute, without '..'"),
        ({"mounts": [{"source": "/x", "target": "/proc/x"}]}, "lies in /proc"),
        ({"mounts": [{"source": "/x", "target": "/etc"}]}, "lies in /etc"),
        ({"mounts": [{"source": "/x", "target": "/usr"}]}, "would hide what the system needs"),
        ({"mounts": [{"source": "/x", "target": "/work"}]}, "would hide what the system needs"),
        (
            {"mounts": [{"source": "/x", "target": "/y"}, {"source": "/z", "target": "/y"}]},
            "two mounts have the target /y",
        ),
        ({"network": {"endpoints": [{"name": "A b", "url": "http://x"}]}}, "is no name"),
        (
            {"network": {"endpoints": [{"name": "a", "url": "ftp://x"}]}},
            "no address: give http://HOST",
        ),
        (
            {"network": {"endpoints": [{"name": "a", "url": "http://x"}] * 2}},
            "two endpoints have the same name: a, a",
        ),
        ({"workdir": "cloud"}, "workdir: Input should be 'memory' or 'disk'"),
        ({"floor": ["perfect"]}, "floor.0: Input should be 'strict_limits' or 'own_kernel'"),
    ],
)
def test_what_is_wrong_is_said(fields: dict[str, object], text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        SandboxSpec.create(**fields)
    assert text in str(caught.value)
    assert str(caught.value).startswith("sandbox: ")
    assert "pydantic" not in str(caught.value)


def test_a_key_is_never_written() -> None:
    spec = SandboxSpec.create(
        network={"endpoints": [{"name": "judge", "url": "http://x/v1/", "api_key": "sk-123"}]}
    )
    assert spec.network.endpoints[0].url == "http://x/v1"
    for text in (repr(spec), str(spec), spec.model_dump_json()):
        assert "sk-123" not in text


def test_a_specification_survives_json() -> None:
    spec = small(
        command=["a", "b"],
        mounts=[{"source": "/x", "target": "/inputs", "kind": "cache"}],
        floor=["own_kernel"],
        environment={"A": "ä"},
    )
    assert SandboxSpec.model_validate_json(spec.model_dump_json()) == spec
    assert json.loads(spec.model_dump_json())["limits"]["memory_mb"] == 256


async def test_the_hash_is_that_of_the_policy(needs_bubblewrap: None, tmp_path: Path) -> None:
    async def hashed(**fields: object) -> str:
        async with opened(**fields) as sandbox:
            result = await sandbox.execute(["true"])
            assert result.policy_hash == sandbox.policy_hash
            return result.policy_hash

    tmp_path.chmod(0o755)  # noqa: ASYNC240
    plain = await hashed()
    assert len(plain) == 64
    # What is run does not count, what it may do does.
    assert await hashed() == await hashed(code="pass") == await hashed(command=["true"]) == plain
    others = [
        await hashed(limits={"memory_mb": 100}),
        await hashed(workdir="disk"),
        await hashed(environment={"A": "b"}),
        await hashed(mounts=[{"source": tmp_path, "target": "/inputs"}]),
    ]
    assert len({plain, *others}) == 5


def test_the_hash_tells_how_limits_are_held() -> None:
    runtime, spec = Bubblewrap(), small()
    makers = (None, V1Maker({}), V2Maker(Path("/")))
    hashes = {
        Sandbox(runtime, spec, maker, runtime.enforcement(spec, maker)).policy_hash
        for maker in makers
    }
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "there is nothing to run"),
        ({"command": ["true"], "code": "pass"}, "both a command and code"),
        ({"command": []}, "a command is a list of texts"),
        ({"command": ["a\0"]}, "a command is a list of texts"),
    ],
)
async def test_what_can_not_be_run(
    needs_bubblewrap: None, given: dict[str, object], text: str
) -> None:
    async with opened() as sandbox:
        with pytest.raises(PolicyError, match=text):
            await sandbox.execute(**given)  # type: ignore[arg-type]


async def test_there_is_no_such_backend() -> None:
    with pytest.raises(PolicyError, match=r"there is no backend 'magic'\. Choose one of: bubble"):
        await open_sandbox(small(), backend="magic")


async def test_a_floor_that_is_not_met_is_refused(needs_bubblewrap: None, no_groups: None) -> None:
    with pytest.raises(IsolationFloorNotMet) as caught:
        await open_sandbox(small(floor=["strict_limits"]), backend="bubblewrap")
    assert "memory by rlimit and watchdog (best_effort)" in str(caught.value)
    assert "wall" not in caught.value.what
    assert caught.value.report is not None
    with pytest.raises(IsolationFloorNotMet, match="the kernel is the host's"):
        await open_sandbox(small(floor=["own_kernel"]), backend="bubblewrap")


async def test_a_floor_that_is_met_opens(needs_bubblewrap: None) -> None:
    if find_groups().maker is None:
        return  # the other half: `test_a_floor_that_is_not_met_is_refused`
    async with opened(floor=["strict_limits"], limits={"cpus": 1, "cpu_s": 5}) as sandbox:
        assert (await sandbox.execute(["true"])).ok
    # On disk a watchdog holds the size, so the same floor is not met.
    with pytest.raises(IsolationFloorNotMet, match=r"disk by watchdog .* inodes by watchdog"):
        await open_sandbox(small(floor=["strict_limits"], workdir="disk"), backend="bubblewrap")


def _strict() -> dict[Aspect, Enforcement]:
    return dict(Bubblewrap().enforcement(SandboxSpec(), None)) | {
        aspect: Enforcement(by="kernel") for aspect in LIMITS
    }


def test_a_weak_border_is_refused_without_any_floor() -> None:
    enforced = _strict()
    check_floor(SandboxSpec(), enforced, "x", None)
    enforced["files"] = Enforcement(by="hope", strength=Strength.BEST_EFFORT)
    with pytest.raises(IsolationFloorNotMet, match=r"files by hope \(best_effort\)"):
        check_floor(SandboxSpec(), enforced, "x", None)
    del enforced["files"]
    with pytest.raises(IsolationFloorNotMet, match=r"files by nothing \(none\)"):
        check_floor(SandboxSpec(), enforced, "x", None)


def test_a_limit_that_nothing_holds_is_refused_only_where_it_is_set() -> None:
    enforced = _strict()
    enforced["cpus"] = Enforcement(by="nothing", strength=Strength.NONE)
    check_floor(SandboxSpec.create(floor=[Floor.STRICT_LIMITS]), enforced, "x", None)
    with pytest.raises(IsolationFloorNotMet, match=r"cpus by nothing"):
        check_floor(SandboxSpec.create(limits={"cpus": 1}), enforced, "x", None)


async def test_nothing_runs_where_no_backend_works(monkeypatch: pytest.MonkeyPatch) -> None:
    class Absent(Bubblewrap):
        def report(self) -> object:  # type: ignore[override]
            report = super().report()
            return report.model_copy(
                update={"available": False, "why": "not today", "todo": "Come back tomorrow."}
            )

    monkeypatch.setattr(_probe, "runtimes", lambda: (Absent(),))
    monkeypatch.setattr(_probe, "_KNOWN", {})
    with pytest.raises(SandboxUnavailable) as caught:
        await open_sandbox(small())
    text = str(caught.value)
    assert "bubblewrap: not available: not today" in text
    assert "Come back tomorrow." in text
    assert "basanite sandbox probe" in text
    assert caught.value.report == await probe()


async def test_the_probe_says_what_holds(needs_bubblewrap: None) -> None:
    report = await probe(["bubblewrap"])
    (found,) = report.backends
    assert found.available
    assert found.version.split(".")[0].isdigit()
    assert report.groups in ("cgroup-v2", "cgroup-v1", "none")
    strict = find_groups().maker is not None
    assert (Floor.STRICT_LIMITS in found.floors) == strict
    assert Floor.OWN_KERNEL not in found.floors
    assert set(found.enforced) >= set(LIMITS)
