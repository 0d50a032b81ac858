"""How much passes through the proxy of model endpoints, how long, and what is written down."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from basanite.sandboxes import _proxy_account as account_module
from basanite.sandboxes import _proxy_connection as connection_module
from support.proxied import CLOSE, GET, KEY, post, proxied, status_of
from support.raw_endpoint import OK, RawEndpoint, plain, talk


async def test_requests_and_traffic_have_an_end() -> None:
    async with RawEndpoint() as endpoint, proxied(endpoint.url, requests=2) as opened:
        replies = [status_of(await talk(opened.port, GET)) for _ in range(3)]
        assert replies == [200, 200, 403]
        assert list(opened.proxy.account.hit) == ["network_requests"]
    assert len(endpoint.requests) == 2
    big = b"HTTP/1.1 200 OK\r\nContent-Length: 700000\r\n\r\n" + b"x" * 700_000
    async with RawEndpoint(plain(big)) as endpoint, proxied(endpoint.url, traffic_mb=1) as opened:
        lengths = [len(await talk(opened.port, GET)) for _ in range(3)]
        assert lengths[0] > 700_000 > lengths[1]
        assert [one.status for one in opened.log] == [200, 200, 403]
        assert [one.complete for one in opened.log] == [True, False, False]
        assert list(opened.proxy.account.hit) == ["network_traffic"]
    assert len(endpoint.requests) == 2


async def test_bodies_have_a_largest_size() -> None:
    async def endless(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
            await writer.drain()

    async with (
        RawEndpoint(endless) as endpoint,
        proxied(endpoint.url, reply_mb=1, request_mb=1) as opened,
    ):
        reply = await talk(opened.port, GET)
        assert 900_000 < len(reply) < 1_100_000
        assert "larger than 1 MB" in opened.log[0].why
        assert status_of(await talk(opened.port, post(b"x" * (1 << 20) + b"x"))) == 413
        await asyncio.wait_for(endpoint.ended.wait(), 5)
    assert len(endpoint.requests) == 1


async def test_a_request_has_a_longest_time() -> None:
    async def never(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with RawEndpoint(never) as endpoint, proxied(endpoint.url, request_s=0.1) as opened:
        assert status_of(await talk(opened.port, GET)) == 504
        await asyncio.wait_for(endpoint.ended.wait(), 5)
        assert "0.1 seconds" in opened.log[0].why


async def test_the_endpoint_is_let_go_when_the_client_leaves() -> None:
    begun = asyncio.Event()

    async def never(request: bytes, writer: asyncio.StreamWriter) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with RawEndpoint(never) as endpoint, proxied(endpoint.url) as opened:
        _, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        writer.write(GET)
        await asyncio.wait_for(begun.wait(), 5)
        writer.close()
        await asyncio.wait_for(endpoint.ended.wait(), 5)
        await opened.proxy.account.settled(5)
        assert opened.log[0].status is None
        assert "broke it off" in opened.log[0].why


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", 0),
        (b"GET /v1/models HTTP/1.1\r\nHost: a\r\nA: ", 0),
        (post(b"12345678")[:-4], 408),
    ],
)
async def test_who_sends_too_slowly_loses_the_connection(
    sent: bytes, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("IDLE_S", "HEAD_S", "STALL_S", "_LINGER_S"):
        monkeypatch.setattr(connection_module, name, 0.1)
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        assert status_of(await talk(opened.port, sent)) == status
    assert endpoint.requests == []


async def test_a_head_that_comes_byte_by_byte_has_one_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "HEAD_S", 0.2)
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        reading = asyncio.ensure_future(reader.read())
        writer.write(GET[:30])
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                if reading.done():
                    break
                writer.write(b"x")
                await asyncio.sleep(0.02)
        assert reading.done()
        with contextlib.suppress(ConnectionError):
            await reading
        writer.close()
    assert endpoint.requests == []


async def test_connections_beyond_the_limit_wait_their_turn() -> None:
    async def slow(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        writer.write(OK)

    async with RawEndpoint(slow) as endpoint, proxied(endpoint.url, connections=2) as opened:
        kept = GET.replace(CLOSE, b"\r\n")  # the proxy itself closes where others wait
        replies = await asyncio.gather(*(talk(opened.port, kept) for _ in range(8)))
        assert [status_of(reply) for reply in replies] == [200] * 8
    assert endpoint.connections <= 2


async def test_what_is_refused_keeps_its_place_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "PENALTY_S", 0.1)
    async with RawEndpoint() as endpoint, proxied(endpoint.url, connections=1) as opened:
        began = asyncio.get_running_loop().time()
        for _ in range(3):
            assert status_of(await talk(opened.port, b"x\r\n\r\n")) == 400
        assert asyncio.get_running_loop().time() - began > 0.2


async def test_the_log_holds_neither_key_nor_body_nor_query() -> None:
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        await talk(opened.port, post(b'"body"', target=b"/v1/chat?token=query"))
        await talk(opened.port, b"GET /\xff\x1b[2J HTTP/1.1\r\nHost: a\r\n\r\n")
        text = json.dumps([one.model_dump() for one in opened.log])
        assert opened.log[0].path == "/v1/chat"
        assert opened.log[0].request_bytes == 6
        assert opened.log[0].reply_bytes == 2
        for secret in (KEY, "body", "query", "\x1b"):
            assert secret not in text


async def test_a_log_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_module, "_KEPT", 2)
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        for _ in range(3):
            await talk(opened.port, GET)
        assert len(opened.log) == 2
        assert opened.proxy.account.ended == 3
        assert not opened.proxy.account.complete
