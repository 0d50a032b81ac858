"""The embedded endpoint: what it serves, what it refuses, and that its child never stays."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.errors import InputError, MissingExtra, ReplyError, SetupError, UnscoredReason
from basanite.llm import (
    CachedModel,
    EmbeddedConfig,
    EmbeddedServer,
    Endpoint,
    EndpointConfig,
    Message,
    ModelSpec,
    Request,
    ask,
    open_endpoint,
    open_model,
)
from basanite.llm._embedded_install import SHA256
from basanite.schema import Sampling
from support.asking import request, until
from support.embedded import listening, need_engine, need_model, running_server, wait_until_gone
from support.memory_cache import MemoryCache

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which Linux has")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_EMBEDDED_THREADS", "1")


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    need_model()
    with running_server(EmbeddedConfig(concurrency=1, context_tokens=512, threads=1)) as started:
        yield started


async def _started(config: EmbeddedConfig) -> None:
    async with EmbeddedServer(config):
        raise AssertionError("not reached")


# What it serves


async def test_a_judges_request_gets_a_valid_reply_at_the_first_attempt() -> None:
    need_model()
    async with open_model(ModelSpec("embedded", concurrency=1), None) as model:
        assert isinstance(model, CachedModel)
        assert model.capabilities.json_schema
        assert model.capabilities.logprobs
        assert model.capabilities.context_tokens == 4096
        asked = await ask(model, request(), lambda reply: reply)
    assert asked.first_valid
    assert isinstance(asked.value, dict)
    assert asked.value["a1"] in {"entailed", "neutral", "contradicted"}
    assert asked.usage.calls == 1
    assert asked.usage.prompt_tokens > 0
    assert asked.usage.completion_tokens > 0


async def test_a_second_start_takes_replies_from_the_cache() -> None:
    need_model()
    cache = MemoryCache()
    texts, cached = [], []
    for _ in range(2):  # each at another port
        async with open_model(ModelSpec("embedded", concurrency=1), cache) as model:
            completion = await model.complete(request())
            texts.append(completion.text)
            cached.append(completion.cached)
    assert texts[0] == texts[1]
    assert cached == [False, True]


def test_the_model_is_known_by_its_weights(server: EmbeddedServer) -> None:
    identity = server.identity
    assert identity.kind == "embedded"
    assert identity.name == "SmolLM2-135M-Instruct.Q4_1"
    assert identity.weights_sha256 == SHA256
    assert identity.engine.startswith("xllamacpp 2")
    assert identity.dtype == "Q4_1"
    assert len(identity.chat_template_sha256) == 64


async def test_weights_under_the_installed_name_are_hashed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = need_model()
    other = tmp_path / weights.name
    other.write_bytes(weights.read_bytes() + b"\0")  # llama.cpp does not look behind the tensors
    monkeypatch.setenv("BASANITE_MODELS", str(tmp_path))
    async with EmbeddedServer(EmbeddedConfig(concurrency=1, context_tokens=256)) as started:
        assert started.identity.weights_sha256 not in {SHA256, "unknown"}


async def _opened(server: EmbeddedServer) -> Endpoint:
    return await open_endpoint(
        EndpointConfig(server.url, identity=server.identity, concurrency=1), None
    )


async def test_a_prompt_longer_than_the_context_is_an_overflow(server: EmbeddedServer) -> None:
    endpoint = await _opened(server)
    try:
        assert endpoint.capabilities.context_tokens == 512
        with pytest.raises(ReplyError) as caught:
            await endpoint.complete(request("gene " * 2000))
        assert caught.value.reason is UnscoredReason.CONTEXT_OVERFLOW
        assert (await endpoint.complete(request())).text
    finally:
        await endpoint.aclose()


async def test_a_reply_that_fills_the_context_is_cut_and_not_shifted(
    server: EmbeddedServer,
) -> None:
    endpoint = await _opened(server)
    try:
        schema = {"type": "array", "items": {"type": "string", "enum": ["on"]}, "minItems": 500}
        messages = (Message("user", "gene " * 400),)
        asked = Request(messages, Sampling(max_tokens=5000), "check:truth", "1", schema=schema)
        assert (await endpoint.complete(asked)).finish_reason == "length"
    finally:
        await endpoint.aclose()


@on_linux
def test_it_listens_on_loopback_only(server: EmbeddedServer) -> None:
    assert server.pid is not None
    assert listening(server.pid) == {server.url.removeprefix("http://").removesuffix("/v1")}
    assert server.url.startswith("http://127.0.0.1:")


# What it refuses


@pytest.mark.parametrize(
    ("content", "what"), [(None, "no such file"), (b"PK\x03\x04", "no GGUF"), (b"", "no GGUF")]
)
async def test_a_file_that_is_no_gguf_is_bad_input(
    content: bytes | None, what: str, tmp_path: Path
) -> None:
    need_engine()
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        await _started(EmbeddedConfig(path))
    assert caught.value.where == str(path)


async def test_a_damaged_gguf_is_told_in_llama_cpps_words(tmp_path: Path) -> None:
    need_engine()
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + b"\xff" * 1000)
    server = EmbeddedServer(EmbeddedConfig(path))
    began = time.monotonic()
    with pytest.raises(SetupError, match="could not load the model") as caught:
        await server.__aenter__()
    assert time.monotonic() - began < 10
    assert server.pid is None
    assert "version 4294967295" in caught.value.what
    assert "failed to load model" in caught.value.what
    assert "Traceback" not in caught.value.what


async def test_a_gguf_that_ends_early_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    with need_model().open("rb") as whole:
        path.write_bytes(whole.read(8 << 20))
    with pytest.raises(SetupError, match="not within the file bounds"):
        await _started(EmbeddedConfig(path))


async def test_without_llama_cpp_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"basanite\[embedded\]"):
        async with open_model(ModelSpec("embedded"), None):
            raise AssertionError("not reached")


async def test_without_weights_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_engine()
    monkeypatch.setenv("BASANITE_MODELS", str(tmp_path))
    with pytest.raises(SetupError, match="basanite embedded install"):
        async with open_model(ModelSpec("embedded"), None):
            raise AssertionError("not reached")


@pytest.mark.parametrize("named", ["0", "-1", "many", "1.5"])
async def test_the_number_of_threads_must_be_one(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_model()
    monkeypatch.setenv("BASANITE_EMBEDDED_THREADS", named)
    with pytest.raises(InputError, match="no number of threads") as caught:
        await _started(EmbeddedConfig())
    assert caught.value.where == "BASANITE_EMBEDDED_THREADS"


@pytest.mark.parametrize("name", ["concurrency", "context_tokens", "threads"])
def test_nothing_can_be_less_than_one(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 0"):
        EmbeddedConfig(**{name: 0})  # type: ignore[arg-type]


async def test_modules_in_the_users_folder_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_model()
    (tmp_path / "argparse.py").write_text("raise SystemExit('taken')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    async with EmbeddedServer(EmbeddedConfig(concurrency=1, context_tokens=256)) as started:
        assert started.url


# That its child never stays


@on_linux
async def test_the_child_ends_with_the_block_and_with_an_error_in_it() -> None:
    need_model()
    pids = []
    async with EmbeddedServer(EmbeddedConfig(concurrency=1, context_tokens=256)) as started:
        pids.append(started.pid)
    with pytest.raises(RuntimeError, match="mine"):
        async with EmbeddedServer(EmbeddedConfig(concurrency=1, context_tokens=256)) as started:
            pids.append(started.pid)
            raise RuntimeError("mine")
    assert started.pid is None
    for pid in pids:
        assert pid is not None
        wait_until_gone(pid, seconds=1)


@on_linux
async def test_the_child_ends_if_its_start_is_cancelled() -> None:
    need_model()
    server = EmbeddedServer()
    start = asyncio.create_task(server.__aenter__())
    await until(lambda: server.pid)
    pid = server.pid
    assert pid is not None
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert server.pid is None
    wait_until_gone(pid, seconds=1)


_PARENT = """
import asyncio
from basanite.llm import EmbeddedConfig, EmbeddedServer

async def main():
    async with EmbeddedServer(EmbeddedConfig(concurrency=1, context_tokens=256)) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@on_linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_the_child_ends_if_its_parent_is_killed(how: signal.Signals) -> None:
    need_model()
    command = [sys.executable, "-c", _PARENT]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(how)
        parent.wait(30)
        wait_until_gone(pid)
