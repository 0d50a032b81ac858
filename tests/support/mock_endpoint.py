"""A mock of an OpenAI-compatible server: cheap, deterministic, able to fail in known ways.

In a test, in a thread of its own::

    with MockEndpoint(MockConfig(latency=0.01), responder=lambda body: {"a1": ...}) as mock:
        ... mock.url, mock.calls, mock.requests, mock.max_in_flight

In a process of its own (a bench, a run that gets killed)::

    python tests/support/mock_endpoint.py --port 0 --latency 0.05 --log FILE --fault 429=0.05
    with mock_process(MockConfig(latency=0.05)) as mock:
        ... mock.url, mock.stats()

The first line on stdout is the URL, with `/v1`. `GET /stats` gives the counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":  # run as a script, the folder above is not on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.mock_behaviour import FAULTS, Core, MockConfig, MockStats, Reply, Responder
from support.mock_http import Connection

__all__ = [
    "FAULTS",
    "MockConfig",
    "MockEndpoint",
    "MockProcess",
    "MockStats",
    "Reply",
    "Responder",
    "mock_process",
]


class MockEndpoint:
    """The server in a thread of this process; a context manager."""

    def __init__(
        self,
        config: MockConfig | None = None,
        *,
        responder: Responder | None = None,
        keep_requests: bool = True,
    ) -> None:
        self.config = config or MockConfig()
        self._core = Core(self.config, responder, keep_requests=keep_requests)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="mock-endpoint", daemon=True)
        self.port = 0

    def __enter__(self) -> MockEndpoint:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the mock endpoint did not start")
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the port and every connection; may be called twice."""
        if self._stop is not None and not self._loop.is_closed():
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        connections: list[Connection] = []

        def connect() -> Connection:
            connections.append(Connection(self._core, self._loop))
            return connections[-1]

        server = await self._loop.create_server(
            connect, self.config.host, self.config.port, backlog=1024
        )
        self.port = int(server.sockets[0].getsockname()[1])
        self._ready.set()
        await self._stop.wait()
        server.close()
        for connection in connections:
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)  # let the transports close their sockets
        if self._core.log is not None:
            self._core.log.close()

    @property
    def url(self) -> str:
        """Base URL with `/v1`."""
        return f"http://{self.config.host}:{self.port}/v1"

    @property
    def stats(self) -> MockStats:
        return self._core.stats

    @property
    def calls(self) -> int:
        """Chat requests so far."""
        return self._core.stats.calls

    @property
    def max_in_flight(self) -> int:
        return self._core.stats.max_in_flight

    @property
    def requests(self) -> list[dict[str, object]]:
        """Bodies of the chat requests, in order of arrival."""
        return self._core.requests

    @property
    def headers(self) -> list[dict[str, str]]:
        """Headers of the chat requests, names in lower case."""
        return self._core.headers


@dataclass(frozen=True)
class MockProcess:
    """A mock that runs in another process."""

    url: str
    pid: int

    def stats(self) -> MockStats:
        """Counts since the start."""
        with urllib.request.urlopen(self.url.removesuffix("/v1") + "/stats", timeout=10) as answer:
            return MockStats(**json.load(answer))


@contextlib.contextmanager
def mock_process(config: MockConfig | None = None) -> Iterator[MockProcess]:
    """Run the mock in a process of its own, so that its CPU time is not the client's."""
    arguments = [
        sys.executable,
        str(Path(__file__).resolve()),
        *_to_arguments(config or MockConfig()),
    ]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield MockProcess(url=process.stdout.readline().strip(), pid=process.pid)
        finally:
            process.terminate()
            process.wait(10)


def _to_arguments(config: MockConfig) -> list[str]:
    arguments = [
        *("--host", config.host, "--port", str(config.port), "--latency", str(config.latency)),
        *("--server", config.server, "--context-tokens", str(config.context_tokens)),
        *("--seed", str(config.seed), "--retry-after", config.retry_after),
    ]
    for name in config.models:
        arguments += ["--model", name]
    for kind, part in config.faults.items():
        arguments += ["--fault", f"{kind}={part}"]
    arguments += [] if config.json_schema else ["--no-json-schema"]
    arguments += [] if config.logprobs else ["--no-logprobs"]
    arguments += ["--api-key", config.api_key] if config.api_key else []
    return arguments + (["--log", config.log] if config.log else [])


def _parse(arguments: list[str] | None) -> MockConfig:
    parser = argparse.ArgumentParser(description="A mock OpenAI-compatible endpoint.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--model", action="append", dest="models")
    parser.add_argument("--server", choices=("vllm", "llamacpp", "plain"), default="vllm")
    parser.add_argument("--context-tokens", type=int, default=32768)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--retry-after", default="0.05")
    parser.add_argument("--fault", action="append", default=[], help=f"KIND=SHARE of {FAULTS}")
    parser.add_argument("--no-json-schema", dest="json_schema", action="store_false")
    parser.add_argument("--no-logprobs", dest="logprobs", action="store_false")
    parser.add_argument("--api-key")
    parser.add_argument("--log")
    values = vars(parser.parse_args(arguments))
    values["models"] = tuple(values["models"] or ("mock-model",))
    pairs = (fault.partition("=") for fault in values.pop("fault"))
    values["faults"] = {kind: float(part) for kind, _, part in pairs}
    return MockConfig(**values)


def main(arguments: list[str] | None = None) -> None:
    """Serve until stopped; the first line printed is the URL."""
    with MockEndpoint(_parse(arguments), keep_requests=False) as mock:
        print(mock.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
