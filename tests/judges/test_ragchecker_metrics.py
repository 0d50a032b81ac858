"""RAGChecker's metrics: the published numbers, a brute force, and the identities."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.errors import InputError
from basanite.judges import aggregate_ragchecker, ragchecker_file, ragchecker_metrics
from support.reference import reference

LABELS = ("Entailment", "Neutral", "Contradiction")
NAMES = (
    *("precision", "recall", "f1", "claim_recall", "context_precision", "context_utilization"),
    *("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"),
    *("self_knowledge", "faithfulness"),
)


def brute_force(r: list[str], g: list[str], a: list[list[str]], s: list[list[str]]) -> list[float]:
    """The definitions, written out with loops and counters only, in the order of NAMES."""
    n, m = len(r), len(g)
    k = len(a[0]) if a else (len(s[0]) if s else 0)
    yes = "Entailment"
    p = sum(1 for x in r if x == yes) / n if n else 0.0
    q = sum(1 for x in g if x == yes) / m if m else 0.0
    f = 0.0 if p == 0 or q == 0 else 2 / (1 / p + 1 / q)
    rel = [0] * k
    for row in a:
        for c in range(k):
            if row[c] == yes:
                rel[c] = 1
    there = used = 0
    for j in range(m):
        hits = 0
        for c in range(k):
            hits += a[j][c] == yes
        if hits:
            there += 1
            used += g[j] == yes
    noisy_rel = noisy_irr = invented = known = faithful = 0
    for i in range(n if k else 0):
        good = bad = 0
        for c in range(k):
            if s[i][c] == yes:
                good += rel[c]
                bad += 1 - rel[c]
        faithful += good + bad > 0
        if r[i] == yes:
            known += good + bad == 0
        elif good:
            noisy_rel += 1
        elif bad:
            noisy_irr += 1
        else:
            invented += 1
    if not m:  # published: without claims of the truth no context is known to be relevant
        noisy_irr = 0
    return [
        *(p, q, f, there / m if m else 0.0, sum(rel) / k if k and m else 0.0),
        *(used / there if there else 0.0, noisy_rel / n if n else 0.0),
        *(noisy_irr / n if n else 0.0, invented / n if n else 0.0, known / n if n else 0.0),
        faithful / n if n else 0.0,
    ]


Table = tuple[list[str], list[str], list[list[str]], list[list[str]]]


def matrices(n: int, m: int, k: int, rng: random.Random) -> Table:
    def row(size: int) -> list[str]:
        return [rng.choice(LABELS) for _ in range(size)]

    return row(n), row(m), [row(k) for _ in range(m)], [row(k) for _ in range(n)]


def test_equals_brute_force_on_200_random_matrices_with_empty_ones() -> None:
    rng = random.Random(20)
    sizes = [(n, m, k) for n in (0, 1) for m in (0, 1) for k in (0, 1)]
    some = (0, 1, 2, 3, 5, 9)
    sizes += [(rng.choice(some), rng.choice(some), rng.choice(some)) for _ in range(192)]
    assert len(sizes) == 200
    for size in sizes:
        table = matrices(*size, rng)
        ours = ragchecker_metrics(*table)
        theirs = brute_force(*table)
        assert [ours[name] for name in NAMES] == pytest.approx(theirs, abs=1e-12), size


labels = st.sampled_from(LABELS)


@st.composite
def label_tables(draw: st.DrawFn) -> Table:
    n, m, k = (draw(st.integers(1, 6)) for _ in range(3))

    def row(size: int) -> list[str]:
        return draw(st.lists(labels, min_size=size, max_size=size))

    return row(n), row(m), [row(k) for _ in range(m)], [row(k) for _ in range(n)]


@given(label_tables())
def test_each_claim_is_in_exactly_one_class(table: Table) -> None:
    x = ragchecker_metrics(*table)
    wrong = x["noise_sensitivity_in_relevant"] + x["noise_sensitivity_in_irrelevant"]
    assert x["precision"] + wrong + x["hallucination"] == pytest.approx(1)
    assert x["faithfulness"] + x["self_knowledge"] + x["hallucination"] == pytest.approx(1)
    assert all(0 <= value <= 1 for value in x.values())


def test_the_33_published_numbers_come_out_without_the_files_own_metrics() -> None:
    path = reference("ragchecker/checking_outputs.json")
    file = json.loads(path.read_text(encoding="utf-8"))
    published = file.pop("metrics")
    per_item = [item.pop("metrics") for item in file["results"]]
    computed = ragchecker_file(file)
    numbers = 0
    for ours, theirs in zip(computed["results"], per_item, strict=True):  # type: ignore[call-overload]
        assert ours["metrics"] == pytest.approx(theirs, abs=1e-12)
        numbers += len(theirs)
    assert computed["metrics"] == published
    numbers += sum(len(group) for group in published.values())
    assert numbers == 33


def item(**fields: object) -> dict[str, object]:
    return {"query_id": "q7", "answer2response": ["Entailment"], "response2answer": []} | fields


def test_metrics_in_the_file_are_ignored() -> None:
    parsed = {"results": [item(metrics={"precision": 0.123})], "metrics": {"overall": {"f1": 99}}}
    computed = ragchecker_file(parsed)
    assert computed["metrics"] == {
        "overall": {"precision": 100.0, "recall": 0.0, "f1": 0.0},
        "retriever": {},
        "generator": {},
    }
    assert parsed["results"][0]["metrics"] == {"precision": 0.123}  # type: ignore[index]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"answer2response": ["entailed"]}, "unknown label 'entailed' at position 1"),
        ({"answer2response": [None]}, "unknown label None"),
        ({"answer2response": [["Neutral"]]}, "unknown label"),
        ({"answer2response": "Neutral"}, "no list of labels"),
        ({"response_claims": [["a", "b", "c"], ["d", "e", "f"]]}, "1 entries for 2"),
        ({"retrieved2response": [["Neutral", "Neutral"]], "retrieved_context": [{}]}, "2 labels"),
        ({"retrieved2response": [["Neutral"], ["Neutral"]]}, "same claims"),
        ({"retrieved2response": [["Neutral"]], "retrieved2answer": ["x"]}, "no list of labels"),
        ({"answer2response": None, "response2answer": None}, "holds no labels"),
    ],
)
def test_bad_items_are_named(changed: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        ragchecker_file({"results": [item(), item(**changed)]})
    assert "result 2 (query_id 'q7')" in str(caught.value)


def test_items_with_different_label_fields_are_refused() -> None:
    mixed = {"results": [item(), item(retrieved2response=[["Neutral"]])]}
    with pytest.raises(InputError, match="other label fields"):
        ragchecker_file(mixed)


@pytest.mark.parametrize("parsed", [[], {}, {"results": []}, {"results": {}}, "x", None])
def test_a_file_without_results_is_refused(parsed: object) -> None:
    with pytest.raises(InputError, match="no results"):
        ragchecker_file(parsed)


def test_aggregate_rounds_as_published() -> None:
    shares = [{"precision": 0.5}, {"precision": 0.625}, {"precision": 0.6}]
    assert aggregate_ragchecker(shares)["overall"] == {"precision": 57.5}
    with pytest.raises(InputError):
        aggregate_ragchecker([])
