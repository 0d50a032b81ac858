"""Debian's Chromium, driven over its debugging pipe (no port, no driver, no network)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SKIP_REASON = "needs Debian package chromium: apt-get install chromium"
BINARY = shutil.which("chromium")

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


# The browser talks on descriptors 3 and 4. Copies above 9 are made first, so that neither
# end is overwritten before it is in its place.
_AS_3_AND_4 = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for place, end in zip((3, 4), ends):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """One tab, with all it reported: console lines, exceptions, requests."""

    def __init__(self, profile: Path, *, seconds: float = 60.0) -> None:
        assert BINARY is not None, SKIP_REASON
        self._deadline = time.monotonic() + seconds
        self.console: list[str] = []
        self.requests: list[str] = []
        self._events: list[str] = []
        self._next = 0
        self._buffer = b""
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _AS_3_AND_4, str(theirs_in), str(theirs_out)),
                *(BINARY, *_FLAGS, f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._session: str | None = None
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def open(self, file: Path, *, width: int = 1280, dark: bool = False) -> None:
        """Load a local file and wait until it is there."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self.send("Page.navigate", url=file.resolve().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._read()

    def run(self, script: str, *, wait: bool = False) -> Any:
        """Evaluate a JavaScript expression (a promise with `wait`) and give its plain value."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=wait
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def screenshot(self, out: Path, *, whole: bool = True) -> None:
        found = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        out.write_bytes(base64.b64decode(found["data"]))

    def send(self, method: str, **params: object) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self._next += 1
        message: dict[str, object] = {"id": self._next, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._next:
                assert "error" not in answer, (method, answer)
                result: dict[str, Any] = answer["result"]
                return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = self._deadline - time.monotonic()
            ready, _, _ = select.select([self._from], [], [], max(0.0, left))
            assert ready, "Chromium did not answer in time"
            read = os.read(self._from, 1 << 20)
            assert read, "Chromium is gone"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        self._note(answer.get("method", ""), answer.get("params", {}))
        return answer

    def _note(self, method: str, params: Mapping[str, Any]) -> None:
        if method:
            self._events.append(method)
        if method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}:
            self.console.append(json.dumps(params)[:500])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        os.close(self._to)
        os.close(self._from)
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
