"""The scanpy profile: its workflow, and ten published-in-the-data findings, outside and inside.

Expected numbers were computed from `pbmc68k_reduced` once by other code, and are given to the
digits that were written down.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from basanite.errors import InputError, SandboxUnavailable
from basanite.sandboxes import (
    Limits,
    Mount,
    Profile,
    SandboxSpec,
    run_sandboxed,
    summarise_anndata,
    summarise_anndata_sandboxed,
)
from support.sandboxing import profile_or_skip

SCRIPTS = Path(str(files("basanite.sandboxes") / "profiles" / "scanpy"))

EXPECTED: dict[str, dict[str, Any]] = {
    "b_cells_cd79a": {
        "n": 95, "n_rest": 605,
        "CD79A": {"mean": "3.148", "mean_rest": "0.108", "detected": "0.989",
                  "detected_rest": "0.060", "log2fc": "5.96", "auc": "0.989", "p": "2.43e-113"},
    },
    "b_cells_ms4a1": {
        "MS4A1": {"mean": "1.492", "mean_rest": "0.029", "detected": "0.642",
                  "detected_rest": "0.017", "log2fc": "6.20", "auc": "0.816", "p": "1.06e-79"},
        "cd79a_cd79b_pearson": "0.640",
    },
    "nk_granules": {
        "n": 31, "n_rest": 669,
        "GNLY": {"mean": "4.308", "mean_rest": "0.504", "detected": "1.000",
                 "detected_rest": "0.221", "auc": "0.981", "p": "3.38e-32"},
        "GZMB": {"log2fc": "4.94", "auc": "0.949", "p": "5.73e-48"},
    },
    "cytotoxic_nkg7": {
        "n": 85, "n_rest": 615,
        "NKG7": {"mean": "3.379", "mean_rest": "0.394", "detected": "0.953",
                 "detected_rest": "0.207", "log2fc": "4.47", "auc": "0.953", "p": "3.03e-63"},
    },
    "t_cells_cd3d": {
        "n": 192, "n_rest": 508,
        "CD3D": {"mean": "2.485", "mean_rest": "0.333", "detected": "0.974",
                 "detected_rest": "0.197", "auc": "0.958", "p": "7.16e-98"},
        "cd3d_lyz_spearman": "-0.545",
    },
    "naive_cytotoxic_cd8b": {
        "n": 43,
        "CD8B": {"mean": "1.305", "mean_rest": "0.140", "detected": "0.698",
                 "detected_rest": "0.082", "log2fc": "3.29", "auc": "0.814", "p": "2.00e-34"},
    },
    "dendritic_markers": {
        "n": 240, "n_rest": 460,
        "FCER1A": {"mean": "1.892", "mean_rest": "0.052", "log2fc": "5.89", "p": "2.27e-70"},
        "CST3": {"detected": "1.000", "detected_rest": "0.341", "auc": "0.951"},
        "LYZ": {"auc": "0.952", "p": "7.82e-95"},
    },
    "monocyte_label_is_cd16": {
        "n": 129, "n_rest": 571,
        "FCGR3A": {"mean": "3.118", "mean_rest": "0.425", "detected": "0.961",
                   "detected_rest": "0.165", "auc": "0.936", "p": "2.07e-79"},
        "LST1": {"auc": "0.942"},
        "LYZ": {"log2fc": "-0.95", "auc": "0.630"},
    },
    "antigen_presentation": {
        "n": 464, "n_rest": 236,
        "HLA-DRA": {"mean": "3.970", "mean_rest": "0.707", "detected": "0.978",
                    "detected_rest": "0.314", "auc": "0.955", "p": "1.12e-87"},
    },
    "progenitors": {
        "n": 13, "n_rest": 687,
        "SPINK2": {"log2fc": "7.17", "detected": "0.692", "detected_rest": "0.012",
                   "p": "8.37e-57"},
        "n_counts_median": "4341", "n_counts_median_rest": "3327", "n_counts_p": "1.04e-4",
        "in_louvain_10": 13,
    },
}  # fmt: skip

MORE: dict[str, dict[str, Any]] = {
    "nk_cycling": {"count": 20, "count_rest": 179, "odds_ratio": "4.98", "p": "2.0e-5"},
    "myeloid_cycling": {"count": 64, "count_rest": 135, "odds_ratio": "0.305", "p": "6.7e-12"},
    "counts_genes": {"spearman": "0.822", "p": "1.5e-172"},
    "mito_by_label": {"kruskal_h": "49.19", "p": "1.53e-07"},
}

UNTRUE: dict[str, dict[str, Any]] = {
    "cd8a_marks_nk": {"p": "0.853"},
    "progenitors_cycle": {"odds_ratio": "3.01", "p": "0.058"},
    "genes_not_measured": {"PPBP": True, "CD14": True, "CD34": True},
}


@pytest.fixture(scope="module")
def profile() -> Profile:
    return profile_or_skip("scanpy")


@pytest.fixture(scope="module")
def outside(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables for the profile's own interpreter, with a copy of its caches, as inside."""
    caches = tmp_path_factory.mktemp("caches") / "copy"
    shutil.copytree(profile.caches, caches)
    return profile.variables(PurePosixPath(caches))


def run_outside(profile: Profile, variables: dict[str, str], *arguments: str | Path) -> str:
    command = [str(profile.prefix / "bin" / "python"), "-I", *map(str, arguments)]
    done = subprocess.run(
        command,
        env={"HOME": os.environ.get("HOME", "/"), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def inside(profile: Profile, *arguments: str) -> SandboxSpec:
    """The specification of a script of the profile, run as an agent would."""
    scripts = Mount(source=SCRIPTS, target=PurePosixPath("/scripts"))
    spec = SandboxSpec(
        command=("python", *arguments),
        mounts=(scripts,),
        limits=Limits(wall_s=300, memory_mb=2048, processes=64),
    )
    return profile.apply(spec)


def agrees(found: object, written: object) -> bool:
    """Whether a number is the one written down, rounded as that one is."""
    if not isinstance(written, str):
        return found == written
    assert isinstance(found, int | float)
    digits, _, power = written.partition("e")
    scale = 10.0 ** int(power or 0)
    places = len(digits.partition(".")[2])
    unit = 0.5 * 10.0**-places * scale
    return math.isclose(found, float(written), rel_tol=0, abs_tol=unit * 1.000001)


def differences(found: dict[str, Any], expected: dict[str, Any], where: str = "") -> list[str]:
    wrong = []
    for key, value in expected.items():
        place = f"{where}/{key}"
        if isinstance(value, dict):
            wrong += differences(found[key], value, place)
        elif not agrees(found[key], value):
            wrong.append(f"{place}: {found[key]} is not {value}")
    return wrong


def check_findings(found: dict[str, Any]) -> None:
    assert len(found["findings"]) == 10
    assert not differences(found["findings"], EXPECTED)
    assert not differences(found["more"], MORE)
    assert not differences(found["untrue"], UNTRUE)


def check_clusters(found: dict[str, Any]) -> None:
    """What holds of the clusters; their sizes may move with the versions of packages."""
    assert sum(found["sizes"].values()) == 700
    assert 6 <= len(found["sizes"]) <= 10
    assert 0.49 < found["ari"] < 0.55
    assert 0.64 < found["nmi"] < 0.70
    markers = [set(genes) for genes in found["markers"].values()]
    for some in ({"FTL", "FCGR3A"}, {"NKG7", "GNLY"}, {"CD79A", "MS4A1"}, {"FCER1A", "LYZ"}):
        assert any(some <= genes for genes in markers), some


def test_rounding_is_as_written_down() -> None:
    assert agrees(2.4300709e-113, "2.43e-113")
    assert not agrees(2.44e-113, "2.43e-113")
    assert agrees(0.8163, "0.816")
    assert not agrees(0.8166, "0.816")
    assert not agrees(12, 13)


def test_ten_findings_outside(profile: Profile, outside: dict[str, str]) -> None:
    check_findings(json.loads(run_outside(profile, outside, SCRIPTS / "findings.py")))


@pytest.mark.usefixtures("needs_bubblewrap")
async def test_ten_findings_inside(profile: Profile, outside: dict[str, str]) -> None:
    result = await run_sandboxed(inside(profile, "/scripts/findings.py"))
    assert result.ok, result.stderr.text[-2000:]
    found = json.loads(result.stdout.text)
    check_findings(found)
    assert found == json.loads(run_outside(profile, outside, SCRIPTS / "findings.py"))


@pytest.mark.usefixtures("needs_bubblewrap")
async def test_the_workflow_inside_is_as_outside(
    profile: Profile,
    outside: dict[str, str],
    tmp_path: Path,
) -> None:
    text = run_outside(profile, outside, SCRIPTS / "workflow.py", tmp_path)
    expected = json.loads(text)
    check_clusters(expected)
    shell = 'python /scripts/workflow.py /work/out && find "$NUMBA_CACHE_DIR" -type f | wc -l >&2'
    spec = inside(profile).model_copy(update={"command": ("sh", "-c", shell)})
    result = await run_sandboxed(spec)
    assert result.ok, result.stderr.text[-2000:]
    found = json.loads(result.stdout.text)
    for one in (expected, found):
        one.pop("seconds")
    assert found == expected
    # What numba has to compile it adds to its cache: nothing was missing, nothing out of date.
    compiled = sum(path.is_file() for path in (profile.caches / "numba").rglob("*"))
    assert int(result.stderr.text.split()[-1]) == compiled > 10
    names = {artifact.path for artifact in result.artifacts}
    figures = {"out/umap.png", "out/markers.png", "out/pca.png"}
    assert names == {"out/clusters.json", "out/processed.h5ad", *figures}
    for figure in figures:
        assert result.artifact(figure).size > 5000


@pytest.mark.usefixtures("needs_bubblewrap")
async def test_a_summary_read_in_a_sandbox_is_the_same(profile: Profile) -> None:
    site = next((profile.prefix / "lib").glob("python3.*/site-packages"))
    path = site / "scanpy" / "datasets" / "10x_pbmc68k_reduced.h5ad"
    assert await summarise_anndata_sandboxed(path, profile) == await summarise_anndata(path)


@pytest.mark.usefixtures("needs_bubblewrap")
async def test_python_inside_is_the_profiles(profile: Profile) -> None:
    code = "import numba, os, sys; print(sys.prefix, os.listdir(os.environ['NUMBA_CACHE_DIR'])[:1])"
    spec = profile.apply(SandboxSpec(code=code))
    result = await run_sandboxed(spec)
    assert result.ok, result.stderr.text
    prefix, _, listed = result.stdout.text.strip().partition(" ")
    assert prefix == str(profile.prefix)
    assert len(listed) > 4


async def test_no_sandbox_is_no_plain_process(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "data.h5ad"
    path.write_bytes(b"no HDF5")
    with pytest.raises((SandboxUnavailable, InputError)) as caught:
        await summarise_anndata_sandboxed(path, profile)
    if isinstance(caught.value, InputError):
        assert "its reader ended with exit code 1: OSError" in str(caught.value)
