"""Clustering of `pbmc68k_reduced` (700 blood cells, 765 genes), a file in scanpy's wheel."""

from pathlib import Path

import anndata
import numpy as np
import scanpy as sc
from sklearn.metrics import adjusted_mutual_info_score


def run(config, seed):
    stored = anndata.read_h5ad(Path(sc.__file__).parent / "datasets" / "10x_pbmc68k_reduced.h5ad")
    types = stored.obs["bulk_labels"].to_numpy()
    counts = np.expm1(stored.raw.X.toarray())  # the file holds log1p of them
    # The file's counts are normalised: give each cell its own depth back.
    counts *= (stored.obs["n_counts"] / counts.sum(axis=1)).to_numpy()[:, None]
    data = anndata.AnnData(counts.astype(np.float32))
    if config["normalise"] == "on":
        sc.pp.normalize_total(data, target_sum=1e4)
    if config["log"] == "on":
        sc.pp.log1p(data)
    if config["variable"] == "on":
        spread = data.X.var(axis=0) / (data.X.mean(axis=0) + 1e-9)
        data = data[:, np.sort(np.argsort(-spread, kind="stable")[:200])].copy()
    if config["scale"] == "on":
        sc.pp.scale(data, max_value=3 if config["clip"] == "on" else None)
    sc.pp.pca(data, n_comps=20, svd_solver="full", random_state=seed)
    sc.pp.neighbors(data, n_neighbors=15, random_state=seed)
    sc.tl.leiden(
        data, resolution=0.8, flavor="igraph", n_iterations=2, directed=False, random_state=seed
    )
    found = data.obs["leiden"].astype(int).to_numpy()
    score = max(0.0, adjusted_mutual_info_score(types, found))
    return {"score": score, "output": found.tolist()}
