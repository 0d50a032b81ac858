"""Clustering of 600 of the 1,797 images of `load_digits` (8 x 8 pixels, scikit-learn)."""

from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import v_measure_score


def run(config, seed):
    images, digits = load_digits(return_X_y=True)
    images, digits = images[:600] / 16, digits[:600]
    if config["binarise"] == "on":
        images = (images > 0.5).astype(float)
    if config["pca"] == "on":
        whiten = config["whiten"] == "on"
        images = PCA(15, whiten=whiten, svd_solver="full").fit_transform(images)
    if config["method"] == "ward":
        model = AgglomerativeClustering(10, linkage="ward")
    elif config["method"] == "spectral":
        model = SpectralClustering(
            10, affinity="nearest_neighbors", n_neighbors=10, random_state=seed
        )
    else:
        model = KMeans(10, n_init=5, random_state=seed)
    found = model.fit_predict(images)
    return {"score": v_measure_score(digits, found), "output": found.tolist()}
