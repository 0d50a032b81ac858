"""What the proxy between a sandbox and its model endpoints costs.

    python bench/sandbox_proxy.py [--requests 500] [--mb 200] [--events 20000]

The same client, once as a plain child that asks the endpoint directly and once in a sandbox. The
endpoint is a process of its own that answers at once; a key is set, so that replies are searched.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys

from basanite.sandboxes import SandboxSpec, open_sandbox

PYTHON = "/usr/bin/python3"
KEY = "sk-bench-0123456789abcdef0123456789abcdef"
MIB = 1 << 20
CLIENT = """
import http.client, json, os, sys, time, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
def connect():
    return http.client.HTTPConnection(url.hostname, url.port)
body = json.dumps({"messages": [{"role": "user", "content": "x" * 2000}]})
connection, walls = connect(), []
for _ in range(int(sys.argv[2]) + 20):
    began = time.perf_counter()
    connection.request("POST", url.path + "/chat/completions", body)
    connection.getresponse().read()
    walls.append(1000 * (time.perf_counter() - began))
def streamed(path):
    one, size, began = connect(), 0, time.perf_counter()
    one.request("GET", url.path + path)
    reply = one.getresponse()
    while part := reply.read1(65536):
        size += len(part)
    return size, time.perf_counter() - began
print(json.dumps([walls[20:], streamed("/models/bytes"), streamed("/models/events")]))
"""
EVENT = b"data: " + json.dumps({"choices": [{"delta": {"content": "word"}}]}).encode() + b"\n\n"
PART = b"x" * 65536


def main() -> None:
    options = _parse()
    if options.serve:
        asyncio.run(_serve(options))
    else:
        found = asyncio.run(_measured(options))
        print(json.dumps({"schema": "basanite.bench/1", **found}))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--mb", type=int, default=200, help="size of the streamed reply")
    parser.add_argument("--events", type=int, default=20_000, help="of the reply in events")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


async def _measured(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    arguments = [sys.executable, __file__, "--serve", "--mb", str(options.mb)]
    arguments += ["--events", str(options.events)]
    server = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    try:
        assert server.stdout is not None
        url = (await server.stdout.readline()).decode().strip()
        found = {}
        for name, run in (("direct", _direct), ("sandbox", _inside)):
            found[name] = _shown(name, *json.loads(await run(url, options)))
    finally:
        server.terminate()
        await server.wait()
    added = found["sandbox"]["median_ms"] - found["direct"]["median_ms"]
    print(f"the proxy adds {added:.2f} ms to a request")
    return found


async def _direct(url: str, options: argparse.Namespace) -> str:
    process = await asyncio.create_subprocess_exec(
        PYTHON, "-c", CLIENT, url, str(options.requests), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return out.decode()


async def _inside(url: str, options: argparse.Namespace) -> str:
    endpoint = {"name": "bench", "url": url, "api_key": KEY}
    spec = SandboxSpec.create(network={"endpoints": [endpoint], "reply_mb": options.mb + 1})
    async with await open_sandbox(spec) as sandbox:
        inside = "http://127.0.0.1:9001/v1"
        result = await sandbox.execute([PYTHON, "-c", CLIENT, inside, str(options.requests)])
    if not result.ok:
        raise SystemExit(result.stderr.text)
    return result.stdout.text


def _shown(
    name: str, walls: list[float], whole: tuple[int, float], events: tuple[int, float]
) -> dict[str, float]:
    figures = {
        "median_ms": statistics.median(walls),
        "p90_ms": sorted(walls)[int(0.9 * len(walls))],
        "mb_per_s": whole[0] / MIB / whole[1],
        "events_per_s": events[0] / len(EVENT) / events[1],
    }
    print(
        f"{name:8} median {figures['median_ms']:.2f} ms, p90 {figures['p90_ms']:.2f} ms; "
        f"{figures['mb_per_s']:.0f} MB/s; {figures['events_per_s']:.0f} events/s"
    )
    return figures


async def _serve(options: argparse.Namespace) -> None:
    server = await asyncio.start_server(lambda r, w: _answer(r, w, options), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.Event().wait()


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, options: argparse.Namespace
) -> None:
    parts = {b"bytes": (PART, options.mb * MIB // len(PART)), b"events": (EVENT, options.events)}
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            name = head.split(b" ", 2)[1].rpartition(b"/")[2]
            if name not in parts:
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000)
                continue
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            part, count = parts[name]
            for _ in range(count):
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
                await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n")
    except asyncio.IncompleteReadError:
        writer.close()


if __name__ == "__main__":
    main()
