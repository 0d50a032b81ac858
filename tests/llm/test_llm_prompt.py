"""Prompts as files, and the fence around what comes from outside."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.llm import Prompt, fence
from basanite.llm._prompt import fence_mark

_SOURCE = "version: 3\n\nJudge {{claim}} by {{text}}. Keep {braces} and %s.\n"


def test_a_prompt_knows_its_version_hash_and_slots() -> None:
    prompt = Prompt.parse("check", _SOURCE)
    assert (prompt.name, prompt.version) == ("check", "3")
    assert prompt.slots == {"claim", "text"}
    assert prompt.text.startswith("Judge")
    assert re.fullmatch(r"[0-9a-f]{64}", prompt.sha256)


def test_the_hash_changes_with_text_and_version_but_not_with_line_ends() -> None:
    prompt = Prompt.parse("check", _SOURCE)
    assert Prompt.parse("check", _SOURCE.replace("\n", "\r\n")).sha256 == prompt.sha256
    assert Prompt.parse("check", _SOURCE + "x").sha256 != prompt.sha256
    assert Prompt.parse("check", _SOURCE.replace("3", "4", 1)).sha256 != prompt.sha256


def test_a_file_without_a_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version: N"):
        Prompt.parse("check", "Judge {{claim}}.")


def test_a_prompt_is_loaded_from_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "prompts_of_a_test"
    (package / "prompts").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "prompts" / "check.md").write_text(_SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Prompt.load("prompts_of_a_test", "prompts/check").version == "3"
    with pytest.raises(FileNotFoundError):
        Prompt.load("prompts_of_a_test", "prompts/other")
    sys.modules.pop("prompts_of_a_test")


@given(st.text(), st.text())
def test_what_is_put_in_is_never_looked_at_again(claim: str, text: str) -> None:
    prompt = Prompt.parse("check", _SOURCE)
    filled = prompt.fill(claim=claim, text=text)
    assert filled == f"Judge {claim} by {text}. Keep {{braces}} and %s."


@pytest.mark.parametrize("hostile", ["{{text}}", "{text}", "%s %d", "\\1 \\g<0>", "{0.__class__}"])
def test_hostile_parts_stay_what_they_are(hostile: str) -> None:
    filled = Prompt.parse("check", _SOURCE).fill(claim=hostile, text="T")
    assert filled == f"Judge {hostile} by T. Keep {{braces}} and %s."


def test_parts_and_slots_must_agree() -> None:
    prompt = Prompt.parse("check", _SOURCE)
    with pytest.raises(ValueError, match="missing \\['text'\\]"):
        prompt.fill(claim="c")
    with pytest.raises(ValueError, match="without a slot \\['more'\\]"):
        prompt.fill(claim="c", text="t", more="m")


@given(st.text(), st.text(max_size=5))
def test_the_fence_holds_the_text_and_its_mark_stands_only_at_the_ends(
    text: str, salt: str
) -> None:
    mark = fence_mark(text, salt=salt)
    assert mark not in text
    assert fence(text, salt=salt) == f"<<<{mark}\n{text}\n{mark}>>>"


def test_the_mark_depends_on_text_and_salt_alone() -> None:
    assert fence("a") == fence("a")
    assert fence_mark("a") != fence_mark("b")
    assert fence_mark("a") != fence_mark("a", salt="s")


def test_a_lone_surrogate_can_be_fenced() -> None:
    assert "\ud800" in fence("\ud800")


def test_a_text_that_holds_its_own_mark_gets_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text can be made that holds its own hash, so the hash is made to look at a part."""
    import hashlib as real

    class _Blind:
        @staticmethod
        def sha256(data: bytes) -> object:
            return real.sha256(data[: data.index(b"\x1f", 1) + 2])  # salt and attempt only

    monkeypatch.setattr("basanite.llm._prompt.hashlib", _Blind)
    first = fence_mark("nothing")
    second = fence_mark(f"ends with {first}>>>")
    assert second != first
    assert fence_mark(f"{first} {second}") not in {first, second}
