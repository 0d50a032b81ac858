"""An episode's host as a process: a Unix socket, one JSON object a line, and its tools."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

from ...errors import InputError, SetupError
from ...store import unique_names
from ._client import EpisodeClient
from ._episode import HELPERS, EpisodeHost, Refused

_LONGEST_LINE = 2**20
_END_S = 10.0
"""Longest wait for a host that was told to end."""
_LOG = logging.getLogger(__name__)


def answer_line(host: EpisodeHost, line: str) -> dict[str, object]:
    """Answer one call, `{"tool": NAME, "arguments": {…}}`, with `result` or `error`."""
    try:
        request = json.loads(line, object_pairs_hook=unique_names)
    except json.JSONDecodeError:
        return {"error": {"code": "json", "message": "the line is no JSON"}}
    except (ValueError, RecursionError) as error:
        return {"error": {"code": "json", "message": f"the line can't be read: {error}"}}
    try:
        if not isinstance(request, dict) or not isinstance(request.get("arguments", {}), dict):
            raise Refused("arguments", 'a call is {"tool": NAME, "arguments": {…}}')
        return {"result": host.call(request.get("tool", ""), request.get("arguments", {}))}
    except Refused as error:
        return {"error": {"code": error.reason, "message": str(error)}}
    except Exception:  # noqa: BLE001 - the border of the process: no call may end its host
        _LOG.exception("a call failed")
        return {"error": {"code": "host", "message": "the host failed; its log says why"}}


def serve(host: EpisodeHost, path: str | Path, *, any_user: bool = False) -> None:
    """Answer calls on a Unix socket until a submission, or until the process is ended.

    In the main thread SIGTERM ends it by `SystemExit`, so that its socket goes with it.

    Args:
        host: the episode.
        path: where it listens.
        any_user: let every user who can reach the path connect; an agent in a sandbox that root
            has opened is a user of its own.

    Raises:
        InputError: the path is taken, or too long for a socket.
    """
    path = Path(path)
    if path.exists():
        raise _taken(path)
    if len(os.fsencode(path)) > 100:
        raise InputError("is too long for a socket", where=str(path), todo="Name a shorter one.")

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(60)
            with suppress(OSError):
                line = self.rfile.readline(_LONGEST_LINE)
                answer = answer_line(host, line.decode("utf-8", "replace"))
                self.wfile.write(json.dumps(answer).encode() + b"\n")
            if host.submitted:
                threading.Thread(target=server.shutdown, daemon=True).start()

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

        def server_bind(self) -> None:
            super().server_bind()
            if any_user:
                Path(path).chmod(0o666)

    with _ended_by_sigterm(), Server(str(path), Handler) as server:
        try:
            server.serve_forever(poll_interval=0.05)
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM unwind the stack; only the main thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def host_process(
    arguments: Sequence[str], socket_path: str | Path, *, start_s: float = 30.0
) -> Iterator[EpisodeClient]:
    """Run `basanite suite whatworked episode host …` and give a client of it.

    The reference is read in that process alone.

    Args:
        arguments: what follows `host`, without `--socket`.
        socket_path: where it listens; a short path.
        start_s: longest wait for it.

    Raises:
        InputError: the path is taken.
        SetupError: it did not come up; the text holds what it said.
    """
    path = Path(socket_path)
    if path.exists():  # else another host could answer in its place
        raise _taken(path)
    command = [sys.executable, "-m", "basanite", "suite", "whatworked", "episode", "host"]
    # A file, for a pipe that nobody reads would stop a host that says much.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen([*command, *arguments, "--socket", str(path)], stderr=said)
        try:
            _wait_for(process, said, str(path), start_s)
            yield EpisodeClient(str(path))
        finally:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _taken(path: Path) -> InputError:
    return InputError("is there already", where=str(path), todo="Name another socket.")


def _wait_for(process: subprocess.Popen[bytes], said: IO[str], path: str, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, suppress(OSError):
            probe.connect(path)
            return
        if process.poll() is not None:
            said.seek(0)
            raise SetupError(f"the episode's host ended: {said.read().strip()[-500:]}")
        time.sleep(0.02)
    raise SetupError(f"the episode's host did not come up in {seconds:g} s")


def _tool(
    name: str, description: str, properties: dict[str, object], required: list[str]
) -> dict[str, object]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


_TABLE: dict[str, object] = {
    "type": "object",
    "description": "Utility from 0 to 1 of every mask.",
    "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
}
TOOLS: tuple[dict[str, object], ...] = (
    _tool("task", "Factors, form of a mask, anchors, budget, and the code if shown.", {}, []),
    _tool(
        "measure",
        "Measure masks. A batch that the budget does not hold is refused whole.",
        {"masks": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
        ["masks"],
    ),
    _tool("status", "What was measured, and what is left of budget and calculations.", {}, []),
    _tool(
        "calculate",
        "Evaluate arithmetic in Python's notation; y holds what was measured, by mask. "
        "Assignments and one last expression; calls and CPU time are limited.",
        {"code": {"type": "string"}},
        ["code"],
    ),
    _tool(
        "fit",
        "The whole table as an estimator completes it from what was measured.",
        {"estimator": {"enum": list(HELPERS["fit"])}},
        [],
    ),
    _tool(
        "suggest",
        "The mask that a method would measure next.",
        {"method": {"enum": list(HELPERS["suggest"])}},
        [],
    ),
    _tool(
        "submit",
        "Hand in the whole table, or the name of an estimator. This closes the episode.",
        {
            "table": _TABLE,
            "estimator": {"enum": list(HELPERS["fit"])},
            "intervals": {
                "type": "object",
                "description": "[low, high] of 95 % for every mask.",
                "additionalProperties": {"type": "array", "items": {"type": "number"}},
            },
        },
        [],
    ),
)
"""The tools in the form that OpenAI-compatible servers take."""
