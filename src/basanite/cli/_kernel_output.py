"""Show what cells give: text as it comes, figures as files, and what ended a cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ._console import stderr
from ._terminal import Terminal

if TYPE_CHECKING:
    from ..sandboxes import CellEvent, CellResult, RichOutput

_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
}


class Shower:
    """Writes to this command's output.

    Args:
        figures: the folder for images and PDF files, made with the first one. Their bytes are
            written as they came; nothing that lies there is written over.
    """

    def __init__(self, figures: Path) -> None:
        self._streams = {
            "stdout": Terminal(sys.stdout.buffer),
            "stderr": Terminal(sys.stderr.buffer),
        }
        self._figures = figures
        self._number = 0

    def event(self, event: CellEvent) -> None:
        """Show a piece of output."""
        if event.kind == "chunk":
            self._streams[event.stream].write(event.data)
            return
        if event.output.text:
            self._streams["stdout"].write(f"{event.output.text}\n".encode())
        for path in self._saved(event.output):
            note(f"figure: {path}")

    def _saved(self, output: RichOutput) -> Iterator[str]:
        for mime, ending in _ENDINGS.items():
            data = output.data.get(mime)
            if data is None:
                continue
            content = data if isinstance(data, bytes) else data.encode()
            try:
                yield str(self._write(content, ending))
            except OSError as error:
                yield f"can't be saved in {self._figures} ({error.strerror})"

    def _write(self, content: bytes, ending: str) -> Path:
        self._figures.mkdir(parents=True, exist_ok=True)
        while True:
            self._number += 1
            path = self._figures / f"figure-{self._number:03d}.{ending}"
            try:
                with path.open("xb") as file:
                    file.write(content)
            except FileExistsError:
                continue
            return path

    def end(self, result: CellResult) -> None:
        """Show how a cell ended, where it was not as it should."""
        error = result.error
        if error is not None and result.status == "error":
            text = error.traceback or f"{error.name}: {error.value}"
            self._streams["stderr"].write(f"{text}\n".encode())
        for line in _notes(result):
            note(line)

    def close(self) -> None:
        """Write what was held back."""
        for stream in self._streams.values():
            stream.close()


def note(text: str) -> None:
    """Say something of our own, on stderr."""
    stderr.print(f"basanite: {text}", markup=False)


def _notes(result: CellResult) -> Iterator[str]:
    reasons = {
        "timeout": "the cell was stopped at its limit of time (--timeout)",
        "interrupted": "the cell was interrupted",
        "output_limit": "the cell was stopped: it wrote more than is kept",
    }
    if result.status in reasons:
        yield reasons[result.status]
    if result.outputs_left_out:
        yield f"{result.outputs_left_out} outputs were left out: too many, or too large"
    if not result.alive:
        how = "unknown" if result.death is None else result.death.value
        code = "" if result.exit_code is None else f" with exit code {result.exit_code}"
        yield f"the kernel ended ({how}{code}); another starts, and what was defined is gone"


__all__ = ["Shower", "note"]
