"""The usual scanpy workflow on one h5ad file, from counts to marker genes and three figures.

    python workflow.py OUTPUT_FOLDER [INPUT.h5ad]

Without an input it takes the 700 cells of `pbmc68k_reduced`, which scanpy's wheel holds. It writes
`clusters.json`, `processed.h5ad` and three PNG files. Where a profile is built it is run once, so
that all that numba compiles for it lies in the profile's cache.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import anndata
import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import scanpy as sc

SEED = 0


def default_input() -> Path:
    """Give the file of `pbmc68k_reduced` in scanpy's own folder."""
    return Path(sc.__file__).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"


def load(path: Path) -> anndata.AnnData:
    """Give cells x genes on a scale of counts: `raw` holds log1p of them in this file."""
    stored = anndata.read_h5ad(path)
    source = stored.raw.to_adata() if stored.raw is not None else stored
    data = anndata.AnnData(X=source.X.copy(), obs=stored.obs.copy(), var=source.var.copy())
    if stored.raw is not None:
        data.X.data = np.expm1(data.X.data)
    return data


def process(data: anndata.AnnData) -> anndata.AnnData:
    """Run all steps in place, with one seed for each that draws."""
    data.var["mito"] = data.var_names.str.startswith("MT-")
    sc.pp.calculate_qc_metrics(data, qc_vars=["mito"], percent_top=None, inplace=True)
    sc.pp.filter_cells(data, min_genes=50)
    sc.pp.filter_genes(data, min_cells=3)
    sc.pp.normalize_total(data, target_sum=1e4)
    sc.pp.log1p(data)
    data.raw = data
    sc.pp.highly_variable_genes(data, n_top_genes=400)
    chosen = data[:, data.var["highly_variable"]].copy()
    sc.pp.scale(chosen, max_value=10)
    sc.pp.pca(chosen, n_comps=30, random_state=SEED)
    sc.pp.neighbors(chosen, n_neighbors=15, random_state=SEED)
    sc.tl.leiden(
        chosen,
        resolution=0.5,
        flavor="igraph",
        n_iterations=2,
        directed=False,
        random_state=SEED,
    )
    sc.tl.umap(chosen, random_state=SEED)
    sc.tl.rank_genes_groups(chosen, "leiden", method="wilcoxon")
    return chosen


def draw(data: anndata.AnnData, folder: Path) -> None:
    """Write the three figures: clusters on the UMAP, the ranked genes, the variance of the PCs."""
    sc.pl.umap(data, color="leiden", show=False)
    plt.savefig(folder / "umap.png", dpi=80)
    sc.pl.rank_genes_groups(data, n_genes=10, show=False)
    plt.savefig(folder / "markers.png", dpi=80)
    sc.pl.pca_variance_ratio(data, n_pcs=30, show=False)
    plt.savefig(folder / "pca.png", dpi=80)
    plt.close("all")


def report(data: anndata.AnnData) -> dict[str, object]:
    """Give the clusters' sizes and first markers, and how well they agree with fixed labels."""
    sizes = data.obs["leiden"].value_counts(sort=False)
    names = data.uns["rank_genes_groups"]["names"]
    found: dict[str, object] = {
        "sizes": {str(name): int(count) for name, count in sizes.items()},
        "markers": {str(name): [str(gene) for gene in names[name][:5]] for name in sizes.index},
    }
    if "bulk_labels" in data.obs:
        from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

        pair = (data.obs["bulk_labels"], data.obs["leiden"])
        found["ari"] = float(adjusted_rand_score(*pair))
        found["nmi"] = float(normalized_mutual_info_score(*pair))
    return found


def main(folder: Path, path: Path) -> None:
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    data = process(load(path))
    draw(data, folder)
    data.write_h5ad(folder / "processed.h5ad")
    found = {**report(data), "seconds": round(time.perf_counter() - began, 2)}
    (folder / "clusters.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found))


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        sys.exit("usage: workflow.py OUTPUT_FOLDER [INPUT.h5ad]")
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else default_input())
