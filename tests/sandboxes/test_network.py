"""What code in a sandbox can reach: the endpoints that its specification names, and no more.

The only listeners are those of the tests themselves, on the loopback interface.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from basanite.sandboxes import ExecResult, Limits, Sandbox, SandboxSpec, open_sandbox
from basanite.sandboxes._bubblewrap import Bubblewrap
from basanite.sandboxes._enforcement import Strength
from basanite.sandboxes._proxy_sockets import FIRST_PORT
from support.mock_endpoint import MockConfig, MockEndpoint
from support.raw_endpoint import RawEndpoint

pytestmark = pytest.mark.usefixtures("needs_bubblewrap")

KEY = "sk-test-0123456789abcdef"
LIMITS = Limits(wall_s=30, memory_mb=512, processes=128)

ASK = """
import json, os, urllib.request
BASE = os.environ["OPENAI_BASE_URL"]
def ask(text, **more):
    body = {"model": "mock-model", "messages": [{"role": "user", "content": text}], **more}
    request = urllib.request.Request(
        BASE + "/chat/completions", json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer sandboxed"},
    )
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]
"""
CONNECT = """
import fcntl, json, socket, struct, sys
def answer(host, port):
    try:
        with socket.create_connection((host, port), timeout=1):
            return "open"
    except OSError as error:
        return type(error).__name__
"""


async def opened(url: str, *more: str, **network: object) -> Sandbox:
    endpoints = [{"name": "judge", "url": url, "api_key": KEY}]
    endpoints += [{"name": f"other{n}", "url": one} for n, one in enumerate(more)]
    spec = SandboxSpec.create(network={"endpoints": endpoints, **network}, limits=LIMITS)
    return await open_sandbox(spec, backend="bubblewrap")


def said(result: ExecResult) -> Any:
    assert result.ok, result.stderr.text
    return json.loads(result.stdout.text)


async def test_code_asks_a_model_and_the_key_stays_outside() -> None:
    search = f"""
import os, pathlib
part = {KEY[8:16]!r}
found = [str(v) for v in os.environ.items() if part in str(v)]
for path in pathlib.Path("/proc").glob("[0-9]*/*"):
    if path.name in ("environ", "cmdline") and part in path.read_text(errors="replace"):
        found.append(str(path))
print(json.dumps([ask("hi"), found, sorted(k for k in os.environ if "API" in k or "END" in k)]))
"""
    config = MockConfig(api_key=KEY)
    with MockEndpoint(config, responder=lambda body: "hello") as mock:
        async with await opened(mock.url) as sandbox:
            result = await sandbox.execute(code=ASK + search)
            assert said(result) == [
                "hello", [], ["BASANITE_ENDPOINT_JUDGE", "OPENAI_API_KEY"],
            ]  # fmt: skip
            assert KEY not in result.model_dump_json()
            assert KEY not in repr(sandbox.spec) + sandbox.spec.model_dump_json()
            assert sandbox.network_log == result.network
        assert sandbox.network_log == result.network
    assert mock.headers[0]["authorization"] == f"Bearer {KEY}"
    [request] = result.network
    assert (request.endpoint, request.method, request.path) == (
        "judge", "POST", "/v1/chat/completions",
    )  # fmt: skip
    assert (request.status, request.complete, request.why) == (200, True, "")
    assert min(request.request_bytes, request.reply_bytes) > 50
    assert result.enforced["network"].strength is Strength.STRICT
    assert "proxy" in result.enforced["network"].by


async def test_a_wrong_key_is_not_shown_by_the_servers_refusal() -> None:
    with MockEndpoint(MockConfig(api_key="another")) as mock:
        async with await opened(mock.url) as sandbox:
            code = """
try:
    ask("hi")
except urllib.error.HTTPError as error:
    print(json.dumps([error.code, error.read().decode()]))
"""
            result = await sandbox.execute(code=ASK + code)
    status, text = said(result)
    assert status == 401
    assert "Incorrect API key provided: Bearer ***" in text
    assert KEY not in result.model_dump_json()


async def test_each_execution_has_its_own_requests_and_limits_that_were_met() -> None:
    with MockEndpoint() as mock:
        async with await opened(mock.url, requests=3) as sandbox:
            first = await sandbox.execute(code=ASK + "ask('a'); ask('b')")
            second = await sandbox.execute(code=ASK + "ask('c'); ask('d')")
            third = await sandbox.execute(["true"])
            assert len(sandbox.network_log) == 4
    assert [len(one.network) for one in (first, second, third)] == [2, 2, 0]
    assert (first.ok, second.ok) == (True, False)
    assert [one.status for one in second.network] == [200, 403]
    assert second.limits_hit == ("network_requests",)
    assert first.limits_hit == third.limits_hit == ()
    assert mock.calls == 3


async def test_nothing_else_can_be_reached() -> None:
    """Bait: listeners of this test on the machine's own loopback interface."""
    bait = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0basanite-bait-{os.getpid()}")
    abstract.listen()
    with bait, abstract, MockEndpoint() as mock:
        port = bait.getsockname()[1]
        code = f"""
def privileged():
    # Sets the flags of the loopback interface that it has: a change that changes nothing.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        flags = fcntl.ioctl(one, 0x8913, struct.pack("16sh22x", b"lo", 0))
        for act in (lambda: fcntl.ioctl(one, 0x8914, flags),
                    lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()):
            try:
                act()
                yield "done"
            except OSError as error:
                yield type(error).__name__
unix = socket.socket(socket.AF_UNIX)
try:
    unix.connect("\\0basanite-bait-{os.getpid()}")
    there = "open"
except OSError as error:
    there = type(error).__name__
def listens(port):
    with socket.socket() as one:
        # A socket can also meet itself, where its own port happens to be the other one.
        there = one.connect_ex(("127.0.0.1", port)) == 0
        return there and one.getsockname() != one.getpeername()
ports = [port for port in range(1, 65536) if listens(port)]
print(json.dumps([answer("127.0.0.1", {port}), answer("127.0.0.1", {mock.port}),
                  answer("::1", {port}), there, ports,
                  [name for _, name in socket.if_nameindex()], *privileged()]))
"""
        async with await opened(mock.url) as sandbox:
            result = await sandbox.execute(code=CONNECT + code)
            refused = "ConnectionRefusedError"
            assert said(result) == [
                refused, refused, refused, refused, [FIRST_PORT], ["lo"],
                "PermissionError", "PermissionError",
            ]  # fmt: skip
        bait.setblocking(False)
        with pytest.raises(BlockingIOError):
            bait.accept()


async def test_a_sandbox_does_not_reach_the_proxy_or_the_servers_of_another() -> None:
    serve = """
import socket, time
with socket.create_server(("127.0.0.1", 7000)):
    print("listening", flush=True)
    time.sleep(20)
"""
    look = 'print(json.dumps([answer("127.0.0.1", p) for p in map(int, sys.argv[1:])]))'
    with MockEndpoint() as mock:
        first = await opened(mock.url, mock.url)
        second = await opened(mock.url)
        async with first, second:
            events = first.stream(code=serve)
            async for event in events:
                if event.kind == "chunk":
                    break
            ports = [str(port) for port in (FIRST_PORT, FIRST_PORT + 1, 7000)]
            command = ["python3", "-c", CONNECT + look, *ports]
            refused = "ConnectionRefusedError"
            assert said(await second.execute(command)) == ["open", refused, refused]
            assert said(await first.execute(command)) == ["open", "open", "open"]
            await events.aclose()  # type: ignore[attr-defined]
            assert len(first.network_log) == len(second.network_log) == 0


async def test_each_of_many_endpoints_has_its_place_and_no_default() -> None:
    code = """
import os, json, urllib.request
urls = {k: v for k, v in os.environ.items() if k.startswith(("BASANITE_", "OPENAI_"))}
print(json.dumps([urls, [urllib.request.urlopen(u + "/models").status for u in urls.values()]]))
"""
    one, two = RawEndpoint(), RawEndpoint()
    async with one, two, await opened(one.url, two.url) as sandbox:
        urls, statuses = said(await sandbox.execute(code=code))
        assert [entry.endpoint for entry in sandbox.network_log] == ["judge", "other0"]
    assert urls == {
        "BASANITE_ENDPOINT_JUDGE": f"http://127.0.0.1:{FIRST_PORT}/v1",
        "BASANITE_ENDPOINT_OTHER0": f"http://127.0.0.1:{FIRST_PORT + 1}/v1",
    }
    assert statuses == [200, 200]
    assert KEY.encode() in one.requests[0]
    assert b"uthorization" not in two.requests[0]


async def test_many_requests_at_once() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(48) as pool:
    print(json.dumps(sorted(pool.map(ask, map(str, range(192))))))
"""

    def echo(body: dict[str, object]) -> str:
        messages = body["messages"]
        assert isinstance(messages, list)
        return str(messages[0]["content"])

    with MockEndpoint(MockConfig(latency=0.02), responder=echo) as mock:
        async with await opened(mock.url, connections=16) as sandbox:
            result = await sandbox.execute(code=ASK + code)
    assert said(result) == sorted(map(str, range(192)))
    assert len(result.network) == 192
    assert 4 < mock.max_in_flight <= 16


async def test_a_streamed_reply_comes_in_event_by_event() -> None:
    more = asyncio.Event()

    async def stream(request: bytes, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        writer.write(head + b"data: 1\n\n")
        await more.wait()
        writer.write(b"data: 2\n\n")
        writer.close()

    code = """
import os, sys, urllib.request
with urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models") as reply:
    for line in reply:
        print(line.decode().strip(), flush=True)
"""
    seen = b""
    async with RawEndpoint(stream) as endpoint, await opened(endpoint.url) as sandbox:
        async for event in sandbox.stream(code=code):
            if event.kind == "chunk":
                seen += event.data
                if b"data: 1" in seen:
                    more.set()
            elif event.kind == "finished":
                assert event.result.ok, event.result.stderr.text
                assert event.result.network[0].complete
    assert seen.split() == [b"data:", b"1", b"data:", b"2"]


async def test_what_is_under_way_ends_with_the_execution() -> None:
    async def never(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with RawEndpoint(never) as endpoint, await opened(endpoint.url) as sandbox:
        result = await sandbox.execute(code=ASK + "ask('hi')", wall_s=1.0)
        assert result.limits_hit == ("wall",)
        [request] = result.network
        assert request.status is None
        assert "broke it off" in request.why
        await asyncio.wait_for(endpoint.ended.wait(), 5)


async def test_closing_ends_the_proxy_with_its_tasks_and_descriptors() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async with RawEndpoint() as endpoint:
        sandbox = await opened(endpoint.url)
        await sandbox.close()
        before = descriptors()
        tasks = len(asyncio.all_tasks())
        for _ in range(2):
            async with await opened(endpoint.url, endpoint.url) as sandbox:
                await sandbox.execute(["true"])
        assert descriptors() == before
        assert len(asyncio.all_tasks()) == tasks


async def test_without_endpoints_there_is_no_network_at_all() -> None:
    spec = SandboxSpec.create(limits=LIMITS)
    code = """
import os
print(json.dumps([answer("127.0.0.1", 9001), [k for k in os.environ if "OPENAI" in k]]))
"""
    async with await open_sandbox(spec, backend="bubblewrap") as sandbox:
        result = await sandbox.execute(code=CONNECT + code)
    variables = said(result)
    assert isinstance(variables, list)
    assert variables[0] != "open"
    assert variables[1] == []
    assert result.network == sandbox.network_log == ()


def test_a_policy_with_another_endpoint_is_another_policy() -> None:
    hashes = set()
    for network in (
        {},
        {"endpoints": [{"name": "a", "url": "http://127.0.0.1:1/v1"}]},
        {"endpoints": [{"name": "a", "url": "http://127.0.0.1:2/v1"}]},
        {"endpoints": [{"name": "a", "url": "http://127.0.0.1:1/v1"}], "requests": 1},
    ):
        runtime, spec = Bubblewrap(), SandboxSpec.create(network=network)
        hashes.add(Sandbox(runtime, spec, None, runtime.enforcement(spec, None)).policy_hash)
    assert len(hashes) == 4
