"""Classification of `load_wine` (178 wines, scikit-learn), trained on few wines a fold."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def run(config, seed):
    features, labels = load_wine(return_X_y=True)
    steps = []
    if config["scale"] == "on":
        steps.append(StandardScaler())
    if config["pca"] == "on":
        steps.append(PCA(3, whiten=config["whiten"] == "on", svd_solver="full"))
    if config["model"] == "neighbours":
        weights = "distance" if config["weights"] == "on" else "uniform"
        steps.append(KNeighborsClassifier(5, weights=weights))
    else:
        steps.append(LogisticRegression(C=0.1, max_iter=20000))
    model = make_pipeline(*steps)
    predicted = np.empty_like(labels)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    for rest, few in folds.split(features, labels):  # trained on a fifth
        predicted[rest] = model.fit(features[few], labels[few]).predict(features[rest])
    return {
        "score": balanced_accuracy_score(labels, predicted),
        "output": predicted.tolist(),
    }
