"""What comes back from a cell of a kernel."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict

from ..schema import Model
from ._result import Chunk, Output, Status


class CellStatus(StrEnum):
    """How a cell ended."""

    OK = "ok"
    """By itself."""
    ERROR = "error"
    """By an exception: see `error`."""
    TIMEOUT = "timeout"
    """Interrupted at its limit of time."""
    INTERRUPTED = "interrupted"
    """Interrupted because the caller asked for it."""
    OUTPUT_LIMIT = "output_limit"
    """Interrupted because it wrote more than `Limits.log_mb`."""
    KERNEL_DIED = "kernel_died"
    """The kernel ended: see `death`."""


class CellError(Model):
    """The exception that ended a cell, as the kernel says."""

    name: str
    value: str
    traceback: str = ""


class RichOutput(Model):
    """A result or a figure, in the formats in which the code gave it. Treat it as hostile."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    kind: Literal["display", "result"]
    data: dict[str, str | bytes]
    """By MIME type: bytes for images, sound, films and PDF; text for all else, JSON included."""

    @property
    def text(self) -> str:
        """Its plain text; empty where it has none."""
        plain = self.data.get("text/plain", "")
        return plain if isinstance(plain, str) else ""


class Shown(Model):
    """An event: a rich output, as it came."""

    kind: Literal["shown"] = "shown"
    output: RichOutput


CellEvent = Chunk | Shown


class CellResult(Model):
    """One cell. All but `wall_s`, `alive` and `death` is what code inside says of itself.

    A kernel's messages are written by the process in which the code runs, so code can forge
    them: the end of its own cell, another's error or output. They are fit for an agent to read
    and never for a score.
    """

    status: CellStatus
    stdout: Output = Output()
    stderr: Output = Output()
    outputs: tuple[RichOutput, ...] = ()
    outputs_left_out: int = 0
    """Rich outputs and messages that were too many, too large, or not readable."""
    error: CellError | None = None
    execution_count: int | None = None
    wall_s: float
    alive: bool
    """Whether the kernel takes another cell; if not, `restart` gives a new one."""
    death: Status | None = None
    """How the kernel's process ended, if it did."""
    exit_code: int | None = None
    """The kernel's, where it ended by itself."""
    limits_hit: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it ended by itself and without an exception."""
        return self.status is CellStatus.OK


__all__ = ["CellError", "CellEvent", "CellResult", "CellStatus", "RichOutput", "Shown"]
