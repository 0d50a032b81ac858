"""The closing list of skips, and the mode in which a skip is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.skips import ALLOWED_VARIABLE, STRICT_VARIABLE, advice, forbidden, summary

TESTS = Path(__file__).parents[1]

SKIPPING = """
import pytest

def test_browser():
    pytest.skip("needs Debian package chromium: apt-get install chromium")

def test_other():
    pytest.skip("no postgres here")
"""


def session(folder: Path, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run two skipping tests in a pytest of their own, under this repository's conftest."""
    folder.joinpath("test_skipping.py").write_text(SKIPPING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest"]
    command += ["-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(folder), *flags]
    environment = {
        k: v for k, v in os.environ.items() if k not in {STRICT_VARIABLE, ALLOWED_VARIABLE}
    }
    path = os.pathsep.join([str(TESTS), environment["PYTHONPATH"]])
    return subprocess.run(
        [*command, str(folder)],
        env={**environment, "PYTHONPATH": path, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_session_ends_with_what_was_skipped_and_how_to_get_it(tmp_path: Path) -> None:
    child = session(tmp_path)
    assert child.returncode == 0, child.stdout + child.stderr
    assert "1 test skipped: needs Debian package chromium" in child.stdout
    assert "1 test skipped: no postgres here -> apt-get install postgresql" in child.stdout


@pytest.mark.parametrize("flags", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_in_strict_mode_a_skip_fails_the_session(tmp_path: Path, flags: tuple[str, ...]) -> None:
    child = session(tmp_path, *flags, **{STRICT_VARIABLE: "1"})
    assert child.returncode == 1, child.stdout + child.stderr
    assert "allows no such skip: no postgres here" in child.stdout


def test_the_allow_list_lets_single_reasons_through(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("# a comment\nneeds Debian package chromium\n")
    strict = {STRICT_VARIABLE: "1", ALLOWED_VARIABLE: str(allowed)}
    child = session(tmp_path, **strict)
    assert child.returncode == 1
    assert "allows no such skip: needs" not in child.stdout
    allowed.write_text("needs Debian package chromium\nno postgres\n")
    assert session(tmp_path, **strict).returncode == 0


def test_reasons_are_counted_and_advice_is_not_repeated() -> None:
    reasons = ["Skipped: no postgres", "no postgres", "needs chromium: apt-get install chromium"]
    assert summary(reasons) == [
        "1 test skipped: needs chromium: apt-get install chromium",
        "2 tests skipped: no postgres -> apt-get install postgresql",
    ]
    assert advice("something else") is None


def test_without_strict_mode_nothing_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(STRICT_VARIABLE, raising=False)
    assert forbidden(["any"]) == []


def test_an_empty_allow_list_allows_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(STRICT_VARIABLE, "1")
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("# only a comment\n\n")
    monkeypatch.setenv(ALLOWED_VARIABLE, str(allowed))
    assert forbidden(["any"]) == ["any"]
