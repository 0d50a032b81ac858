"""How the mock endpoint behaves: its configuration, its faults, and what it answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from support.mock_replies import (
    default_text,
    other_case,
    share,
    spoil_ids,
    token_logprobs,
)

FAULTS = (
    "429",  # with Retry-After
    "429-bare",  # without
    "500",
    "length",  # the JSON cut in the middle, finish_reason "length"
    "cut",  # the JSON cut in the middle, finish_reason "stop"
    "half",  # the HTTP body itself is half a JSON, with status 200
    "hang",  # no answer until the client goes away
    "ids",  # one property missing, one that nobody asked for
    "empty",
    "html",  # a web page with status 200
    "case",  # string values in capitals
    "disconnect",  # the connection is closed without an answer
    "not-chat",  # valid JSON that is no chat completion
)
"""Kinds of fault. `case` is bearable; every other one spoils the reply."""


@dataclass(frozen=True)
class Reply:
    """Full control over one answer; `fault` names one of `FAULTS` instead of a good reply."""

    text: str = ""
    finish_reason: str = "stop"
    message: Mapping[str, object] = field(default_factory=dict)
    """More keys of the message, such as `reasoning_content`."""
    status: int = 200
    body: str | Mapping[str, object] | None = None
    """The whole HTTP body, instead of a chat completion."""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None
    latency: float | None = None
    """Seconds; None takes the server's."""
    usage: bool = True


Responder = Callable[[dict[str, object]], "str | dict[str, object] | Reply"]
"""Gets the request's body; a string is the reply's text, a dict its JSON."""


@dataclass(frozen=True)
class MockConfig:
    """How the mock behaves; all of it can be given on the command line."""

    host: str = "127.0.0.1"
    port: int = 0
    latency: float = 0.0
    """Seconds until an answer."""
    models: tuple[str, ...] = ("mock-model",)
    server: str = "vllm"
    """Which server's extra routes there are: `vllm`, `llamacpp` or `plain` (none)."""
    json_schema: bool = True
    """False: a request with `response_format` gets a 400."""
    logprobs: bool = True
    context_tokens: int = 32768
    """Requests over it (a token is four characters) get a 400, as from vLLM."""
    faults: Mapping[str, float] = field(default_factory=dict)
    """Kind to share of answers; drawn anew for each attempt at a request."""
    seed: int = 0
    retry_after: str = "0.05"
    api_key: str | None = None
    log: str | None = None
    """File that gets a JSON line per chat request."""


@dataclass
class MockStats:
    """Counts since the start; also what `GET /stats` answers."""

    calls: int = 0
    """Chat requests."""
    gets: int = 0
    tokenize_calls: int = 0
    connections: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    disconnects: int = 0
    """Requests whose client went away before the answer."""
    faults: dict[str, int] = field(default_factory=dict)


class Core:
    """State shared by all connections, and what to answer."""

    def __init__(
        self, config: MockConfig, responder: Responder | None, *, keep_requests: bool = True
    ) -> None:
        self.config = config
        self.keep_requests = keep_requests
        self.responder = responder
        self.stats = MockStats()
        self.requests: list[dict[str, object]] = []
        self.headers: list[dict[str, str]] = []
        self.attempts: dict[str, int] = {}
        self.log = (
            Path(config.log).open("a", encoding="utf-8")  # noqa: SIM115 - closed by the server
            if config.log
            else None
        )

    def draw_fault(self, key: str) -> str | None:
        attempt = self.attempts.get(key, 0)
        self.attempts[key] = attempt + 1
        if not self.config.faults:
            return None
        point = share(self.config.seed, key, attempt)
        for kind, part in self.config.faults.items():
            if point < part:
                return kind
            point -= part
        return None

    def write_log(self, key: str, received: float, fault: str | None) -> None:
        if self.log is not None:
            line = {"hash": key, "received": received, "answered": time.time(), "fault": fault}
            self.log.write(json.dumps(line) + "\n")
            self.log.flush()

    def refusal(self, body: Mapping[str, object]) -> Reply | None:
        """The 4xx that a real server would answer."""
        config = self.config
        if body.get("model") not in config.models:
            return _error(404, f"The model `{body.get('model')}` does not exist.")
        if "response_format" in body and not config.json_schema:
            return _error(400, "response_format is not supported by this server")
        if body.get("logprobs") and not config.logprobs:
            return _error(400, "logprobs is not supported by this server")
        if body.get("stream"):
            return _error(400, "the mock does not stream")
        messages = body.get("messages")
        characters = (
            sum(len(str(m["content"])) for m in messages) if isinstance(messages, list) else 0
        )
        if characters // 4 > config.context_tokens:
            return _error(
                400,
                f"This model's maximum context length is {config.context_tokens} tokens. However, "
                f"your request has {characters // 4} input tokens.",
            )
        return None

    def reply(self, body: dict[str, object], key: str) -> Reply:
        refusal = self.refusal(body)
        if refusal is not None:
            return refusal
        made = self.responder(body) if self.responder else default_text(body, key)
        if isinstance(made, dict):
            made = json.dumps(made)
        reply = made if isinstance(made, Reply) else Reply(text=made)
        fault = reply.fault or self.draw_fault(key)
        return _spoil(reply, fault, self.config.retry_after) if fault else reply

    def get(self, path: str) -> tuple[int, dict[str, object]]:
        config = self.config
        if path == "/v1/models":
            return 200, {"object": "list", "data": [_model(config, name) for name in config.models]}
        if path == "/stats":
            return 200, asdict(self.stats)
        if path == "/version" and config.server == "vllm":
            return 200, {"version": "0.0.mock"}
        if path == "/props" and config.server == "llamacpp":
            settings = {"n_ctx": config.context_tokens}
            return 200, {
                "default_generation_settings": settings,
                "build_info": "b0-mock",
                "model_path": "mock.gguf",
                "chat_template": "{{ messages }}",
            }
        return 404, {"error": {"message": f"no route {path}"}}

    def tokenize(self, body: Mapping[str, object]) -> tuple[int, dict[str, object]]:
        self.stats.tokenize_calls += 1
        text = str(body.get("prompt" if self.config.server == "vllm" else "content") or "")
        tokens = list(range((len(text) + 3) // 4))
        if self.config.server == "vllm":
            return 200, {"count": len(tokens), "max_model_len": 0, "tokens": tokens}
        return 200, {"tokens": tokens}


def _model(config: MockConfig, name: str) -> dict[str, object]:
    entry: dict[str, object] = {"id": name, "object": "model", "created": int(time.time())}
    if config.server == "vllm":
        return entry | {
            "owned_by": "vllm",
            "root": f"mock/{name}",
            "max_model_len": config.context_tokens,
        }
    if config.server == "llamacpp":
        meta = {"n_ctx_train": config.context_tokens, "n_params": 1000}
        return entry | {"owned_by": "llamacpp", "meta": meta}
    return entry | {"owned_by": "someone"}


def _error(status: int, message: str) -> Reply:
    kind = "BadRequestError" if status == 400 else "NotFoundError"
    return Reply(status=status, body={"error": {"message": message, "type": kind, "code": status}})


def _spoil(reply: Reply, fault: str, retry_after: str) -> Reply:
    if fault not in FAULTS:
        raise ValueError(f"no fault is named {fault!r}")
    if fault in {"429", "429-bare"}:
        headers = {"Retry-After": retry_after} if fault == "429" else {}
        return Reply(
            status=429, body={"error": {"message": "slow down"}}, headers=headers, fault=fault
        )
    if fault == "500":
        return Reply(status=500, body={"error": {"message": "a worker died"}}, fault=fault)
    if fault == "html":
        return Reply(body="<!doctype html><title>Welcome</title>", fault=fault)
    if fault == "not-chat":
        return Reply(body={"hello": "world"}, fault=fault)
    texts = {
        "length": reply.text[: len(reply.text) // 2],
        "cut": reply.text[: len(reply.text) // 2],
        "empty": "",
        "ids": spoil_ids(reply.text) if fault == "ids" else "",
        "case": other_case(reply.text) if fault == "case" else "",
    }
    finish = "length" if fault == "length" else "stop"
    return Reply(text=texts.get(fault, reply.text), finish_reason=finish, fault=fault)


def completion(body: Mapping[str, object], reply: Reply, key: str) -> dict[str, object]:
    choice: dict[str, object] = {
        "index": 0,
        "message": {"role": "assistant", "content": reply.text, **reply.message},
        "finish_reason": reply.finish_reason,
    }
    if body.get("logprobs"):
        top = body.get("top_logprobs")
        choice["logprobs"] = {
            "content": token_logprobs(reply.text, top if isinstance(top, int) else 0)
        }
    whole: dict[str, object] = {
        "id": f"chatcmpl-{key[:16]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model"),
        "choices": [choice],
    }
    if reply.usage:
        messages = body.get("messages")
        size = sum(len(str(m["content"])) for m in messages) if isinstance(messages, list) else 0
        prompt, answer = max(1, size // 4), max(1, len(reply.text) // 4)
        whole["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
        }
    return whole
