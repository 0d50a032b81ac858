"""Gather what a kernel says about one cell: a bounded part kept, the rest counted."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import time
from collections import deque
from collections.abc import Mapping
from typing import Literal

from ._capture import HeadTail
from ._cell import CellError, CellEvent, RichOutput, Shown
from ._kernel_messages import Message, text
from ._result import Chunk, Output
from ._spec import MIB, Limits

MAX_OUTPUTS = 100
MAX_OUTPUT_BYTES = 16 * MIB
_MAX_MESSAGES = 100_000
_MAX_NAME = 200
_MAX_VALUE = 10_000
_MAX_TRACEBACK = 50_000
_MAX_MIME = 100
_MAX_FORMATS = 20
_BINARY = ("image/", "audio/", "video/", "application/pdf")
_TEXT_IMAGES = frozenset({"image/svg+xml"})
_KINDS: Mapping[str, Literal["display", "result"]] = {
    "display_data": "display",
    "update_display_data": "display",
    "execute_result": "result",
}


class CellRecord:
    """One cell while it runs.

    Args:
        request: id of the request; messages that name another are not for this cell.
        parts: the request, to be sent.
        limits: how much is kept and how much may come.
    """

    def __init__(self, request: str, parts: list[bytes], limits: Limits) -> None:
        self.request = request
        self.parts = parts
        self.changed = asyncio.Event()
        self.events: deque[CellEvent] = deque()
        self.outputs: list[RichOutput] = []
        self.left_out = 0
        self.error: CellError | None = None
        self.count: int | None = None
        self.began = False
        self.interrupt_asked = False
        self.replied: float | None = None
        self.reply_ok = False
        self.idle: float | None = None
        self._received = self._messages = 0
        self._allowed = limits.log_mb * MIB
        self._room = MAX_OUTPUT_BYTES
        self._streams = {name: HeadTail(limits.output_bytes) for name in ("stdout", "stderr")}

    @property
    def complete(self) -> bool:
        """Whether the kernel says that it has ended and that nothing more comes."""
        return self.replied is not None and self.idle is not None

    @property
    def over(self) -> bool:
        """Whether more came than is allowed."""
        return self._received > self._allowed or self._messages > _MAX_MESSAGES

    def count_bytes(self, size: int, *, whole: bool) -> None:
        """Count a message of any kind, also one that is not for this cell."""
        self._received += size
        self._messages += 1
        self.left_out += 0 if whole else 1
        if self.over:
            self.changed.set()

    def output(self, name: str) -> Output:
        """Give what is kept of a stream."""
        kept = self._streams[name]
        shown, left_out = kept.text()
        cut = left_out > 0
        return Output(text=shown, total_bytes=kept.total, truncated=cut, log_complete=not cut)

    def replies(self, message: Message) -> None:
        """Take a message of the channel on which requests are answered."""
        if message.kind != "execute_reply" or self.replied is not None:
            return
        self.replied = time.monotonic()
        content = message.content
        count = content.get("execution_count")
        if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**53:
            self.count = count
        self.reply_ok = content.get("status") == "ok"
        if not self.reply_ok and self.error is None:
            self.error = _error(content)
        self.changed.set()

    def says(self, message: Message) -> None:
        """Take a message of the channel on which output is published."""
        content = message.content
        if message.kind == "stream":
            self._stream(content)
        elif message.kind in _KINDS:
            self._rich(_KINDS[message.kind], content)
        elif message.kind == "error":
            self.error = _error(content)
        elif message.kind == "execute_input":
            self.began = True
            self.changed.set()
        elif message.kind == "status" and content.get("execution_state") == "idle":
            self.idle = time.monotonic()
            self.changed.set()

    def _stream(self, content: Mapping[str, object]) -> None:
        name, said = content.get("name"), content.get("text")
        if name not in {"stdout", "stderr"} or not isinstance(said, str):
            return
        stream: Literal["stdout", "stderr"] = "stdout" if name == "stdout" else "stderr"
        data = said.encode("utf-8", "backslashreplace")
        passed_on = data[: max(0, self._allowed - self._streams[stream].total)]
        self._streams[stream].add(data)
        if passed_on:
            self.events.append(Chunk(stream=stream, data=passed_on))
            self.changed.set()

    def _rich(self, kind: Literal["display", "result"], content: Mapping[str, object]) -> None:
        found = content.get("data")
        if not isinstance(found, dict) or len(self.outputs) >= MAX_OUTPUTS or self.over:
            self.left_out += 1
            return
        data: dict[str, str | bytes] = {}
        for mime, value in list(found.items())[:_MAX_FORMATS]:
            read = _format(mime, value)
            if read is None or len(mime) > _MAX_MIME or len(read) > self._room:
                self.left_out += 1
                continue
            self._room -= len(read)
            data[text(mime, _MAX_MIME)] = read
        if data:
            self.outputs.append(RichOutput(kind=kind, data=data))
            self.events.append(Shown(output=self.outputs[-1]))
            self.changed.set()


def _format(mime: str, value: object) -> str | bytes | None:
    """Read one format of an output; None where it is not what it says."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if mime.startswith(_BINARY) and mime not in _TEXT_IMAGES:
        if not isinstance(value, str):
            return None
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            return None
    if isinstance(value, str):
        return text(value, len(value))
    try:
        return json.dumps(value)
    except RecursionError:
        return None


def _error(content: Mapping[str, object]) -> CellError:
    lines = content.get("traceback")
    given = lines if isinstance(lines, list) else []
    trace = "\n".join(line for line in given if isinstance(line, str))
    return CellError(
        name=text(content.get("ename"), _MAX_NAME) or "unknown",
        value=text(content.get("evalue"), _MAX_VALUE),
        traceback=text(trace, _MAX_TRACEBACK),
    )


__all__ = ["MAX_OUTPUTS", "MAX_OUTPUT_BYTES", "CellRecord"]
