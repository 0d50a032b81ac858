"""Ten findings on `pbmc68k_reduced` that rest on fixed labels, computed from the data.

    python findings.py [INPUT.h5ad]

Prints one JSON object: per finding its numbers, and claims that are not true of the data, for
tests of false positives. Every comparison is one group of cells against all others, on log1p
values in float64 (in float32 SciPy's tail probability comes out as 0), by a two-sided Mann-Whitney
test. `log2fc` is of the means of expm1 of the values, and `auc` the share of pairs of a cell of the
group and a cell of the rest in which the former has the higher value, ties counting a half.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anndata
import numpy as np
import scanpy as sc
from scipy import stats

B, NK = ("CD19+ B",), ("CD56+ NK",)
CYTOTOXIC = ("CD8+ Cytotoxic T",)
NAIVE_CYTOTOXIC = ("CD8+/CD45RA+ Naive Cytotoxic",)
DENDRITIC, MONOCYTE, PROGENITOR = ("Dendritic",), ("CD14+ Monocyte",), ("CD34+",)
T = (
    *CYTOTOXIC,
    *NAIVE_CYTOTOXIC,
    "CD4+/CD25 T Reg",
    "CD4+/CD45RA+/CD25- Naive T",
    "CD4+/CD45RO+ Memory",
)
MYELOID = (*DENDRITIC, *MONOCYTE)

FINDINGS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("b_cells_cd79a", B, ("CD79A",)),
    ("b_cells_ms4a1", B, ("MS4A1",)),
    ("nk_granules", NK, ("GNLY", "GZMB")),
    ("cytotoxic_nkg7", (*NK, *CYTOTOXIC), ("NKG7",)),
    ("t_cells_cd3d", T, ("CD3D",)),
    ("naive_cytotoxic_cd8b", NAIVE_CYTOTOXIC, ("CD8B",)),
    ("dendritic_markers", DENDRITIC, ("FCER1A", "CST3", "LYZ")),
    ("monocyte_label_is_cd16", MONOCYTE, ("FCGR3A", "LST1", "LYZ")),
    ("antigen_presentation", (*B, *MYELOID), ("HLA-DRA",)),
    ("progenitors", PROGENITOR, ("SPINK2",)),
)
"""Name, the labels that make up the group, the genes that are compared."""


class Cells:
    """The labels, and the values of each gene by name."""

    def __init__(self, data: anndata.AnnData) -> None:
        self.obs = data.obs
        self.labels = data.obs["bulk_labels"].astype(str).to_numpy()
        self.raw = data.raw.to_adata()

    def group(self, labels: tuple[str, ...]) -> np.ndarray:
        """Give a mask of the cells that carry one of the labels."""
        return np.isin(self.labels, labels)

    def gene(self, name: str) -> np.ndarray:
        """Give one gene's log1p values, one for each cell, in float64."""
        column = self.raw[:, name].X
        dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
        return np.asarray(dense, dtype=np.float64).ravel()

    def cycling(self) -> np.ndarray:
        """Give a mask of the cells whose phase is not G1."""
        return np.asarray(self.obs["phase"].astype(str) != "G1")


def compare(values: np.ndarray, group: np.ndarray) -> dict[str, float]:
    """Compare a group's values with those of all other cells."""
    inside, outside = values[group], values[~group]
    test = stats.mannwhitneyu(inside, outside, alternative="two-sided")
    ratio = np.expm1(inside).mean() / np.expm1(outside).mean()
    return {
        "mean": float(inside.mean()),
        "mean_rest": float(outside.mean()),
        "detected": float((inside > 0).mean()),
        "detected_rest": float((outside > 0).mean()),
        "log2fc": float(np.log2(ratio)),
        "auc": float(test.statistic / (inside.size * outside.size)),
        "p": float(test.pvalue),
    }


def enrichment(mask: np.ndarray, group: np.ndarray) -> dict[str, float]:
    """Compare how often a mask is set in a group and in all other cells, by Fisher's test."""
    inside, outside = mask[group], mask[~group]
    table = [[inside.sum(), (~inside).sum()], [outside.sum(), (~outside).sum()]]
    test = stats.fisher_exact(np.array(table, dtype=np.int64))
    return {
        "count": int(inside.sum()),
        "count_rest": int(outside.sum()),
        "odds_ratio": float(test.statistic),
        "p": float(test.pvalue),
    }


def findings(cells: Cells) -> dict[str, dict[str, object]]:
    """Compute the ten findings."""
    found: dict[str, dict[str, object]] = {}
    for name, labels, genes in FINDINGS:
        group = cells.group(labels)
        found[name] = {
            "n": int(group.sum()),
            "n_rest": int((~group).sum()),
            **{gene: compare(cells.gene(gene), group) for gene in genes},
        }
    together = stats.pearsonr(cells.gene("CD79A"), cells.gene("CD79B")).statistic
    found["b_cells_ms4a1"]["cd79a_cd79b_pearson"] = float(together)
    apart = stats.spearmanr(cells.gene("CD3D"), cells.gene("LYZ")).statistic
    found["t_cells_cd3d"]["cd3d_lyz_spearman"] = float(apart)
    found["progenitors"] |= _progenitors(cells)
    return found


def _progenitors(cells: Cells) -> dict[str, object]:
    group = cells.group(PROGENITOR)
    counts = cells.obs["n_counts"].to_numpy(np.float64)
    louvain = cells.obs["louvain"].astype(str).to_numpy()[group]
    test = stats.mannwhitneyu(counts[group], counts[~group], alternative="two-sided")
    return {
        "n_counts_median": float(np.median(counts[group])),
        "n_counts_median_rest": float(np.median(counts[~group])),
        "n_counts_p": float(test.pvalue),
        "in_louvain_10": int((louvain == "10").sum()),
    }


def more(cells: Cells) -> dict[str, dict[str, float]]:
    """Compute what is true of the data besides, on all cells."""
    counts, genes = (cells.obs[name].to_numpy(np.float64) for name in ("n_counts", "n_genes"))
    related = stats.spearmanr(counts, genes)
    mito = cells.obs["percent_mito"].to_numpy(np.float64)
    by_label = [mito[cells.labels == label] for label in sorted(set(cells.labels))]
    differs = stats.kruskal(*by_label)
    return {
        "nk_cycling": enrichment(cells.cycling(), cells.group(NK)),
        "myeloid_cycling": enrichment(cells.cycling(), cells.group(MYELOID)),
        "counts_genes": {"spearman": float(related.statistic), "p": float(related.pvalue)},
        "mito_by_label": {"kruskal_h": float(differs.statistic), "p": float(differs.pvalue)},
    }


def untrue(cells: Cells) -> dict[str, dict[str, object]]:
    """Compute what one might claim, and the data does not show."""
    absent = {gene: gene not in cells.raw.var_names for gene in ("PPBP", "CD14", "CD34")}
    return {
        "cd8a_marks_nk": {**compare(cells.gene("CD8A"), cells.group(NK))},
        "progenitors_cycle": {**enrichment(cells.cycling(), cells.group(PROGENITOR))},
        "genes_not_measured": {**absent},
    }


def main(path: Path) -> None:
    cells = Cells(anndata.read_h5ad(path))
    print(json.dumps({"findings": findings(cells), "more": more(cells), "untrue": untrue(cells)}))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: findings.py [INPUT.h5ad]")
    inside_scanpy = Path(sc.__file__).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"
    main(Path(sys.argv[1]) if len(sys.argv) == 2 else inside_scanpy)
