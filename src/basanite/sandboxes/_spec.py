"""What a sandbox is asked for: what goes in, what may be reached, how much may be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from ..errors import PolicyError
from ..schema import Model

MIB = 1024 * 1024
_DAY = 86_400.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENDPOINT_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ENDPOINT_URL = re.compile(
    r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?"
)
_KEY = re.compile(r"[!-~]*")
_ALLOWED = re.compile(r"(GET|POST) /[A-Za-z0-9._~!$&'()+,;=:@/-]*\*?")
ASKING = (
    "GET /models",
    "GET /models/*",
    "POST /chat/completions",
    "POST /completions",
    "POST /embeddings",
)
LEAST_KEY = 8
"""A shorter key is a placeholder ("none", "EMPTY"): the word may stand anywhere."""

Positive = Annotated[int, Field(gt=0)]


class Floor(StrEnum):
    """A guarantee that a sandbox must give, or it is not opened."""

    STRICT_LIMITS = "strict_limits"
    """Each limit is enforced by the kernel, none by a watchdog that polls."""
    OWN_KERNEL = "own_kernel"
    """The code inside does not talk to the host's kernel (gVisor, a virtual machine)."""


class Limits(Model):
    """How much one execution may use. A limit that is hit is a result, not an error.

    Sizes are in MB of 2**20 bytes.
    """

    wall_s: float = Field(default=600.0, gt=0, le=30 * _DAY)
    """Seconds until everything inside is killed; days are fine."""
    cpu_s: float | None = Field(default=None, gt=0, le=3000 * _DAY)
    """Seconds of CPU time of all processes together; None: only `wall_s` counts."""
    cpus: float | None = Field(default=None, ge=0.01, le=4096)
    """How many cores may be busy at a time; None: all."""
    memory_mb: Positive = 2048
    """Memory of all processes together; what lies in /tmp and a work folder in memory counts."""
    processes: Positive = 256
    """Processes and threads at a time."""
    disk_mb: Positive = 512
    """All files in the work folder together."""
    inodes: Positive = 100_000
    """Number of files and folders in the work folder."""
    file_mb: Positive | None = None
    """The largest single file; None: as much as `disk_mb`."""
    tmp_mb: Positive = 64
    """/tmp, which is in memory and not kept; /dev/shm has as much."""
    open_files: Positive = 1024
    """File descriptors of one process."""
    output_bytes: Positive = 1_000_000
    """How much of each of stdout and stderr a result holds: its beginning and its end."""
    log_mb: Positive = 64
    """How much of each of stdout and stderr is kept in a file."""
    on_output_limit: Literal["truncate", "kill"] = "truncate"
    """What happens to a process that writes more than `log_mb`."""
    artifacts: Positive = 1000
    """Number of files that are taken out of the work folder."""
    artifacts_mb: Positive = 256
    """Size of all files that are taken out of the work folder."""


class Mount(Model):
    """A file or folder of this machine, seen inside, never writable there."""

    source: Path
    """An absolute path on this machine."""
    target: PurePosixPath
    """An absolute path inside."""
    kind: Literal["input", "cache", "environment"] = "input"
    """What it is for: the task's data, a cache of models, or an environment of programs."""

    @model_validator(mode="after")
    def _absolute(self) -> Self:
        if not self.source.is_absolute():
            raise ValueError(f"source {str(self.source)!r} is not an absolute path")
        if not self.target.is_absolute() or ".." in self.target.parts:
            raise ValueError(f"target {str(self.target)!r} must be absolute, without '..'")
        for taken in _TAKEN:
            if self.target == taken or taken in self.target.parents:
                raise ValueError(f"target {str(self.target)!r} lies in {taken}, which is made anew")
        if self.target in _ROOTS:
            raise ValueError(f"target {str(self.target)!r} would hide what the system needs")
        return self


_TAKEN = tuple(map(PurePosixPath, ("/proc", "/sys", "/dev", "/run", "/etc")))
_ROOTS = frozenset(
    map(PurePosixPath, ("/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/tmp", "/work"))
)


class ModelEndpoint(Model):
    """A model server that code inside may reach, through a proxy that holds its key."""

    name: str
    """Lower-case letters, digits and `_`. Inside, `BASANITE_ENDPOINT_<NAME>` holds the URL."""
    url: str
    """The server's address, for example `http://127.0.0.1:8000/v1`."""
    api_key: str | None = Field(default=None, repr=False, exclude=True)
    """Sent by the proxy as a bearer token; never seen inside, nor written to a result."""
    allow: tuple[str, ...] = ASKING
    """What may be asked, as `METHOD /PATH` below the URL; `*` at a path's end stands for any rest.

    By default models can be asked and listed, and no more: with the key come files, stored
    replies and training jobs of its account, or a server's own administration.
    """

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not _ENDPOINT_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name: use lower-case letters, digits and _")
        return name

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        if not _ENDPOINT_URL.fullmatch(url) or not {".", ".."}.isdisjoint(url.split("/")):
            # A user, a password or a query may hold a secret: the text does not repeat them.
            raise ValueError("no address: give http://HOST:PORT/PATH, and a key by `api_key`")
        return url.rstrip("/")

    @field_validator("allow")
    @classmethod
    def _known(cls, allow: tuple[str, ...]) -> tuple[str, ...]:
        for entry in allow:
            if not _ALLOWED.fullmatch(entry):
                raise ValueError(f"{entry!r} is not `GET /PATH` or `POST /PATH`")
        return allow

    @field_validator("api_key")
    @classmethod
    def _sendable(cls, api_key: str | None) -> str | None:
        if api_key is not None and not _KEY.fullmatch(api_key):
            # Not a ValueError: pydantic's text for that repeats the value.
            raise PolicyError(
                "`api_key` holds a blank, or what is not ASCII",
                where="network",
                todo="Look for a line end or quotation marks that came with it.",
            )
        return api_key


class Network(Model):
    """What code inside can reach. The default is nothing, not even this machine.

    The numbers hold for all endpoints of a sandbox together. Sizes are those of bodies, in MB
    of 2**20 bytes.
    """

    endpoints: tuple[ModelEndpoint, ...] = Field(default=(), max_length=64)
    requests: Positive | None = None
    """How many requests are passed on in all; None: any number."""
    traffic_mb: Positive | None = None
    """How much is sent and received in all; None: any amount."""
    request_s: float = Field(default=600.0, gt=0, le=_DAY)
    """Seconds that one request may take, to the end of its reply."""
    request_mb: Positive = 32
    """The largest body of one request."""
    reply_mb: Positive = 64
    """The largest body of one reply."""
    connections: Positive = Field(default=64, le=1024)
    """Connections served at a time; others wait."""

    @field_validator("endpoints")
    @classmethod
    def _distinct(cls, endpoints: tuple[ModelEndpoint, ...]) -> tuple[ModelEndpoint, ...]:
        names = [endpoint.name for endpoint in endpoints]
        if len(set(names)) < len(names):
            raise ValueError(f"two endpoints have the same name: {', '.join(sorted(names))}")
        return endpoints


class SandboxSpec(Model):
    """All that decides what may happen in a sandbox.

    `command` or `code` is what `run()` runs; a sandbox that is opened can run others, under
    the same policy.
    """

    command: tuple[str, ...] | None = None
    """A program of the sandbox and its arguments."""
    code: str | None = None
    """Python source, run by `python`."""
    python: str = "/usr/bin/python3"
    """The interpreter for `code`, as a path inside."""
    mounts: tuple[Mount, ...] = ()
    workdir: Literal["memory", "disk"] = "memory"
    """Where /work lies. In memory its limits are exact; on disk it can be large."""
    environment: dict[str, str] = Field(default_factory=dict)
    """All variables that the code sees, beside HOME, PATH, LANG, TMPDIR and USER."""
    gpus: tuple[int, ...] = ()
    """Indices of the NVIDIA devices that are seen inside."""
    limits: Limits = Limits()
    network: Network = Network()
    floor: frozenset[Floor] = frozenset()
    """Guarantees without which the sandbox is not opened."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.command is not None and self.code is not None:
            raise ValueError("give `command` or `code`, not both")
        if self.command is not None and not self.command:
            raise ValueError("`command` is empty")
        for text in (*(self.command or ()), *self.environment.values(), self.python):
            if "\0" in text:
                raise ValueError("a NUL byte in a command or a variable")
        for name in self.environment:
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a variable")
        given = (*(self.command or ()), self.code or "", *self.environment.values())
        for endpoint in self.network.endpoints:
            key = endpoint.api_key or ""
            if len(key) >= LEAST_KEY and any(key in text for text in given):
                raise PolicyError(
                    f"the key of the endpoint {endpoint.name!r} would be seen inside",
                    where="sandbox",
                    todo="Take it out of the command, the code and the variables: the proxy "
                    "sends it.",
                )
        targets = [mount.target for mount in self.mounts]
        for target in targets:
            if targets.count(target) > 1:
                raise ValueError(f"two mounts have the target {target}")
        return self

    @classmethod
    def create(cls, **fields: object) -> SandboxSpec:
        """Make a specification from plain values.

        Raises:
            PolicyError: says which field is wrong and why.
        """
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise PolicyError("; ".join(_reasons(error)), where="sandbox") from None

    def checked(self) -> Self:
        """Give the specification back once its mounts are there.

        Raises:
            PolicyError: a mount's source is missing.
        """
        for mount in self.mounts:
            if not mount.source.exists():
                raise PolicyError(
                    "the source of a mount does not exist",
                    where=str(mount.source),
                    todo="Check the path, and that this user may read it.",
                )
        return self


def _reasons(error: ValidationError) -> Iterator[str]:
    for one in error.errors(include_url=False):
        where = ".".join(map(str, one["loc"]))
        message = one["msg"].removeprefix("Value error, ")
        yield f"{where}: {message}" if where else message


__all__ = [
    "LEAST_KEY",
    "MIB",
    "Floor",
    "Limits",
    "ModelEndpoint",
    "Mount",
    "Network",
    "SandboxSpec",
]
