"""What comes back from a sandbox, and the events while it runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import Field

from ..errors import ArtifactRejected
from ..schema import Model
from ._enforcement import Enforcement


class Status(StrEnum):
    """How an execution ended."""

    EXITED = "exited"
    """By itself: see `exit_code`; a signal that did not come from here counts as well."""
    TIMEOUT = "timeout"
    """Killed at its limit of wall-clock time."""
    CPU_TIME = "cpu_time"
    """Killed at its limit of CPU time."""
    OUT_OF_MEMORY = "out_of_memory"
    """Killed at its limit of memory."""
    OUTPUT_LIMIT = "output_limit"
    """Killed because it wrote more than its log may hold."""
    DISK_LIMIT = "disk_limit"
    """Killed because its work folder outgrew its limit of size or of files."""
    CANCELLED = "cancelled"
    """Killed because the caller asked for it."""


class Output(Model):
    """What came out of stdout or stderr."""

    text: str = ""
    """Its beginning and end, as UTF-8; bytes that are none are shown as `\\xNN`."""
    total_bytes: int = 0
    """How much was written in all."""
    truncated: bool = False
    """Whether `text` lacks a part, which is said at its place."""
    log: Path | None = None
    """A file of the raw bytes, up to `Limits.log_mb`; there until the sandbox closes."""
    log_complete: bool = True
    """Whether the file holds all that was written."""


class Usage(Model):
    """What an execution used; None where the machine can't tell."""

    wall_s: float
    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    peak_processes: int | None = None


class Artifact(Model):
    """A regular file from the work folder."""

    path: str
    """Relative to the work folder, in POSIX form."""
    size: int
    sha256: str
    file: Path | None = None
    """The copy on this machine; there until the sandbox closes. Treat it as hostile."""


class Rejected(Model):
    """Something in the work folder that was not taken, and why."""

    path: str
    """Relative to the work folder; what can't be printed is escaped."""
    reason: str


class NetworkRequest(Model):
    """A request of code inside to a model endpoint; never its body, query or key."""

    endpoint: str
    """The endpoint's name."""
    method: str
    """Empty, as `path` is, where the request could not be read."""
    path: str
    """As code inside gave it, cut after 200 characters."""
    status: int | None = None
    """What code inside got, from the endpoint or the proxy; None: nothing."""
    why: str = ""
    """Why the proxy refused it or broke it off; empty: it didn't."""
    request_bytes: int = 0
    reply_bytes: int = 0
    """As they came from the endpoint; 0 where the proxy refused."""
    complete: bool = False
    """Whether the endpoint's reply was passed on to its end."""
    wall_s: float


class ExecResult(Model):
    """One execution: what happened, what came out, and what held it."""

    status: Status
    exit_code: int | None = None
    """None unless it ended by itself. 127: no such command; 128 + N: ended by signal N."""
    signal: int | None = None
    """N where the exit code is 128 + N: a signal, or a program that chose this number."""
    limits_hit: tuple[str, ...] = ()
    """Names of the limits that were met, also those that did not end it (`processes`, `disk`)."""
    stdout: Output = Output()
    stderr: Output = Output()
    usage: Usage
    artifacts: tuple[Artifact, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    artifacts_complete: bool = True
    """Whether all that was there was taken or is named in `rejected`."""
    network: tuple[NetworkRequest, ...] = ()
    """What ended while it ran; executions side by side in one sandbox share what they sent."""
    network_complete: bool = True
    """Whether that is all: a sandbox's log holds its first 10,000 requests."""
    backend: str
    enforced: dict[str, Enforcement] = Field(default_factory=dict)
    """Per aspect: by which mechanism it was contained, and how firmly."""
    policy_hash: str
    """SHA-256 of the policy, the backend and what it enforced."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.status is Status.EXITED and self.exit_code == 0

    def artifact(self, path: str) -> Artifact:
        """Give the artifact of this path.

        Raises:
            ArtifactRejected: it is not there, or was not taken.
        """
        for artifact in self.artifacts:
            if artifact.path == path:
                return artifact
        for rejected in self.rejected:
            if rejected.path == path:
                raise ArtifactRejected(
                    f"the file was not taken: {rejected.reason}", where=f"artifact {path}"
                )
        raise ArtifactRejected(
            "the execution left no such file in its work folder",
            where=f"artifact {path}",
            todo="" if self.artifacts_complete else "Not all files were listed: raise the limits.",
        )


class Started(Model):
    """The first event of an execution: its code runs from now on."""

    kind: Literal["started"] = "started"


class Chunk(Model):
    """Bytes as they came out; those past the log's limit are not sent."""

    kind: Literal["chunk"] = "chunk"
    stream: Literal["stdout", "stderr"]
    data: bytes


class Finished(Model):
    """The last event of an execution."""

    kind: Literal["finished"] = "finished"
    result: ExecResult


Event = Started | Chunk | Finished

__all__ = [
    "Artifact",
    "Chunk",
    "Event",
    "ExecResult",
    "Finished",
    "NetworkRequest",
    "Output",
    "Rejected",
    "Started",
    "Status",
    "Usage",
]
