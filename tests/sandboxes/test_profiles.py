"""Profiles: where they lie, when they count as built, what they change in a specification."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path, PurePosixPath

import pytest

from basanite.errors import InputError, PolicyError, SetupError
from basanite.sandboxes import (
    PROFILE_NAMES,
    Mount,
    Profile,
    SandboxSpec,
    _profile_build,
    _profiles,
    build_profile,
    built_profiles,
    find_profile,
    remove_profiles,
)

SYSTEM_PYTHON = Path("/usr/bin/python3")
needs_python = pytest.mark.skipif(
    not SYSTEM_PYTHON.exists(), reason="the system has no /usr/bin/python3"
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "profiles"
    monkeypatch.setenv(_profiles.ROOT_VARIABLE, str(folder))
    # Temporary folders are their owner's alone, which is refused where root builds.
    monkeypatch.setattr(_profile_build, "_check_readable", lambda path, what: None)
    return folder


@pytest.fixture
def small(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A profile `base` of no packages, whose script fills the caches with one file."""
    warm = tmp_path / "warm.py"
    warm.write_text(
        "import os, pathlib\n"
        "folder = pathlib.Path(os.environ['NUMBA_CACHE_DIR'])\n"
        "(folder / 'compiled').write_text('warm')\n",
        encoding="utf-8",
    )
    recipe = _profiles.Recipe("base", "nothing", "# no package\n", warm)
    for module in (_profiles, _profile_build):
        monkeypatch.setattr(module, "find_recipe", lambda name: recipe)
    return warm


def sample(prefix: Path) -> Profile:
    return Profile(
        name="base", prefix=prefix, sha256="0" * 64, python_version="3.11.2",
        packages={"numpy": "2.4.6"}, size_bytes=1, build_s=1.0,
    )  # fmt: skip


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_every_package_of_a_profile_has_its_version(name: str) -> None:
    recipe = _profiles.find_recipe(name)
    pins = [line for line in recipe.requirements.splitlines() if not line.startswith("#")]
    assert len(pins) > 30
    assert all(len(pin.split("==")) == 2 for pin in pins)
    assert recipe.warm.is_file()
    assert len(recipe.sha256) == 64


def test_profiles_agree_on_versions() -> None:
    base, scanpy = (
        set(_profiles.find_recipe(name).requirements.splitlines()[1:]) for name in PROFILE_NAMES
    )
    assert base <= scanpy


def test_the_container_file_and_the_profile_install_the_same() -> None:
    text = (Path(__file__).parents[2] / "deploy" / "scanpy.Containerfile").read_text("utf-8")
    assert "src/basanite/sandboxes/profiles/scanpy/requirements.txt" in text
    for name, value in sample(Path("/prefix")).variables().items():
        if name.endswith("_NUM_THREADS") or name == "MPLBACKEND":
            assert f"{name}={value}" in text


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(InputError, match="base, scanpy"):
        find_profile("seurat")


def test_the_folder_of_profiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(_profiles.ROOT_VARIABLE, "profiles")
    with pytest.raises(InputError, match="absolute"):
        _profiles.profiles_root()
    monkeypatch.delenv(_profiles.ROOT_VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert _profiles.profiles_root() == tmp_path / "basanite" / "profiles"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert _profiles.profiles_root() == Path("/var/lib/basanite/profiles")


def test_applying_a_profile_keeps_what_was_asked_for() -> None:
    profile = sample(Path("/opt/profiles/base-1"))
    spec = SandboxSpec(
        code="print(1)",
        mounts=(Mount(source=Path("/data"), target=PurePosixPath("/data")),),
        environment={"OMP_NUM_THREADS": "4", "MINE": "1"},
    )
    applied = profile.apply(spec)
    assert applied.code == "print(1)"
    assert [str(mount.target) for mount in applied.mounts] == ["/data", "/opt/profiles/base-1"]
    assert applied.mounts[1].kind == "environment"
    assert applied.python == "/opt/profiles/base-1/start/python"
    assert applied.environment["OMP_NUM_THREADS"] == "4"
    assert applied.environment["NUMBA_NUM_THREADS"] == "1"
    assert applied.environment["MINE"] == "1"
    assert applied.environment["PATH"].startswith("/opt/profiles/base-1/start:")
    with pytest.raises(PolicyError, match="two mounts"):
        profile.apply(applied)


@needs_python
@pytest.mark.usefixtures("small")
def test_a_build_is_found_and_not_repeated(root: Path) -> None:
    said: list[str] = []
    built = build_profile("base", say=said.append)
    assert find_profile("base") == built
    assert built.prefix.parent == root
    assert "pip" in built.packages
    assert built.size_bytes > 1_000_000
    assert (built.caches / "numba" / "compiled").read_text() == "warm"
    assert not (built.prefix / "scratch").exists()
    count = len(said)
    assert build_profile("base", say=said.append) == built
    assert len(said) == count
    unreadable = [path for path in built.prefix.rglob("*") if not path.stat().st_mode & 0o004]
    assert not unreadable


@needs_python
@pytest.mark.usefixtures("small")
def test_python_finds_a_copy_of_the_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = PurePosixPath(tmp_path / "inside")
    monkeypatch.setattr(_profile_build, "CACHES", inside)
    profile = build_profile("base")
    code = (
        "import os, sys; path = os.environ['NUMBA_CACHE_DIR'] + '/compiled';"
        "print(open(path).read(), sys.prefix, sys.argv[1:]); open(path, 'w').write('mine')"
    )
    command = [str(profile.python), "-I", "-c", code, "a b", "$c"]
    for expected in ("warm", "mine"):
        done = subprocess.run(
            command, env=profile.variables(inside), capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == f"{expected} {profile.prefix} ['a b', '$c']"
        assert not done.stderr
    assert (profile.caches / "numba" / "compiled").read_text() == "warm"
    assert [path.name for path in tmp_path.glob("inside*")] == ["inside"]


@needs_python
def test_a_changed_list_is_another_profile(small: Path) -> None:
    first = build_profile("base")
    small.write_text(small.read_text("utf-8") + "# changed\n", "utf-8")
    assert find_profile("base") is None
    second = build_profile("base")
    assert {one.prefix for one in built_profiles()} == {first.prefix, second.prefix}
    assert remove_profiles("base", outdated=True) == [first]
    assert list(built_profiles()) == [second]
    assert remove_profiles("base") == [second]
    assert find_profile("base") is None


@needs_python
def test_a_build_that_fails_leaves_nothing(small: Path, root: Path) -> None:
    text = small.read_text("utf-8")
    small.write_text("raise SystemExit('no fonts')", "utf-8")
    with pytest.raises(SetupError, match="no fonts"):
        build_profile("base")
    assert find_profile("base") is None
    assert [path.name for path in root.iterdir()] == [".base.lock"]
    small.write_text(text, "utf-8")
    assert build_profile("base") == find_profile("base")


@needs_python
@pytest.mark.usefixtures("small")
def test_what_a_killed_build_left_is_no_profile() -> None:
    prefix = _profiles.find_recipe("base").prefix
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(SYSTEM_PYTHON)
    (prefix / "profile.json.new").write_text("{")
    assert find_profile("base") is None
    built = build_profile("base")
    assert not (built.prefix / "profile.json.new").exists()


@needs_python
@pytest.mark.usefixtures("small")
def test_two_builds_at_a_time_make_one() -> None:
    built: list[Profile] = []
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda: built.append(build_profile("base", say=said.append)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built[0] == built[1]
    assert sum(line.startswith("building") for line in said) == 1


@pytest.mark.parametrize("damage", ["not JSON", "{}", "moved", "no python", "of another list"])
@pytest.mark.usefixtures("root")
def test_a_marker_that_is_wrong_counts_for_nothing(damage: str) -> None:
    recipe = _profiles.find_recipe("base")
    prefix = recipe.prefix
    (prefix / "bin").mkdir(parents=True)
    if damage != "no python":
        (prefix / "bin" / "python").touch()
    good = sample(prefix).model_copy(update={"sha256": recipe.sha256})
    texts = {
        "moved": good.model_copy(update={"prefix": Path("/elsewhere")}).model_dump_json(),
        "of another list": sample(prefix).model_dump_json(),
        "no python": good.model_dump_json(),
    }
    (prefix / _profiles.MARKER).write_text(texts.get(damage, damage))
    assert find_profile("base") is None
    if damage != "no python":
        (prefix / _profiles.MARKER).write_text(good.model_dump_json())
        assert find_profile("base") == good


def test_a_place_that_others_can_not_read_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(SetupError, match="can't be read by other users"):
        _profile_build._check_readable(closed, "the folder")


@pytest.mark.usefixtures("root")
def test_a_python_that_will_not_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="not there"):
        build_profile("base", python=tmp_path / "python")
    old = tmp_path / "python3.9"
    facts = json.dumps({"path": str(old), "version": [3, 9, 1], "venv": True})
    old.write_text(f"#!/bin/sh\necho '{facts}'\n")
    old.chmod(0o755)
    with pytest.raises(SetupError, match=r"is version 3\.9\.1"):
        build_profile("base", python=old)
