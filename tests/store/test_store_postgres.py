"""What only a server does: passwords, restarts, databases shared with others."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest

from basanite.errors import StorageError
from basanite.store import Ledger, Record, ReplyCache
from support.postgres import PASSWORD, PostgresServer


@pytest.fixture
def server(postgres_server: PostgresServer) -> PostgresServer:
    if find_spec("psycopg") is None:
        pytest.skip("needs psycopg")
    return postgres_server


def test_the_password_is_shown_nowhere(server: PostgresServer) -> None:
    with Ledger.open(server.url) as ledger:
        assert ledger.url == server.url.replace(f":{PASSWORD}", "")
    wrong = server.url.replace(PASSWORD, "wrong-password")
    with pytest.raises(StorageError) as caught:
        Ledger.open(wrong)
    assert "wrong-password" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    assert "PGPASSWORD" in str(caught.value)


def test_the_environment_may_hold_the_password(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with Ledger.open(server.url.replace(f":{PASSWORD}", "")) as ledger:
        assert ledger.runs() is not None


def test_a_server_that_is_not_there_is_said_at_once(server: PostgresServer) -> None:
    with pytest.raises(StorageError, match="refused"):
        Ledger.open(server.url.replace(str(server.port), "1"))
    with pytest.raises(StorageError, match=r"does not exist.*the database in the URL"):
        Ledger.open(f"{server.url}x")


def test_processes_of_many_machines_write_one_ledger(server: PostgresServer) -> None:
    run = uuid.uuid4().hex
    code = (
        "import asyncio, sys; from basanite.store import Ledger, Record\n"
        "async def main():\n"
        "    with Ledger.open(sys.argv[1]) as ledger:\n"
        "        return sum(await asyncio.gather(*(ledger.append(\n"
        "            Record(sys.argv[2], 'judgment', f'k{n}', {})) for n in range(200))))\n"
        "print(asyncio.run(main()))\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, server.url, run],
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(4)
    ]
    written = [int(child.communicate(timeout=60)[0]) for child in children]
    assert sum(written) == 200
    with Ledger.open(server.url) as ledger:
        assert ledger.count(run, "judgment") == 200


async def test_a_restart_of_the_server_is_lived_through(server: PostgresServer) -> None:
    run = uuid.uuid4().hex
    with Ledger.open(server.url) as ledger, ReplyCache.open(server.url) as cache:
        assert await ledger.append(Record(run, "judgment", "before", {})) is True
        await cache.put(f"{run}-before", {"n": 1})
        await asyncio.to_thread(server.stop)
        during = asyncio.create_task(ledger.append(Record(run, "judgment", "during", {})))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(server.start)
        assert await during is True
        await cache.put(f"{run}-after", {"n": 2})
        assert await cache.get(f"{run}-before") == {"n": 1}
        assert await cache.get(f"{run}-after") == {"n": 2}
        assert [one.key for one in ledger.records(run, "judgment")] == ["before", "during"]


async def test_a_server_that_stays_away_is_an_error_in_bounded_time(
    server: PostgresServer,
) -> None:
    with Ledger.open(server.url) as ledger:
        await ledger.append(Record("r", "warm", uuid.uuid4().hex, {}))
        await asyncio.to_thread(server.stop)
        try:
            async with asyncio.timeout(30):
                with pytest.raises(StorageError, match=r"Check that it runs|Wait for it"):
                    await ledger.append(Record("r", "judgment", "k", {}))
        finally:
            await asyncio.to_thread(server.start)


def test_ledger_and_cache_share_a_database_with_other_tables(
    server: PostgresServer, tmp_path: Path
) -> None:
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as other:
        other.execute("CREATE TABLE IF NOT EXISTS songs (name TEXT)")
    with Ledger.open(server.url) as ledger, ReplyCache.open(server.url) as cache:
        ledger.append_now(Record("r", "judgment", uuid.uuid4().hex, {}))
        cache.remember("a", "b", {"n": 1})
        assert cache.recall("a", "b") == {"n": 1}


def test_a_newer_format_on_a_server_is_refused(server: PostgresServer) -> None:
    import psycopg

    Ledger.open(server.url).close()
    with psycopg.connect(server.url, autocommit=True) as other:
        other.execute("UPDATE basanite_formats SET version = 99 WHERE part = 'ledger'")
        try:
            with pytest.raises(StorageError, match="format 99"):
                Ledger.open(server.url)
        finally:
            other.execute("UPDATE basanite_formats SET version = 1 WHERE part = 'ledger'")
