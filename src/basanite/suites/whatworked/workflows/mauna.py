"""Forecasts of monthly means of `co2` (Mauna Loa, 1958 to 2001), a data set of statsmodels."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd

AHEAD = 12


def monthly():
    package = importlib.util.find_spec("statsmodels").origin  # its import would take seconds
    path = Path(package).parent / "datasets" / "co2" / "co2.csv"
    table = pd.read_csv(path)
    dates = pd.to_datetime(table["date"].astype(str), format="%Y%m%d")
    means = pd.Series(table["co2"].to_numpy(), index=dates).resample("MS").mean()
    return means.interpolate().to_numpy()


def forecast(past, config):
    values = np.log(past) if config["log"] == "on" else past.copy()
    if config["window"] == "on":
        values = values[-72:]
    months = np.arange(values.size + AHEAD)
    base = np.zeros(months.size)
    if config["trend"] == "on":
        base += np.polyval(np.polyfit(months[: values.size], values, 1), months)
    rest = values - base[: values.size]
    if config["season"] == "on":
        means = np.array([rest[month::12].mean() for month in range(12)])
        base += means[months % 12]
        rest = values - base[: values.size]
    n = 12 if config["lags"] == "on" else 2
    rows = np.array([rest[i : i + n] for i in range(rest.size - n)])
    design = np.column_stack([rows, np.ones(len(rows))])
    weights = np.linalg.lstsq(design, rest[n:], rcond=None)[0]
    state = list(rest[-n:])
    for _ in range(AHEAD):
        state.append(float(np.dot(weights[:-1], state[-n:]) + weights[-1]))
    ahead = np.array(state[n:]) + base[values.size :]
    return np.exp(ahead) if config["log"] == "on" else ahead


def run(config, seed):
    series = monthly()
    ends = range(180, series.size - AHEAD, 24)  # seed: nothing is drawn
    made = np.array([forecast(series[:end], config) for end in ends])
    true = np.array([series[end : end + AHEAD] for end in ends])
    naive = np.array([series[end - 12 : end] for end in ends])
    score = float(np.abs(made - true).mean() / np.abs(naive - true).mean())
    return {"score": score, "output": np.round(made, 6)}
