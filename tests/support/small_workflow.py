"""A workflow of the standard library alone, quick enough for tests; runs in a sandbox."""

import math
import time
import warnings
from collections.abc import Mapping
from typing import Any


def run(config: Mapping[str, str], seed: int) -> dict[str, Any]:
    """While `smooth` is off, `width` changes nothing."""
    values = [math.sin(i * 0.7) + (0.5 if i % 3 else -0.5) for i in range(24)]
    if config["smooth"] == "on":
        n = {"3": 1, "5": 2, "9": 4}[config["width"]]
        values = [
            sum(values[max(0, i - n) : i + n + 1]) / len(values[max(0, i - n) : i + n + 1])
            for i in range(24)
        ]
    if config["clip"] == "on":
        values = [min(max(v, -0.9), 0.9) for v in values]
        warnings.warn("clipped", stacklevel=1)
    error = sum(abs(v - math.sin(i * 0.7)) for i, v in enumerate(values)) / 24
    return {
        "score": error,
        "output": [round(v, 9) for v in values],
        "metrics": {"last": values[-1]},
    }


def noisy(config: Mapping[str, str], seed: int) -> float:
    """A score that depends on the seed."""
    return 0.5 + 0.1 * (config["a"] == "on") + (0.02 if seed % 2 else -0.02)


def slow(config: Mapping[str, str], seed: int) -> float:
    """Takes a while."""
    time.sleep(0.3)
    return 0.25 + 0.5 * (config["a"] == "on")


def broken(config: Mapping[str, str], seed: int) -> float:
    """Fails in a way of its own in each configuration."""
    state = config["a"] + config["b"]
    if state == "offoff":
        return 0.5
    if state == "offon":
        raise RuntimeError("out of tune")
    return {"onoff": float("nan"), "onon": 1.5}[state]


def lying(config: Mapping[str, str], seed: int) -> dict[str, Any]:
    """Puts the same out with different scores."""
    return {"score": 0.2 if config["a"] == "on" else 0.8, "output": "same"}
