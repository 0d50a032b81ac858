"""What a public export takes out of the words of basanite and of servers, and what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from basanite.store._public import public_fingerprint, public_name, public_text
from support.run_folders import PRIVATE, private_manifest


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://other.example:1/v1?key=x: no answer", "(an address) no answer"),
        ("gpu-7.lab.example:8000 refused", "the endpoint refused"),
        ("host 10.9.8.7 is gone", "host the endpoint is gone"),
        ("172.16.0.3:8000 redirected", "(an address) redirected"),
        ("see /home/zoe/log.txt", "see (a path)"),
        (r"see C:\Users\zoe\log.txt now", "see (a path) now"),
        ("~/data/x.json is gone", "(a path) is gone"),
        ("/home/zoe/embargoed/in.jsonl: row 2", "the input: row 2"),
        (f"{Path.home()}/x", "~/x"),
    ],
)
def test_places_are_taken_out(text: str, shown: str) -> None:
    assert public_text(text, private_manifest()) == shown


@pytest.mark.parametrize(
    "text",
    [
        "1/2 of the cells and/or others",
        "ratio a/b/c",
        "HTTP 500 after 3 attempts",
        "the text was split into 3 windows",
        "llama.cpp 1.2.3",
        "",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert public_text(text, private_manifest()) == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct"),
        ("/srv/models/Qwen3-8B/", "Qwen3-8B"),
        (r"C:\models\a.gguf", "a.gguf"),
        ("./m", "m"),
        ("a/b/c.gguf", "c.gguf"),
        ("/", "unknown"),
    ],
)
def test_of_a_path_the_last_part_is_the_name(name: str, shown: str) -> None:
    assert public_name(name) == shown


def test_a_fingerprint_is_shown_without_places() -> None:
    manifest = private_manifest()
    whole = public_fingerprint(manifest.judge, manifest)
    text = json.dumps(whole)
    assert [word for word in PRIVATE if word in text] == []
    model = whole["model"]
    assert isinstance(model, dict)
    assert (model["name"], model["root"]) == ("Qwen3-8B", "snapshot")
    assert str(model["engine"]).startswith("vllm 0.32.0")
    assert whole["sampling"] == {"temperature": 0.0, "top_p": 1.0, "seed": 3, "max_tokens": 1024}
