"""The demo set: its shape, and every number that it quotes, recomputed from the cells."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import TypedDict

import numpy as np
import numpy.typing as npt
import pytest

from basanite.schema import Answer

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

DATA = files("basanite") / "data" / "pbmc68k"

# A number that stands alone: not the digits of CD79A, CD19+, CD8+/CD45RA+ or 10x.
NUMBER = re.compile(r"(?<![\w.+/-])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w+/]|\.\d)")


class Fact(TypedDict):
    measure: str
    gene: str | None
    group: str
    value: float
    tolerance: float


@lru_cache
def facts_file() -> tuple[dict[str, list[str]], dict[str, list[Fact]]]:
    whole = json.loads((DATA / "facts.json").read_text(encoding="utf-8"))
    assert whole["schema"] == "basanite.facts/1"
    return whole["groups"], whole["findings"]


def answers() -> list[Answer]:
    lines = (DATA / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [Answer.model_validate_json(line) for line in lines]


def numbers(text: str) -> list[str]:
    return [found.replace(",", "") for found in NUMBER.findall(text)]


class Cells:
    """The reduced PBMC data with what the facts are made of."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scanpy = pytest.importorskip(
                "scanpy", reason="scanpy is not installed; it is in the dev dependency group"
            )
            cells = scanpy.datasets.pbmc68k_reduced()
        self.genes = list(cells.raw.var_names)
        # Mann-Whitney on 32-bit floats gives p = 0 for the strongest markers.
        self._values: Floats = cells.raw.X.toarray().astype(np.float64)
        self.labels = np.asarray(cells.obs["bulk_labels"].astype(str))
        self.clusters = np.asarray(cells.obs["louvain"].astype(str))
        self.counts: Floats = np.asarray(cells.obs["n_counts"], dtype=np.float64)

    def gene(self, name: str) -> Floats:
        column: Floats = self._values[:, self.genes.index(name)]
        return column

    def mask(self, group: str) -> Mask:
        if group == "all":
            return np.ones(len(self.labels), dtype=np.bool_)
        groups, _ = facts_file()
        unknown = set(groups[group]) - set(self.labels)
        assert not unknown, unknown
        return np.isin(self.labels, groups[group])


@pytest.fixture(scope="module")
def cells() -> Cells:
    return Cells()


def mann_whitney(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Area under the ROC curve and two-sided p."""
    from scipy import stats

    result = stats.mannwhitneyu(inside, outside, alternative="two-sided")
    return float(result.statistic) / (len(inside) * len(outside)), float(result.pvalue)


def fold_change(inside: Floats, outside: Floats) -> float:
    return float(np.expm1(inside).mean() / np.expm1(outside).mean())


GENE_MEASURES: dict[str, Callable[[Floats, Floats], float]] = {
    "mean": lambda inside, _: float(inside.mean()),
    "mean_rest": lambda _, outside: float(outside.mean()),
    "detected_percent": lambda inside, _: 100.0 * float((inside > 0).mean()),
    "detected_percent_rest": lambda _, outside: 100.0 * float((outside > 0).mean()),
    "fold_change": fold_change,
    "log2_fold_change": lambda inside, outside: math.log2(fold_change(inside, outside)),
    "auc": lambda inside, outside: mann_whitney(inside, outside)[0],
    "p_value": lambda inside, outside: mann_whitney(inside, outside)[1],
}

COUNT_MEASURES: dict[str, Callable[[Floats, Floats], float]] = {
    "cells": lambda inside, _: float(len(inside)),
    "cells_rest": lambda _, outside: float(len(outside)),
    "median_counts": lambda inside, _: float(np.median(inside)),
    "median_counts_rest": lambda _, outside: float(np.median(outside)),
    "counts_p_value": lambda inside, outside: mann_whitney(inside, outside)[1],
}


def compute(cells: Cells, fact: Fact) -> float:
    from scipy import stats

    measure, gene, mask = fact["measure"], fact["gene"], cells.mask(fact["group"])
    if measure == "genes":
        return float(len(cells.genes))
    if measure in COUNT_MEASURES:
        return COUNT_MEASURES[measure](cells.counts[mask], cells.counts[~mask])
    if measure in {"louvain_cluster", "cells_in_cluster"}:
        ((cluster, size),) = Counter(cells.clusters[mask].tolist()).most_common(1)
        return float(cluster if measure == "louvain_cluster" else size)
    assert gene is not None, measure
    if measure == "is_measured":
        return float(gene in cells.genes)
    if measure in {"pearson", "spearman"}:
        one, other = (cells.gene(name)[mask] for name in gene.split("~"))
        if measure == "pearson":
            return float(stats.pearsonr(one, other).statistic)
        return float(stats.spearmanr(one, other).statistic)
    values = cells.gene(gene)
    return GENE_MEASURES[measure](values[mask], values[~mask])


@pytest.mark.parametrize("finding", sorted(facts_file()[1]))
def test_every_number_is_what_the_cells_give(cells: Cells, finding: str) -> None:
    wrong = []
    for fact in facts_file()[1][finding]:
        value = compute(cells, fact)
        if not abs(value - fact["value"]) <= fact["tolerance"]:
            wrong.append((fact, value))
    assert not wrong


@pytest.mark.parametrize("finding", sorted(facts_file()[1]))
def test_truths_and_right_answers_quote_only_facts(finding: str) -> None:
    known = {fact["value"] for fact in facts_file()[1][finding]}
    rows = [row for row in answers() if row.task == finding]
    quoted = {number for row in rows for number in numbers(row.truth)}
    assert quoted, "a truth without numbers can't be verified"
    right = [row for row in rows if row.human == {"author": 1.0}]
    quoted |= {number for row in right for number in numbers(row.answer)}
    assert not [number for number in quoted if float(number) not in known]


def test_thirty_answers_on_ten_findings() -> None:
    rows = answers()
    assert len(rows) == len({row.id for row in rows}) == 30
    by_finding: dict[str, list[Answer]] = {}
    for row in rows:
        by_finding.setdefault(row.task, []).append(row)
    assert set(by_finding) == set(facts_file()[1])
    orders = set()
    for group in by_finding.values():
        labels = [row.human["author"] for row in group]
        assert sorted(map(float, map(str, labels))) == [0.0, 0.5, 1.0]
        assert len({row.truth for row in group}) == len({row.question for row in group}) == 1
        assert len({row.answer for row in group}) == 3
        orders.add(tuple(map(str, labels)))
    assert len(orders) > 3, "the place of an answer must not tell its label"


def test_ids_do_not_tell_the_label() -> None:
    text = " ".join(row.id for row in answers())
    assert not re.search("right|wrong|part|true|false", text)


def test_numbers_are_told_from_names() -> None:
    text = (
        "CD79A in 95 CD19+ B and CD8+/CD45RA+ cells: 98.9%, 4,341 (p = 1.04e-4), -0.95. 10x MS4A1."
    )
    assert numbers(text) == ["95", "98.9", "4341", "1.04e-4", "-0.95"]
