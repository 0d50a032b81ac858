"""The proxy of model endpoints, without a sandbox: what passes, and in which form."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket

import pytest
from openai import AsyncOpenAI

from basanite.sandboxes import _proxy_connection as connection_module
from support.mock_endpoint import MockConfig, MockEndpoint
from support.proxied import CLOSE, GET, KEY, post, proxied, status_of
from support.raw_endpoint import OK, RawEndpoint, plain, talk


async def test_a_request_is_written_anew_with_the_key_and_without_what_is_not_needed() -> None:
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        sent = post(
            b'{"a": 1}', b"Authorization: Bearer sandboxed", b"X-Api-Key: x", b"Cookie: a=b",
            b"X-Forwarded-For: 1.2.3.4", b"Forwarded: for=1", b"Proxy-Authorization: Basic eA==",
            b"Content-Type: application/json", b"Accept: text/event-stream", b"Keep-Alive: 9",
            b"Accept-Encoding: gzip", b"OpenAI-Organization: other", b"X-Stainless-Lang: python",
            b"TE: trailers", b"Range: bytes=0-1", b"X-HTTP-Method-Override: DELETE",
            target=b"/v1/chat/completions?a=b",
        )  # fmt: skip
        reply = await talk(opened.port, sent)
    assert status_of(reply) == 200
    assert reply.endswith(b"{}")
    head, _, body = endpoint.requests[0].partition(b"\r\n\r\n")
    assert body == b'{"a": 1}'
    first, *lines = head.decode().split("\r\n")
    assert first == "POST /v1/chat/completions?a=b HTTP/1.1"
    assert sorted(line.lower() for line in lines) == sorted([
        f"host: 127.0.0.1:{endpoint.port}", "accept: text/event-stream", "content-length: 8",
        "content-type: application/json", "x-stainless-lang: python",
        "accept-encoding: identity", f"authorization: bearer {KEY}",
    ])  # fmt: skip


async def test_the_endpoints_own_base_takes_the_place_of_the_one_inside() -> None:
    async with RawEndpoint() as endpoint:
        url = endpoint.url.replace("/v1", "/team/v2/")
        async with proxied(url, key=None) as opened:
            assert status_of(await talk(opened.port, GET)) == 200
    assert endpoint.requests[0].startswith(b"GET /team/v2/models HTTP/1.1\r\n")
    assert b"authorization" not in endpoint.requests[0].lower()


INSIDE = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
_POST = b"POST /v1/chat HTTP/1.1\r\nHost: a\r\n"
ATTACKS: dict[str, tuple[bytes, int]] = {
    "length and chunks": (_POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
                          b"0\r\n\r\n" + INSIDE, 411),
    "chunks": (_POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", 411),
    "unknown coding": (_POST + b"Transfer-Encoding: xchunked\r\n\r\n" + INSIDE, 501),
    "two codings": (_POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + INSIDE, 501),
    "folded coding": (_POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + INSIDE, 411),
    "blank before the colon": (_POST + b"Transfer-Encoding : chunked\r\n\r\n" + INSIDE, 400),
    "two lengths": (_POST + b"Content-Length: 0\r\nContent-Length: 9\r\n\r\n" + INSIDE, 400),
    "signed length": (_POST + b"Content-Length: +0\r\n\r\n" + INSIDE, 400),
    "negative length": (_POST + b"Content-Length: -1\r\n\r\n" + INSIDE, 400),
    "huge length": (_POST + b"Content-Length: 99999999999999999999\r\n\r\n", 413),
    "NUL in a value": (_POST + b"Accept: a\0b\r\nContent-Length: 0\r\n\r\n", 400),
    "CR in a value": (_POST + b"Accept: a\rX: b\r\nContent-Length: 0\r\n\r\n", 400),
    "header twice": (_POST + b"Content-Type: a\r\nContent-Type: b\r\n\r\n", 400),
    "long head": (_POST + b"Accept: " + b"a" * 40_000 + b"\r\n\r\n", 431),
    "many headers": (_POST + b"A: b\r\n" * 10_000 + b"\r\n", 431),
    "GET with a body": (b"GET /v1/models HTTP/1.1\r\nHost: a\r\nContent-Length: 38\r\n\r\n"
                        + INSIDE, 400),
    "no host": (b"GET /v1/models HTTP/1.1\r\n\r\n", 400),
    "absolute": (b"GET http://127.0.0.1/v1/models HTTP/1.1\r\nHost: a\r\n\r\n", 404),
    "tunnel": (b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    "trace": (b"TRACE /v1/models HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    "delete": (b"DELETE /v1/files/a HTTP/1.1\r\nHost: a\r\n\r\n", 405),
    "websocket": (b"GET /v1/realtime HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                  b"Connection: Upgrade\r\n\r\n", 400),
    "HTTP/1.0": (b"GET /v1/models HTTP/1.0\r\nHost: a\r\n\r\n", 505),
    "HTTP/0.9": (b"GET /v1/models\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
async def test_what_is_ambiguous_or_another_protocol_never_reaches_the_endpoint(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_LINGER_S", 0.02)
    sent, status = ATTACKS[name]
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        reply = await talk(opened.port, sent)
    assert len(re.findall(rb"^HTTP/1.1 ", reply, re.MULTILINE)) == 1, reply
    assert status_of(reply) == status, reply
    assert b"connection: close" in reply.lower()
    assert endpoint.connections == 0
    assert [one.status for one in opened.log] == [status]
    assert opened.log[0].why


async def test_line_ends_and_folds_are_understood_once() -> None:
    loose = b"POST /v1/chat HTTP/1.1\nHost: a\nAccept: a,\n b\nContent-Length: 36\n" + CLOSE
    body = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        assert status_of(await talk(opened.port, loose + body)) == 200
    assert len(endpoint.requests) == 1
    head, _, rest = endpoint.requests[0].partition(b"\r\n\r\n")
    assert rest == body
    assert b"accept: a, b\r\n" in head.lower()
    assert not re.search(rb"(?<!\r)\n", head)


async def test_requests_on_one_connection_are_served_in_turn() -> None:
    kept = GET.replace(CLOSE, b"\r\n")
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        writer.write(kept + kept.replace(b"models", b"second"))
        for _ in range(2):
            await asyncio.wait_for(reader.readuntil(b"{}"), 5)
        writer.write(post(b"{}"))
        assert status_of(await asyncio.wait_for(reader.read(), 5)) == 200
        writer.close()
    assert [one.split(b" ")[1] for one in endpoint.requests] == [
        b"/v1/models", b"/v1/second", b"/v1/chat/completions",
    ]  # fmt: skip
    assert not [task for task in asyncio.all_tasks() if "sock_recv" in repr(task)]


async def test_a_client_that_waits_for_leave_to_send_gets_it() -> None:
    async with RawEndpoint() as endpoint, proxied(endpoint.url) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        head, body = post(b"{}", b"Expect: 100-continue")[:-2], b"{}"
        writer.write(head)
        line = await asyncio.wait_for(reader.readline(), 5)
        assert line.startswith(b"HTTP/1.1 100")
        writer.write(body)
        assert b"HTTP/1.1 200" in await reader.read()
        writer.close()
    assert b"expect" not in endpoint.requests[0].lower()


# --- what comes back


async def test_of_a_reply_only_what_is_needed_comes_in_and_no_cookie_goes_back() -> None:
    answer = OK.replace(
        b"\r\n\r\n",
        b"\r\nSet-Cookie: a=b\r\nServer: x/1\r\nX-Powered-By: y\r\nVia: z\r\n"
        b"Retry-After: 3\r\nX-Request-Id: r1\r\nAlt-Svc: h3\r\n\r\n",
    )
    async with RawEndpoint(plain(answer)) as endpoint, proxied(endpoint.url) as opened:
        reply = await talk(opened.port, GET)
        await talk(opened.port, GET)
    names = {line.split(b":")[0].lower() for line in reply.split(b"\r\n\r\n")[0].split(b"\r\n")[1:]}
    assert names == {
        b"content-type", b"content-length", b"retry-after", b"x-request-id", b"connection",
    }  # fmt: skip
    assert b"cookie" not in endpoint.requests[1].lower()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", "302"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "304"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n", "failed"),
        (OK.replace(b"\r\n\r\n", b"\r\nX-Request-Id: a\0b\r\n\r\n"), "RemoteProtocolError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "larger"),
        (OK.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"), "compressed"),
        (b"nonsense\r\n\r\n", "RemoteProtocolError"),
    ],
)
async def test_what_is_not_followed_is_said(answer: bytes, why: str) -> None:
    async with RawEndpoint(plain(answer)) as endpoint, proxied(endpoint.url) as opened:
        reply = await talk(opened.port, GET)
    assert status_of(reply) == 502
    assert b"127.0.0.1" not in reply
    assert why in opened.log[0].why


async def test_without_a_key_a_compressed_reply_passes() -> None:
    data = gzip.compress(b"{}")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(data)
    answer = plain(head + data)
    async with RawEndpoint(answer) as endpoint, proxied(endpoint.url, key=None) as opened:
        reply = await talk(opened.port, GET)
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b"content-encoding: gzip" in head
    assert gzip.decompress(body) == b"{}"


async def test_an_endpoint_that_is_not_there_is_not_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with proxied(f"http://127.0.0.1:{port}/v1") as opened:
        reply = await talk(opened.port, GET)
    assert status_of(reply) == 502
    assert str(port).encode() not in reply
    assert "ConnectError" in opened.log[0].why


async def test_a_key_that_an_endpoint_repeats_does_not_come_in() -> None:
    async def echo(request: bytes, writer: asyncio.StreamWriter) -> None:
        text = b"key " + KEY.encode() + b"."
        head = b"HTTP/1.1 401 No\r\nX-Request-Id: %s\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % (KEY.encode(), len(text)))
        for byte in text:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)

    async with RawEndpoint(echo) as endpoint, proxied(endpoint.url) as opened:
        reply = await talk(opened.port, GET)
    stars = b"*" * len(KEY)
    assert reply.endswith(b"\r\n\r\nkey " + stars + b".")
    assert b"x-request-id: " + stars in reply.lower()
    assert opened.log[0].complete


async def test_a_reply_that_ends_like_the_keys_beginning_is_whole() -> None:
    text = b"the key begins with " + KEY[:9].encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text
    async with RawEndpoint(plain(answer)) as endpoint, proxied(endpoint.url) as opened:
        assert (await talk(opened.port, GET)).endswith(b"\r\n\r\n" + text)


async def test_events_come_in_before_the_reply_ends() -> None:
    seen = asyncio.Event()

    async def stream(request: bytes, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked"
        writer.write(head + b"\r\n\r\n9\r\ndata: 1\n\n\r\n")
        await seen.wait()
        writer.write(b"9\r\ndata: 2\n\n\r\n0\r\nTrailing: x\r\n\r\n")

    async with RawEndpoint(stream) as endpoint, proxied(endpoint.url) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        writer.write(GET)
        await asyncio.wait_for(reader.readuntil(b"data: 1\n\n"), 5)
        seen.set()
        assert (await reader.read()).endswith(b"data: 2\n\n\r\n0\r\n\r\n")
        writer.close()


async def test_a_reply_that_breaks_off_does_not_look_whole() -> None:
    async def half(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        await writer.drain()
        writer.close()

    async with RawEndpoint(half) as endpoint, proxied(endpoint.url) as opened:
        reply = await talk(opened.port, GET)
    assert b"ab" in reply
    assert not reply.endswith(b"0\r\n\r\n")
    assert not opened.log[0].complete
    assert "failed" in opened.log[0].why


async def test_a_client_of_the_openai_interface_works() -> None:
    config = MockConfig(api_key=KEY)
    with MockEndpoint(config, responder=lambda body: "hello") as mock:
        async with proxied(mock.url) as opened:
            url = opened.proxy.environment()["OPENAI_BASE_URL"]
            async with AsyncOpenAI(base_url=url, api_key="sandboxed", max_retries=0) as client:
                models = [model.id async for model in client.models.list()]
                replies = await asyncio.gather(
                    *(
                        client.chat.completions.create(
                            model=models[0], messages=[{"role": "user", "content": str(number)}]
                        )
                        for number in range(100)
                    )
                )
    assert {reply.choices[0].message.content for reply in replies} == {"hello"}
    assert mock.calls == 100
    assert mock.max_in_flight <= 64
    assert sum(one.complete for one in opened.log) == 101
