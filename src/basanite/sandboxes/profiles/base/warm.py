"""Run once where the profile is built: what matplotlib keeps of the fonts lands in its cache."""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

values = np.random.default_rng(0).normal(size=100)
table = pd.DataFrame({"value": values, "rank": stats.rankdata(values)})
figure, axes = plt.subplots()
axes.scatter(table["rank"], table["value"])
axes.set_title("$x_i$")
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "figure.png")
