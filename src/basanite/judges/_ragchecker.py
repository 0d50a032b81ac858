"""RAGChecker's metrics as published, from labels alone.

These are the definitions of the released program, empty cases included: an empty list counts
as 0.0 there, so an answer without claims has both precision 0 and hallucination 0. The scores
of `claim_scores` differ in exactly that: they have no value where there is nothing to count.
Both stand side by side, under different names, so that published numbers can be compared.

Two of the published definitions are worth knowing. The two noise sensitivities exclude each
other (a wrong claim that both a relevant and an irrelevant context entail counts as relevant
only). And `f1` of a set is the mean of the items' F1, not the F1 of the mean precision and
recall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import InputError

METRIC_GROUPS: Mapping[str, tuple[str, ...]] = {
    "overall": ("precision", "recall", "f1"),
    "retriever": ("claim_recall", "context_precision"),
    "generator": (
        "context_utilization",
        "noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant",
        "hallucination",
        "self_knowledge",
        "faithfulness",
    ),
}
"""The published groups and the order of the metrics in them."""

Labels = Sequence[str]
Matrix = Sequence[Sequence[str]]


def ragchecker_metrics(
    answer2response: Labels | None = None,
    response2answer: Labels | None = None,
    retrieved2answer: Matrix | None = None,
    retrieved2response: Matrix | None = None,
) -> dict[str, float]:
    """Compute the published metrics of one item, as shares from 0 to 1.

    Args:
        answer2response: one label per claim of the response, held against the true answer.
        response2answer: one label per claim of the true answer, held against the response.
        retrieved2answer: claims of the true answer (rows) against the contexts (columns).
        retrieved2response: claims of the response (rows) against the contexts (columns).

    Returns:
        Those metrics whose labels were given. Only the exact text `Entailment` counts as
        support, as published.
    """
    shares: dict[str, float] = {}
    correct = None if answer2response is None else _support(answer2response)
    recalled = None if response2answer is None else _support(response2answer)
    if correct is not None:
        shares["precision"] = _mean(correct)
    if recalled is not None:
        shares["recall"] = _mean(recalled)
    if correct is not None and recalled is not None:
        shares["f1"] = _f1(shares["precision"], shares["recall"])
    truth_found = None if retrieved2answer is None else [_support(row) for row in retrieved2answer]
    claims_found = (
        None if retrieved2response is None else [_support(row) for row in retrieved2response]
    )
    if truth_found is not None:
        shares |= _retriever(truth_found, recalled)
    if claims_found is not None:
        shares |= _generator(claims_found, correct, truth_found)
    return {
        name: shares[name] for group in METRIC_GROUPS.values() for name in group if name in shares
    }


def aggregate_ragchecker(items: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Average items' metrics as published: by group, in percent, rounded to one decimal.

    Args:
        items: results of `ragchecker_metrics`, all with the same names.

    Raises:
        InputError: there is no item.
    """
    # numpy's mean and rounding, because the published numbers went through them: Python's
    # own `round` differs in the last digit where a value lies between two decimals.
    import numpy as np

    if not items:
        raise InputError("there is no item to average", todo="give at least one result")
    return {
        group: {
            name: float(np.round(np.mean([item[name] for item in items]) * 100, 1))
            for name in names
            if name in items[0]
        }
        for group, names in METRIC_GROUPS.items()
    }


def _support(labels: Labels) -> list[bool]:
    return [label == "Entailment" for label in labels]


def _mean(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _f1(precision: float, recall: float) -> float:
    if precision == 0 or recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def _retriever(truth_found: list[list[bool]], recalled: list[bool] | None) -> dict[str, float]:
    found = [any(row) for row in truth_found]
    shares = {
        "claim_recall": _mean(found),
        "context_precision": _mean([any(column) for column in zip(*truth_found, strict=True)]),
    }
    if recalled is not None:
        used = [use for use, there in zip(recalled, found, strict=True) if there]
        shares["context_utilization"] = _mean(used)
    return shares


def _generator(
    claims_found: list[list[bool]],
    correct: list[bool] | None,
    truth_found: list[list[bool]] | None,
) -> dict[str, float]:
    backed = [any(row) for row in claims_found]
    shares = {"faithfulness": _mean(backed)}
    if correct is None:
        return shares
    # With no contexts at all the published program gives 0 for each of these.
    width = len(claims_found[0]) if claims_found else 0
    pairs = list(zip(correct, backed, strict=True)) if width else []
    shares["hallucination"] = _mean([not right and not there for right, there in pairs])
    shares["self_knowledge"] = _mean([right and not there for right, there in pairs])
    if truth_found is None:
        return shares
    relevant, irrelevant = [], []
    if width and truth_found:
        useful = [any(column) for column in zip(*truth_found, strict=True)]
        for right, row in zip(correct, claims_found, strict=True):
            from_useful = any(map(_both, useful, row))
            relevant.append(not right and from_useful)
            irrelevant.append(not right and any(row) and not from_useful)
    shares["noise_sensitivity_in_relevant"] = _mean(relevant)
    shares["noise_sensitivity_in_irrelevant"] = _mean(irrelevant)
    return shares


def _both(left: bool, right: bool) -> bool:
    return left and right
