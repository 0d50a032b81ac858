"""Building profiles: a virtual environment, pinned packages, warm caches, and last the marker."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file
from pathlib import Path, PurePosixPath

from ..errors import SetupError
from ._profiles import (
    CACHES,
    MARKER,
    Profile,
    Recipe,
    built_profiles,
    find_profile,
    find_recipe,
    profiles_root,
)

_CANDIDATES = (
    "/usr/bin/python3",
    "/usr/bin/python3.13",
    "/usr/bin/python3.12",
    "/usr/bin/python3.11",
    "/usr/local/bin/python3",
)
_FACTS = """
import importlib.util, json, os, sys
print(json.dumps({
    "path": os.path.realpath(sys.executable),
    "version": list(sys.version_info[:3]),
    "venv": all(map(importlib.util.find_spec, ("venv", "ensurepip"))),
}))
"""
_PACKAGES = """
import importlib.metadata, json
found = {one.metadata["Name"]: one.version for one in importlib.metadata.distributions()}
print(json.dumps(found))
"""
_START = """#!/bin/sh
# Caches have to be where they can be written; the first to be done puts its copy in place.
if [ ! -d {caches} ]; then
  {{ cp -r {source} {caches}.$$ && mv -T {caches}.$$ {caches} || rm -rf {caches}.$$; }} 2>/dev/null
fi
exec {python} "$@"
"""
_OLDEST, _TOO_NEW = (3, 11), (3, 14)
_TAIL = 2000


def build_profile(
    name: str,
    *,
    python: Path | None = None,
    force: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Profile:
    """Build a profile, or give the one that is there.

    Minutes for the network and for what numba compiles. A build that ends early leaves nothing
    that could be taken for a profile, and the next one clears it away; two at a time wait for
    each other. Profiles of earlier lists of packages stay, for sandboxes that use them.

    Args:
        name: one of `PROFILE_NAMES`.
        python: a Python 3.11 to 3.13 that all users may read; the system's where left out.
        force: build it anew. Sandboxes that use it must be closed.
        say: is told what happens, a line at a time.

    Raises:
        InputError: there is no profile of this name.
        SetupError: no suitable Python, no package index, no space; the text says which.
    """
    recipe = find_recipe(name)
    with _locked(name, say):
        found = None if force else find_profile(name)
        if found is not None:
            return found
        interpreter, version = _interpreter(python)
        say(f"building {name} with Python {version} in {recipe.prefix}")
        _clear(recipe.prefix)
        try:
            return _build(recipe, interpreter, version, say)
        except BaseException:
            shutil.rmtree(recipe.prefix, ignore_errors=True)
            raise


def remove_profiles(name: str, *, outdated: bool = False) -> list[Profile]:
    """Remove a profile in all its versions, and give what was removed.

    Args:
        name: one of `PROFILE_NAMES`.
        outdated: keep the one of today's list of packages.
    """
    current = find_recipe(name).prefix
    with _locked(name, lambda line: None):
        gone = [
            profile
            for profile in built_profiles()
            if profile.name == name and not (outdated and profile.prefix == current)
        ]
        for profile in gone:
            _clear(profile.prefix)
    return gone


def _build(recipe: Recipe, interpreter: Path, version: str, say: Callable[[str], None]) -> Profile:
    began = time.monotonic()
    prefix = recipe.prefix
    _run([interpreter, "-I", "-m", "venv", prefix], "making the virtual environment")
    python = prefix / "bin" / "python"
    listed = prefix / "requirements.txt"
    listed.write_text(recipe.requirements, encoding="utf-8")
    say("installing packages")
    # Wheels only: building from source would run code that no list of packages shows.
    flags = ("--quiet", "--no-input", "--disable-pip-version-check", "--only-binary=:all:")
    _run([python, "-I", "-m", "pip", "install", *flags, "-r", listed], "installing packages")
    _run([python, "-I", "-m", "pip", "check"], "checking the packages")
    _add_start(prefix)
    packages = json.loads(_run([python, "-I", "-c", _PACKAGES], "listing the packages"))
    profile = Profile(
        name=recipe.name,
        prefix=prefix,
        sha256=recipe.sha256,
        python_version=version,
        packages=dict(sorted(packages.items())),
        size_bytes=0,
        build_s=0,
    )
    say("filling the caches")
    _warm(recipe, profile)
    _open_to_all(prefix)
    done = {"size_bytes": _size(prefix), "build_s": round(time.monotonic() - began, 1)}
    profile = profile.model_copy(update=done)
    _write_marker(profile)
    return profile


def _warm(recipe: Recipe, profile: Profile) -> None:
    scratch = profile.prefix / "scratch"
    variables = profile.variables(PurePosixPath(profile.caches))
    for cache in ("matplotlib", "numba"):
        (profile.caches / cache).mkdir(parents=True)
    with as_file(recipe.warm) as script:
        # The interpreter itself: its starter would copy the caches that are being filled.
        command: list[str | Path] = [profile.prefix / "bin" / "python", "-I", script, scratch]
        _run(command, "filling the caches", {**os.environ, **variables})
    shutil.rmtree(scratch, ignore_errors=True)


def _add_start(prefix: Path) -> None:
    """Put beside the interpreter the one that copies the caches first."""
    folder = prefix / "start"
    folder.mkdir()
    text = _START.format(
        caches=CACHES,
        source=shlex.quote(str(prefix / "caches")),
        python=shlex.quote(str(prefix / "bin" / "python")),
    )
    for name in ("python", "python3"):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)


def _write_marker(profile: Profile) -> None:
    draft = profile.prefix / f"{MARKER}.new"
    draft.write_text(profile.model_dump_json(indent=1) + "\n", encoding="utf-8")
    draft.chmod(0o644)
    draft.replace(profile.prefix / MARKER)


def _clear(prefix: Path) -> None:
    """Remove a folder, its marker first, so that it counts for nothing from then on."""
    (prefix / MARKER).unlink(missing_ok=True)
    if prefix.exists():
        shutil.rmtree(prefix)


@contextmanager
def _locked(name: str, say: Callable[[str], None]) -> Iterator[None]:
    root = profiles_root()
    try:
        _make_readable_folder(root)
        lock = os.open(root / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SetupError(
            f"the folder for profiles can't be written: {error.strerror}",
            where=str(root),
            todo="Set BASANITE_PROFILES to a folder that can.",
        ) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build of {name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _make_readable_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, open to all whatever the umask is."""
    for path in (*reversed(folder.parents), folder):
        if not path.is_dir():
            path.mkdir(exist_ok=True)
            path.chmod(0o755)
    if os.geteuid() == 0:
        _check_readable(folder, "the folder for profiles")


def _check_readable(path: Path, what: str) -> None:
    """Refuse a path that a sandbox opened by root can't reach, as it has dropped root's rights."""
    for folder in (path, *path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            raise SetupError(
                f"{what} can't be read by other users, which {folder} prevents",
                where=str(path),
                todo="Choose a place that all users may read, such as below /var/lib or /usr.",
            )


def _interpreter(named: Path | None) -> tuple[Path, str]:
    """Give a Python's own path and its version."""
    reasons = []
    for candidate in [named] if named else map(Path, _CANDIDATES):
        try:
            return _look_at(candidate)
        except SetupError as error:
            reasons.append(f"{candidate}: {error.what}")
    raise SetupError(
        "no suitable Python: " + "; ".join(reasons),
        where="profile",
        todo="Install Python 3.11, 3.12 or 3.13 with its venv module for all users "
        "(on Debian or Ubuntu: apt-get install python3 python3-venv), or name one.",
    )


def _look_at(candidate: Path) -> tuple[Path, str]:
    if not candidate.exists():
        raise SetupError("not there")
    facts = json.loads(_run([candidate, "-I", "-c", _FACTS], "looking at this Python"))
    version = tuple(facts["version"])
    if not _OLDEST <= version[:2] < _TOO_NEW:
        raise SetupError(f"is version {'.'.join(map(str, version))}")
    if not facts["venv"]:
        raise SetupError("lacks venv or ensurepip")
    path = Path(facts["path"])
    if os.geteuid() == 0:
        _check_readable(path, "this Python")
    return path, ".".join(map(str, version))


def _run(command: list[str | Path], what: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a program and give its stdout.

    Raises:
        SetupError: it failed; the text holds the end of what it said.
    """
    try:
        done = subprocess.run(
            list(map(str, command)),
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
            umask=0o022,
        )
    except OSError as error:
        raise SetupError(f"{what} failed: {error.strerror}", where=str(command[0])) from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-_TAIL:]
        raise SetupError(
            f"{what} failed with exit code {done.returncode}: {said}",
            where=str(command[0]),
            todo="Check the network, pip's settings (`pip config list`) and the free space.",
        )
    return done.stdout


def _open_to_all(prefix: Path) -> None:
    """Let all users read what is there; wheels may hold files that only their owner can."""
    for folder, _, names in os.walk(prefix):
        Path(folder).chmod(0o755)
        for name in names:
            path = Path(folder) / name
            if not path.is_symlink():
                executable = path.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if executable else 0o644)


def _size(prefix: Path) -> int:
    paths = (Path(folder) / name for folder, _, names in os.walk(prefix) for name in names)
    return sum(path.lstat().st_size for path in paths)


__all__ = ["build_profile", "remove_profiles"]
