from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.errors import StorageError
from basanite.store import ReplyCache, default_cache_path


@pytest.fixture
def cache(database_url: str) -> Iterator[ReplyCache]:
    with ReplyCache.open(database_url) as opened:
        yield opened


@pytest.fixture
def key() -> str:
    return uuid.uuid4().hex


async def test_what_was_put_is_got(cache: ReplyCache, key: str) -> None:
    assert await cache.get(key) is None
    body = {"text": "a\x00 \ud83d é", "logprobs": [[-0.5, "x"]], "n": None}
    await cache.put(key, body)
    assert await cache.get(key) == body


async def test_a_later_put_replaces(cache: ReplyCache, key: str) -> None:
    await cache.put(key, {"n": 1})
    await cache.put(key, {"n": 2})
    assert await cache.get(key) == {"n": 2}
    # Equal keys of one batch: the last one stays.
    await asyncio.gather(*(cache.put(key, {"n": n}) for n in range(200)))
    assert await cache.get(key) == {"n": 199}


async def test_many_at_once(cache: ReplyCache, key: str) -> None:
    await asyncio.gather(*(cache.put(f"{key}{n}", {"n": n}) for n in range(300)))
    found = await asyncio.gather(*(cache.get(f"{key}{n}") for n in range(600)))
    assert found == [{"n": n} if n < 300 else None for n in range(600)]


async def test_profiles_are_apart_from_replies_and_can_be_replaced(
    cache: ReplyCache, key: str
) -> None:
    assert cache.recall("endpoint", key) is None
    cache.remember("endpoint", key, {"json_schema": True})
    cache.remember("endpoint", key, {"json_schema": False})
    cache.remember("other", key, {})
    assert cache.recall("endpoint", key) == {"json_schema": False}
    assert cache.recall("other", key) == {}
    assert await cache.get(key) is None


async def test_it_is_there_for_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with ReplyCache.open(path) as cache:
        await cache.put("k", {"n": 1})
        code = (
            "import asyncio, sys; from basanite.store import ReplyCache\n"
            "cache = ReplyCache.open(sys.argv[1])\n"
            "assert asyncio.run(cache.get('k')) == {'n': 1}\n"
            "asyncio.run(cache.put('k2', {'n': 2}))\n"
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        child = [sys.executable, "-c", code, str(path)]
        await asyncio.to_thread(subprocess.run, child, check=False, timeout=60)
        assert await cache.get("k2") == {"n": 2}


def test_a_closed_cache_says_so(tmp_path: Path) -> None:
    cache = ReplyCache.open(tmp_path / "cache.sqlite")
    cache.close()
    cache.close()
    with pytest.raises(StorageError, match="is closed"):
        cache.remember("a", "b", {})


def test_its_usual_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BASANITE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    path = default_cache_path()
    assert path == tmp_path / "xdg" / "basanite" / "cache.sqlite"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert default_cache_path() == path  # again, with the folder there

    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "own" / "c.sqlite"))
    assert default_cache_path() == tmp_path / "own" / "c.sqlite"

    monkeypatch.delenv("BASANITE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_cache_path() == tmp_path / "home" / ".cache" / "basanite" / "cache.sqlite"


def test_a_place_that_can_not_be_made_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("BASANITE_CACHE", str(tmp_path / "file" / "c.sqlite"))
    with pytest.raises(StorageError, match="BASANITE_CACHE"):
        default_cache_path()
