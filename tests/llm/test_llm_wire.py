"""What goes over the wire and what is read from it."""

from __future__ import annotations

import json

import pytest

from basanite.errors import UnscoredReason
from basanite.llm import Message, Request
from basanite.llm._address import Address
from basanite.llm._failure import of_status, retry_after_seconds
from basanite.llm._tokens import estimate_tokens
from basanite.llm._wire import NotACompletion, body_of, read_completion
from basanite.schema import Sampling
from support.asking import SCHEMA, request
from support.mock_replies import wanted_schema

_ADDRESS = Address.parse("http://127.0.0.1:1", api_key="sk-secret")


def _body(one: Request, *, send_schema: bool = True) -> dict[str, object]:
    body = json.loads(body_of(one, "m", send_schema=send_schema))
    assert isinstance(body, dict)
    return body


def _reply(**message: object) -> bytes:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()


def test_sampling_is_always_sent_whole() -> None:
    body = _body(Request((Message("user", "hi"),), Sampling(), "x", "1"))
    assert body["temperature"] == 0.0
    assert body["top_p"] == 1.0
    assert body["seed"] == 0
    assert body["max_tokens"] == 1024
    assert not {"response_format", "logprobs", "top_logprobs"} & body.keys()


def test_a_replicate_is_a_sample_of_its_own() -> None:
    assert _body(request(replicate=2))["seed"] == 2


def test_the_schema_goes_as_response_format_and_is_strict() -> None:
    response_format = _body(request())["response_format"]
    assert isinstance(response_format, dict)
    assert response_format["type"] == "json_schema"
    assert response_format["json_schema"]["strict"] is True
    assert response_format["json_schema"]["schema"] == SCHEMA


def test_the_order_of_properties_is_part_of_the_question() -> None:
    schema = {"type": "object", "properties": {"z": {}, "a": {}}}
    text = body_of(request(schema=schema), "m", send_schema=True).decode()
    assert text.index('"z"') < text.index('"a"')


def test_without_response_format_the_schema_is_in_the_prompt() -> None:
    body = _body(request(), send_schema=False)
    assert "response_format" not in body
    assert wanted_schema(body) == SCHEMA
    messages = body["messages"]
    assert isinstance(messages, list)
    assert [m["role"] for m in messages] == ["system", "user"]


def test_log_probabilities_are_asked_for() -> None:
    body = _body(request(top_logprobs=5))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)


def test_any_text_survives_the_wire() -> None:
    text = "\x00 \ud83d\ude00 \ud800 é 中 \u2028"
    body = _body(request(text))
    assert isinstance(body["messages"], list)
    assert body["messages"][-1]["content"].encode("utf-16", "surrogatepass") == text.encode(
        "utf-16", "surrogatepass"
    )


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("<think>so and so</think>\n{}", "{}", "so and so"),
        ("\n <think>never ends", "", "never ends"),
        ("so and so</think>\n\n{}", "{}", "so and so"),
        ('{"quote": "</think>"}', '{"quote": "</think>"}', None),
        ('Well: <think>a</think> {"x": 1}', 'Well: <think>a</think> {"x": 1}', None),
        ("plain", "plain", None),
    ],
)
def test_a_leading_thought_is_kept_apart(content: str, text: str, reasoning: str | None) -> None:
    completion, _ = read_completion(_reply(content=content))
    assert (completion.text, completion.reasoning) == (text, reasoning)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_is_kept(name: str) -> None:
    completion, _ = read_completion(_reply(content="{}", **{name: "so"}))
    assert (completion.text, completion.reasoning) == ("{}", "so")


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, ""), ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"), (7, "")],
)
def test_a_content_that_is_no_string_is_read(content: object, text: str) -> None:
    assert read_completion(_reply(content=content))[0].text == text


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "empty body"),
        (b"<!DOCTYPE html><p>hi", "web page"),
        (b'{"choices": [', "half a JSON"),
        (b"ok", "not JSON"),
        (b"[]", "no chat completion"),
        (b"{}", "no choices"),
        (b'{"choices": [{}]}', "without a message"),
        (b'{"error": {"message": "out of memory"}}', "out of memory"),
        (b"[" * 100_000, "half a JSON"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_what_is_no_completion_is_named(body: bytes, what: str) -> None:
    with pytest.raises(NotACompletion, match=what):
        read_completion(body)


def test_usage_that_is_not_reported_is_said_to_be_missing() -> None:
    assert read_completion(_reply(content="x"))[0].usage.calls_without_usage == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("2", 2.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:00:30 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(value, now=10.0) == seconds


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (400, "This model's maximum context length is 2048 tokens.", "context_overflow"),
        (400, "the request exceeds the available context size", "context_overflow"),
        (400, "The input (9 tokens) is longer than the model's context length", "context_overflow"),
        (413, "Payload too large", "context_overflow"),
        (400, "temperature must be positive", "http_error"),
        (500, "a worker died", "http_error"),
        (429, "slow down", "rate_limited"),
    ],
)
def test_a_status_has_its_reason(status: int, message: str, reason: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    failure = of_status(status, {}, body, _ADDRESS)
    assert failure.reason == UnscoredReason(reason)
    assert message in failure.what


def test_a_field_error_is_named_without_the_prompt_that_it_repeats() -> None:
    detail = [{"loc": ["body", "seed"], "msg": "not allowed", "input": {"messages": "my paper"}}]
    failure = of_status(422, {}, json.dumps({"detail": detail}).encode(), _ADDRESS)
    assert failure.what == "HTTP 422: body.seed: not allowed"


def test_a_key_that_the_server_repeats_is_not_shown() -> None:
    body = b'{"error": {"message": "Incorrect API key provided: sk-secret"}}'
    failure = of_status(401, {}, body, _ADDRESS)
    assert failure.fatal is not None
    assert "sk-secret" not in failure.what


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("The cells express the gene.", 7),
        ("0123456789", 10),
        ("日本語", 6),
        ("{}[]();", 7),
        ("\n\n\n", 3),
        ("\ud800", 1),
    ],
)
def test_an_estimate_is_not_below_what_tokenizers_count(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least


def test_an_estimate_of_prose_is_at_most_twice_the_usual_count() -> None:
    prose = "Basanite is the black stone on which gold is tested by the streak it leaves. " * 50
    assert estimate_tokens(prose) <= 2 * len(prose) / 4
