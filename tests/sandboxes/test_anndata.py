"""Summaries of h5ad files: what is read, and what a hostile file can't do with it."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from basanite.errors import InputError
from basanite.sandboxes import AnnDataSummary, ReadLimits, summarise_anndata
from basanite.sandboxes._anndata_summary import shown

if TYPE_CHECKING:
    import h5py

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("anndata") is None, reason="scanpy is missing"),
    pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux"),
]


def pbmc68k() -> Path:
    """The file in scanpy's wheel, in anndata's format of before 0.7."""
    spec = importlib.util.find_spec("scanpy")
    if spec is None or spec.origin is None:
        pytest.skip("scanpy is missing")
    return Path(spec.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"


def new_format(path: Path) -> Path:
    """A file as anndata writes it today, with every kind of column."""
    import anndata
    import numpy as np
    import pandas as pd
    from scipy import sparse

    counts = sparse.csr_matrix(np.array([[0, 2, 0], [1, 0, 0], [0, 0, 7], [0, 0, 0]], np.float32))
    obs = pd.DataFrame(
        {
            "type": pd.Categorical(["b", "t", None, "b"], categories=["b", "t", "unused"]),
            "score": [0.5, np.nan, np.inf, -1.0],
            "kept": [True, False, True, True],
            "batch": pd.array([1, None, 3, 4], dtype="Int64"),
            "note": ["x", "y\nz", "\x1b[31mred", "\u202eback"],
        },
        index=["c1", "c2", "c3", "c4"],
    )
    data = anndata.AnnData(X=counts, obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"]))
    data.layers["counts"] = counts.copy()
    data.obsm["X_pca"] = np.zeros((4, 2))
    data.obsp["near"] = sparse.csr_matrix((4, 4))
    data.uns["deep"] = {"a": {"b": {"c": {"d": {"e": 1}}}}, "text": "value"}
    data.raw = data
    data.write_h5ad(path)
    return path


async def test_the_file_that_scanpy_ships() -> None:
    summary = await summarise_anndata(pbmc68k())
    assert (summary.n_obs, summary.n_vars) == (700, 765)
    columns = {column.name: column for column in summary.obs.columns}
    labels = columns["bulk_labels"]
    assert labels.n_unique == 10
    assert dict(labels.categories)["CD34+"] == 13
    assert sum(count for _, count in labels.categories) == 700
    assert (columns["n_genes"].low, columns["n_genes"].high) == (1001, 2605)
    assert columns["louvain"].n_unique == 11
    assert {array.name: array.shape for array in summary.obsm} == {
        "X_pca": (700, 50),
        "X_umap": (700, 2),
    }
    raw = summary.raw
    assert raw is not None
    assert raw.x.storage == "csr"
    assert raw.x.low == 0
    assert raw.x.nonzero == pytest.approx(174_400 / (700 * 765))
    assert raw.x.integers is False
    assert {"rank_genes_groups", "neighbors", "pca"} <= {key.name for key in summary.uns}
    text = summary.to_text()
    assert text.startswith("AnnData: 700 cells (obs) x 765 genes (var)\n")
    assert "CD56+ NK (31)" in text


async def test_the_format_of_today(tmp_path: Path) -> None:
    summary = await summarise_anndata(new_format(tmp_path / "new.h5ad"))
    assert (summary.n_obs, summary.n_vars) == (4, 3)
    assert summary.obs.index == ("c1", "c2", "c3")
    found = {column.name: column for column in summary.obs.columns}
    assert found["type"].categories == (("b", 2), ("t", 1))
    assert (found["type"].n_unique, found["type"].missing) == (3, 1)
    assert (found["score"].low, found["score"].high, found["score"].missing) == (-1.0, 0.5, 1)
    assert (found["kept"].kind, found["kept"].n_true) == ("boolean", 3)
    assert (found["batch"].low, found["batch"].high, found["batch"].missing) == (1, 4, 1)
    assert (found["note"].kind, found["note"].n_unique) == ("text", 4)
    assert summary.x is not None
    assert (summary.x.storage, summary.x.shape, summary.x.integers) == ("csr", (4, 3), True)
    assert (summary.x.low, summary.x.high, summary.x.nonzero) == (0, 7, 0.25)
    assert [array.name for array in summary.layers] == ["counts"]
    assert [(array.name, array.storage) for array in summary.obsp] == [("near", "csr")]
    assert summary.raw is not None
    assert summary.raw.x.high == 7


async def test_names_are_escaped_and_cut(tmp_path: Path) -> None:
    text = (await summarise_anndata(new_format(tmp_path / "new.h5ad"))).to_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"y\nz" in text
    assert all(len(line) < 600 for line in text.splitlines())
    assert shown("a\x00b\u2066\\") == r"a\x00b\u2066\\"
    assert shown("x" * 100) == "x" * 79 + "…"


async def test_a_text_for_a_prompt_has_its_length(tmp_path: Path) -> None:
    summary = await summarise_anndata(pbmc68k())
    short = summary.to_text(max_chars=500)
    assert len(short) <= 500
    assert short.splitlines()[-1].endswith("more lines")


async def hostile(path: Path, change: Callable[[h5py.File], None]) -> AnnDataSummary:
    import h5py

    new_format(path)
    with h5py.File(path, "r+") as file:
        change(file)
    return await summarise_anndata(path, limits=ReadLimits(wall_s=60, memory_mb=1024))


async def test_data_of_other_files_is_not_read(tmp_path: Path) -> None:
    import h5py

    secret = tmp_path / "secret"
    secret.write_bytes(b"\x07" * 64)

    def change(file: h5py.File) -> None:
        external = [(str(secret), 0, 64)]
        file["obs"].create_dataset("leak", (4,), "i1", external=external)
        other = tmp_path / "other.h5"
        with h5py.File(other, "w") as elsewhere:
            elsewhere["data"] = [7, 7, 7, 7]
        layout = h5py.VirtualLayout((4,), "i8")
        layout[:] = h5py.VirtualSource(str(other), "data", shape=(4,))
        file["obs"].create_virtual_dataset("virtual", layout)
        file["obs"].attrs["column-order"] = ["leak", "virtual", "linked", "kept"]
        file["obs"]["linked"] = h5py.ExternalLink(str(other), "data")
        file["uns"]["out"] = h5py.ExternalLink(str(other), "data")

    summary = await hostile(tmp_path / "new.h5ad", change)
    assert [(one.name, one.kind) for one in summary.obs.columns] == [
        ("leak", "unread"),
        ("virtual", "unread"),
        ("linked", "unread"),
        ("kept", "boolean"),
    ]
    assert {key.name: key.kind for key in summary.uns}["out"] == "elsewhere"


async def test_a_matrix_that_claims_to_be_huge_is_read_in_part(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        del file["X"]
        chunks = (1000, 1000)
        file.create_dataset("X", (10**9, 10**6), "f4", chunks=chunks, compression="gzip")

    began = time.monotonic()
    summary = await hostile(tmp_path / "new.h5ad", change)
    assert summary.x is not None
    assert summary.x.shape == (10**9, 10**6)
    assert summary.x.scanned < 1e-6
    assert "seen from the first" in summary.to_text()
    assert time.monotonic() - began < 30


async def test_a_chunk_that_no_memory_holds_is_not_read(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        del file["X"]
        file.create_dataset("X", (4, 10**9), "f4", chunks=(1, 10**9), compression="gzip")

    summary = await hostile(tmp_path / "new.h5ad", change)
    assert summary.x is not None
    assert summary.x.integers is None
    assert "values not looked at" in summary.to_text()


async def test_groups_that_hold_themselves_end(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        uns = file["uns"]
        for number in range(80):
            uns[f"loop{number}"] = uns

    summary = await hostile(tmp_path / "new.h5ad", change)

    def count(keys: tuple[Any, ...]) -> int:
        return sum(1 + count(key.members) for key in keys)

    assert 80 < count(summary.uns) <= 500


async def test_many_columns_and_long_names_are_capped(tmp_path: Path) -> None:
    def change(file: h5py.File) -> None:
        obs = file["obs"]
        for number in range(300):
            obs["n" * 1000 + str(number)] = [1, 2, 3, 4]
        del obs.attrs["column-order"]

    summary = await hostile(tmp_path / "new.h5ad", change)
    assert len(summary.obs.columns) == 200
    assert all(len(column.name) <= 200 for column in summary.obs.columns)


@pytest.mark.parametrize("content", [b"", b"no HDF5", b"\x89HDF\r\n\x1a\n" + b"\0" * 64])
async def test_a_file_of_another_kind_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.h5ad"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"data\.h5ad: the file can't be read: it raised OSError"):
        await summarise_anndata(path)


async def test_a_cut_or_damaged_file_is_refused_or_read(tmp_path: Path) -> None:
    whole = new_format(tmp_path / "new.h5ad").read_bytes()
    path = tmp_path / "cut.h5ad"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"cut\.h5ad"):
        await summarise_anndata(path)


async def test_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        await summarise_anndata(tmp_path / "none.h5ad")


@pytest.mark.parametrize("text", ["", "{}", "not JSON", '{"n_obs": -1}', "[" * 100_000])
def test_what_a_sandbox_prints_is_checked(text: str) -> None:
    with pytest.raises(InputError, match=r"data\.h5ad: what was read of the file is no summary"):
        AnnDataSummary.from_json(text, where="data.h5ad")


async def test_reading_loads_no_h5py_here() -> None:
    loaded = "h5py" in sys.modules
    await summarise_anndata(pbmc68k())
    assert loaded or "h5py" not in sys.modules
