"""The embedded endpoint: llama.cpp in a child process, OpenAI-compatible, on loopback only.

It needs no server, no GPU and no network. What it proves is that everything works: the model
that it comes with has 135 million parameters and does not judge well.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from ..errors import InputError, MissingExtra, SetupError
from ..schema import ModelIdentity
from ._embedded_install import file_sha256, find_model, install_model

THREADS_VARIABLE = "BASANITE_EMBEDDED_THREADS"

_START_SECONDS = 300.0
_STOP_SECONDS = 5.0
_LOG_LINES = 8
_LOG_PREFIX = re.compile(r"^[\d.]+ [A-Z] ")
"""Time and level, which llama.cpp puts before each line."""
_SPARE_SLOTS = 2


@dataclass(frozen=True, slots=True)
class EmbeddedConfig:
    """What the embedded endpoint loads, and how much of the machine it takes."""

    gguf: Path | None = None
    """Weights; None takes those that `basanite embedded install` fetched."""
    concurrency: int = 2
    """Requests that are answered at once; each takes memory for a context of its own."""
    context_tokens: int = 4096
    """Most tokens of one prompt and its reply."""
    threads: int | None = None
    """None takes `BASANITE_EMBEDDED_THREADS`, or all cores but one. llama.cpp's threads wait for
    each other by spinning: one of them without a core holds up all."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "context_tokens", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}", todo="Give 1 or more.")


class EmbeddedServer:
    """An async context manager: the model is loaded inside of it, and gone after it."""

    def __init__(self, config: EmbeddedConfig | None = None) -> None:
        self._config = config or EmbeddedConfig()
        self._process: asyncio.subprocess.Process | None = None
        self._log: IO[bytes] | None = None
        self._url = ""
        self._identity: ModelIdentity | None = None

    @property
    def url(self) -> str:
        """Base URL, ending in `/v1`."""
        return self._url

    @property
    def identity(self) -> ModelIdentity:
        """The model, by the hash of its weights."""
        if self._identity is None:
            raise RuntimeError("the embedded server is not started")
        return self._identity

    @property
    def pid(self) -> int | None:
        """Process id of the child."""
        return None if self._process is None else self._process.pid

    async def __aenter__(self) -> Self:
        gguf = _weights(self._config.gguf)
        # Hashing and loading at the same time: both read the file once.
        hashing = asyncio.create_task(asyncio.to_thread(file_sha256, gguf))
        try:
            await self._start(gguf)
            properties = await _properties(self._url.removesuffix("/v1"))
            self._identity = _identity(gguf, await hashing, properties)
        except BaseException:
            hashing.cancel()
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stop()

    async def _start(self, gguf: Path) -> None:
        config = self._config
        # -P: a file in the folder that the user is in must not stand in for a module.
        command = [sys.executable, "-P", "-m", "basanite.llm._embedded_child"]
        command += ["--gguf", str(gguf), "--name", gguf.stem]
        command += ["--threads", str(config.threads or _threads())]
        # A slot keeps the prompt that it had last. With two to spare, prompts of different kinds
        # don't push each other out, and their common beginnings are not read again.
        command += ["--slots", str(config.concurrency + _SPARE_SLOTS)]
        command += ["--context-tokens", str(config.context_tokens)]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in _stop
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
            # Ctrl-C goes to the whole group of the terminal: the model must outlive the requests
            # that the run still ends in order.
            start_new_session=True,
        )
        self._url = await self._first_line(gguf)

    async def _first_line(self, gguf: Path) -> str:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_START_SECONDS):
                line = await process.stdout.readline()
        except TimeoutError:
            raise SetupError(
                f"the model was not loaded within {_START_SECONDS:.0f} s", where=str(gguf)
            ) from None
        if line:
            return str(json.loads(line)["url"]) + "/v1"
        code = await process.wait()
        raise SetupError(
            f"llama.cpp could not load the model (exit {code}: {self._last_words()})",
            where=str(gguf),
            todo="Check that the file is whole and fits into memory; `basanite embedded install` "
            "mends the one that it fetched.",
        )

    def _last_words(self) -> str:
        assert self._log is not None
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        words = [_LOG_PREFIX.sub("", line).strip() for line in lines[-_LOG_LINES:]]
        return " | ".join(filter(None, words))

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                async with asyncio.timeout(_STOP_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None


def _weights(given: Path | None) -> Path:
    """Give the weights to load.

    Raises:
        MissingExtra: xllamacpp is not installed.
        SetupError: the embedded model is not.
        InputError: the given file is none, or no GGUF.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra(
            "the embedded endpoint needs xllamacpp", todo="pip install 'basanite[embedded]'"
        )
    if given is None:
        found = find_model()
        if found is None:
            raise SetupError(
                "the embedded model is not installed",
                todo="Run `basanite embedded install`, or give another model with --gguf FILE.",
            )
        return found
    if not given.is_file():
        raise InputError("no such file", where=str(given), todo="Name a GGUF file.")
    with given.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise InputError(
                "this is no GGUF file", where=str(given), todo="Name weights in llama.cpp's format."
            )
    return given


def _threads() -> int:
    named = os.environ.get(THREADS_VARIABLE)
    if named:
        if not named.isdecimal() or int(named) < 1:
            raise InputError(f"{named!r} is no number of threads", where=THREADS_VARIABLE)
        return int(named)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) - 1)


async def _properties(base: str) -> dict[str, object]:
    import httpx2

    async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
        answer = await client.get(f"{base}/props")
    answer.raise_for_status()
    value = answer.json()
    return value if isinstance(value, dict) else {}


def _identity(gguf: Path, sha256: str, properties: dict[str, object]) -> ModelIdentity:
    template = properties.get("chat_template")
    return ModelIdentity(
        name=gguf.stem,
        kind="embedded",
        weights_sha256=sha256,
        chat_template_sha256=hashlib.sha256(str(template).encode()).hexdigest()
        if template
        else "unknown",
        engine=f"xllamacpp {metadata.version('xllamacpp')}",
        dtype=str(properties.get("model_ftype") or "unknown"),
    )


__all__ = ["EmbeddedConfig", "EmbeddedServer", "find_model", "install_model"]
