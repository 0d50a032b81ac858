"""From a name to a model, and a door that opens cheaply."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import basanite.llm
from basanite.errors import EndpointError, InputError
from basanite.llm import CachedModel, ChatModel, ModelSpec, open_model
from support.asking import request
from support.memory_cache import MemoryCache
from support.mock_endpoint import MockConfig, MockEndpoint


async def test_a_second_run_over_open_model_makes_no_chat_call() -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        for _ in range(2):
            async with open_model(ModelSpec(mock.url), cache) as model:
                assert isinstance(model, ChatModel)
                await model.complete(request())
            assert mock.calls == 2  # one for the probe


async def test_with_the_cache_off_nothing_is_read_or_written() -> None:
    cache = MemoryCache()
    with MockEndpoint() as mock:
        async with open_model(ModelSpec(mock.url, cache="off"), cache) as model:
            await model.complete(request())
    assert (cache.gets, cache.puts, cache.profiles) == (0, 0, {})


async def test_the_settings_of_the_spec_reach_the_endpoint() -> None:
    with MockEndpoint(MockConfig(api_key="sk-1", models=("a", "b"))) as mock:
        spec = ModelSpec(mock.url, model="b", concurrency=3, api_key="sk-1")
        assert "sk-1" not in repr(spec)
        async with open_model(spec, None) as model:
            assert isinstance(model, CachedModel)
            assert model.identity.name == "b"
            assert (await model.complete(request())).text


async def test_what_is_wrong_at_the_start_is_said_at_the_start() -> None:
    with MockEndpoint(MockConfig(models=("a", "b"))) as mock:
        with pytest.raises(InputError, match="a, b"):
            async with open_model(ModelSpec(mock.url), None):
                raise AssertionError("not reached")
        with pytest.raises(InputError, match="embedded"):
            async with open_model(ModelSpec(mock.url, gguf=Path("x.gguf")), None):
                raise AssertionError("not reached")
    with pytest.raises(EndpointError):
        async with open_model(ModelSpec("http://127.0.0.1:9"), None):
            raise AssertionError("not reached")


async def test_the_model_is_closed_when_the_block_ends_with_an_error() -> None:
    with MockEndpoint() as mock:
        with pytest.raises(RuntimeError, match="mine"):
            async with open_model(ModelSpec(mock.url), None) as model:
                raise RuntimeError("mine")
        with pytest.raises(Exception, match="closed"):
            await model.complete(request())


def test_the_door_lists_every_name_sorted_and_opens_each() -> None:
    assert basanite.llm.__all__ == sorted(basanite.llm.__all__)
    for name in basanite.llm.__all__:
        assert getattr(basanite.llm, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = basanite.llm.nothing


def test_importing_the_room_loads_no_client() -> None:
    code = (
        "import sys, basanite.llm\n"
        "from basanite.llm import ModelSpec, Prompt, ask, CachedModel, open_model\n"
        "heavy = {'openai', 'httpx2', 'langchain_core', 'xllamacpp', 'sqlalchemy'}\n"
        "print(*sorted(heavy & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == ""
