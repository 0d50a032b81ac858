"""Regression on `load_diabetes` (442 patients, scikit-learn), trained on 88 patients a fold."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler


class Clip:
    """Clips to percentiles of the training data."""

    def fit(self, x, y=None):
        self.low, self.high = np.percentile(x, [5, 95], axis=0)
        return self

    def transform(self, x):
        return np.clip(x, self.low, self.high)

    def fit_transform(self, x, y=None):
        return self.fit(x).transform(x)


def run(config, seed):
    features, target = load_diabetes(return_X_y=True, scaled=False)
    steps = [Clip()] if config["clip"] == "on" else [FunctionTransformer()]
    steps.append(StandardScaler())
    if config["products"] == "on":
        only = config["squares"] == "off"
        steps.append(PolynomialFeatures(2, interaction_only=only, include_bias=False))
    if config["select"] == "on":
        steps.append(SelectKBest(f_regression, k=8))
    steps.append(Ridge(20.0) if config["penalty"] == "on" else LinearRegression())
    predicted = np.empty_like(target)
    folds = KFold(5, shuffle=True, random_state=seed)
    for rest, few in folds.split(features):
        x, learned = features[few], []
        for step in steps[:-1]:
            x = step.fit_transform(x, target[few])
            learned.append(step)
        steps[-1].fit(x, target[few])
        x = features[rest]
        for step in learned:
            x = step.transform(x)
        predicted[rest] = np.clip(steps[-1].predict(x), 25, 346)
    error = float(np.sqrt(np.mean((predicted - target) ** 2)))
    return {"score": error, "output": np.round(predicted, 6)}
