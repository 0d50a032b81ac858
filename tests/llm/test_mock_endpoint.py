"""The mock endpoint is what other tests rest on, so it is tested itself."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support.mock_endpoint import FAULTS, MockConfig, MockEndpoint, mock_process
from support.mock_replies import instance, request_hash

_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "label": {"enum": ["entailed", "neutral"]},
        "quote": {"type": "string", "maxLength": 5},
        "claims": {"type": "array", "items": {"$ref": "#/$defs/claim"}, "minItems": 2},
        "score": {"type": "integer", "minimum": 3, "maximum": 5},
        "left_out": {"type": "string"},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        "share": {"type": "number"},
    },
    "required": ["label", "quote", "claims", "score", "maybe", "share"],
    "$defs": {"claim": {"type": "object", "properties": {"text": {"type": "string"}}}},
}


def _post(url: str, text: str = "hi") -> tuple[int, bytes, dict[str, str]]:
    body = {"model": "mock-model", "messages": [{"role": "user", "content": text}]}
    headers = {"Content-Type": "application/json"}
    sent = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), headers=headers
    )
    try:
        with urllib.request.urlopen(sent, timeout=10) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)


def test_an_instance_keeps_to_its_schema_and_depends_on_the_key_alone() -> None:
    labels = set()
    for key in map(str, range(50)):
        value = instance(_SCHEMA, key)
        assert value == instance(_SCHEMA, key)
        assert isinstance(value, dict)
        assert value.keys() == {"label", "quote", "claims", "score", "maybe", "share"}
        assert value["label"] in {"entailed", "neutral"}
        assert len(value["quote"]) <= 5
        assert len(value["claims"]) >= 2
        assert all(isinstance(claim["text"], str) for claim in value["claims"])
        assert 3 <= value["score"] <= 5
        assert value["maybe"] in {None, True, False}
        assert 0 <= value["share"] <= 1
        labels.add(value["label"])
    assert labels == {"entailed", "neutral"}


def test_a_request_has_one_hash() -> None:
    assert request_hash({"a": 1, "b": 2}) == request_hash({"b": 2, "a": 1})
    assert request_hash({"a": 1}) != request_hash({"a": 2})


def test_faults_come_in_their_share_and_the_same_each_time() -> None:
    config = MockConfig(faults={"500": 0.2}, seed=7)
    runs = []
    for _ in range(2):
        with MockEndpoint(config) as mock:
            runs.append([_post(mock.url, f"item {i}")[0] for i in range(100)])
    assert runs[0] == runs[1]
    assert 10 <= runs[0].count(500) <= 30


def test_another_attempt_is_another_draw() -> None:
    with MockEndpoint(MockConfig(faults={"500": 0.5})) as mock:
        statuses = [_post(mock.url)[0] for _ in range(30)]
    assert set(statuses) == {200, 500}


def test_an_unknown_fault_is_refused() -> None:
    assert "429" in FAULTS
    from support.mock_behaviour import Reply, _spoil

    with pytest.raises(ValueError, match="no fault"):
        _spoil(Reply("x"), "nonsense", "1")


def test_a_process_of_its_own_logs_each_request_and_gives_its_counts(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    config = MockConfig(latency=0.05, log=str(log), faults={"429": 1.0}, retry_after="7")
    with mock_process(config) as mock:
        started = time.monotonic()
        status, _, headers = _post(mock.url)
        assert time.monotonic() - started >= 0.05
        assert (status, headers["Retry-After"]) == (429, "7")
        assert mock.stats().calls == 1
        assert mock.stats().faults == {"429": 1}
    (line,) = log.read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    assert entry["fault"] == "429"
    assert entry["answered"] - entry["received"] >= 0.04
    assert len(entry["hash"]) == 64
