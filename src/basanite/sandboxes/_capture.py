"""Take what a process writes: all of it read, a bounded part kept."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from ._result import Output

_READ = 65_536
_MAX_READS = 16
"""Reads of one pipe in a row, so that a flood leaves time for the deadline."""


class HeadTail:
    """The beginning and the end of a stream of bytes.

    Args:
        keep: how many bytes are kept.
    """

    def __init__(self, keep: int) -> None:
        self._head_limit = keep - keep // 2
        self._tail_limit = keep // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take more of it."""
        self.total += len(data)
        missing = self._head_limit - len(self._head)
        if missing > 0:
            self._head += data[:missing]
            data = data[missing:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_limit:
                self._tail_size -= len(self._tail.popleft())

    def text(self) -> tuple[str, int]:
        """Give what was kept, and how many bytes were left out of it."""
        tail = b"".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_limit) :]
        left_out = self.total - len(self._head) - len(tail)
        text = decoded(bytes(self._head) + (b"" if left_out else tail))
        if left_out:
            text += f"\n[... {left_out:,} bytes left out ...]\n{decoded(tail)}"
        return text, left_out


class Capture:
    """One pipe: its beginning and end in memory, more of it in a file, the rest only counted.

    Args:
        pipe: the reading end, non-blocking; closed with the capture.
        log: where the raw bytes go.
        keep: bytes in memory. log_limit: bytes in the file.
        sink: gets each chunk that goes to the file.
    """

    def __init__(
        self,
        pipe: int,
        log: Path,
        *,
        keep: int,
        log_limit: int,
        sink: Callable[[bytes], None] | None = None,
    ) -> None:
        self.pipe = pipe
        self._log_path = log
        self._log = log.open("wb", buffering=0)
        self._log_limit = log_limit
        self._sink = sink
        self._kept = HeadTail(keep)
        self.ended = False

    @property
    def total(self) -> int:
        """Bytes that came in all."""
        return self._kept.total

    @property
    def over(self) -> bool:
        """Whether more was written than the log may hold."""
        return self.total > self._log_limit

    def read(self) -> None:
        """Read what is there; sets `ended` at the end of the stream."""
        for _ in range(_MAX_READS):
            try:
                data = os.read(self.pipe, _READ)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.ended = True
                return
            self._take(data)

    def _take(self, data: bytes) -> None:
        room = self._log_limit - self.total
        self._kept.add(data)
        if room > 0:
            logged = data[:room]
            self._log.write(logged)
            if self._sink is not None:
                self._sink(logged)

    def close(self) -> Output:
        """Close pipe and file, and give what was kept."""
        os.close(self.pipe)
        self._log.close()
        text, left_out = self._kept.text()
        return Output(
            text=text,
            total_bytes=self.total,
            truncated=left_out > 0,
            log=self._log_path,
            log_complete=not self.over,
        )


def decoded(data: bytes) -> str:
    r"""Give bytes of unknown origin as text; what is no UTF-8 is shown as `\xNN`."""
    return data.decode("utf-8", "backslashreplace")


__all__ = ["Capture", "HeadTail", "decoded"]
