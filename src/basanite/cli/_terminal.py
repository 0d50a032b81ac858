"""Pass on what an untrusted program writes: as it is to a file, made harmless to a terminal."""

from __future__ import annotations

import codecs
from typing import BinaryIO

_KEPT = frozenset("\n\t")


class Terminal:
    """One stream of this process.

    A terminal obeys control characters: they could rewrite the title, the clipboard, or lines
    that are there already, so a terminal is shown their names instead. Files and pipes get the
    bytes unchanged.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = (
            codecs.getincrementaldecoder("utf-8")("backslashreplace") if stream.isatty() else None
        )

    def write(self, data: bytes) -> None:
        """Write and flush."""
        self._write(data, final=False)

    def close(self) -> None:
        """Write what was held back of a character that never came to its end."""
        self._write(b"", final=True)

    def _write(self, data: bytes, *, final: bool) -> None:
        if self._decoder is not None:
            data = harmless(self._decoder.decode(data, final)).encode()
        if data:
            self._stream.write(data)
            self._stream.flush()


def harmless(text: str) -> str:
    """Give a text with its control and other unprintable characters escaped.

    Line ends and tabs stay; a carriage return before a line end goes.
    """
    return "".join(map(_shown, text.replace("\r\n", "\n")))


def _shown(one: str) -> str:
    if one.isprintable() or one in _KEPT:
        return one
    return one.encode("unicode_escape").decode("ascii")


__all__ = ["Terminal", "harmless"]
