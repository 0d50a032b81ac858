from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from basanite.store import collect_environment
from support.store_samples import make_manifest


def test_the_environment_names_versions_of_direct_dependencies() -> None:
    found = collect_environment()
    assert found.basanite
    assert found.python.startswith("3.")
    assert found.packages["pydantic"].startswith("2.")
    assert found.packages["sqlalchemy"].startswith("2.")
    assert "basanite" not in found.packages
    assert all(version[0].isdigit() for version in found.packages.values())


def test_the_revision_of_a_checkout_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments], check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout.strip()

    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    assert collect_environment().git_revision is None  # no commit yet
    (tmp_path / "file").write_text("1", encoding="utf-8")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    clean = collect_environment()
    assert (clean.git_revision, clean.git_dirty) == (git("rev-parse", "HEAD"), False)
    (tmp_path / "file").write_text("2", encoding="utf-8")
    assert collect_environment().git_dirty is True


def test_outside_of_a_checkout_and_without_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    found = collect_environment()
    assert (found.git_revision, found.git_dirty) == (None, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert collect_environment().git_revision is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://user:hunter2@h:8000/v1?key=hunter2#x", "http://h:8000/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        (None, None),
    ],
)
def test_an_endpoint_is_kept_without_secrets(given: str | None, kept: str | None) -> None:
    assert make_manifest(endpoint=given).endpoint == kept


def test_a_manifest_says_when_it_was_made() -> None:
    made = datetime.fromisoformat(make_manifest().created)
    assert made.utcoffset() is not None
