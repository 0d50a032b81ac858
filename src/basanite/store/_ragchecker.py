"""Export in the JSON that RAGChecker reads and computes its metrics from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..errors import InputError
from ..schema import Answer, Claim, Judgment, Label
from ._exports import json_bytes
from ._files import output_file
from ._folder import RunFolder
from ._ordered import items_in_order

_LABELS = {
    Label.ENTAILED: "Entailment",
    Label.NEUTRAL: "Neutral",
    Label.CONTRADICTED: "Contradiction",
}


def export_ragchecker(folder: RunFolder, out: str | Path) -> dict[str, int]:
    """Write the items whose labels are complete, in RAGChecker's published shape.

    Its reader takes a missing label or an empty list of claims for a zero. So an item is
    left out unless both sides have claims and each claim a label; labels against contexts
    are all there or their two fields are not. Items come in the order of the input.

    Args:
        folder: the run.
        out: a file, or `-` for standard output.

    Returns:
        `items` that were written and `left_out`.

    Raises:
        InputError: the path can't be a file, or the run has no item with complete labels.
        StorageError: it can't be written.
    """
    items = 0
    left_out: Counter[str] = Counter()
    with output_file(out) as file:
        for entry in _entries(folder):
            if isinstance(entry, str):
                left_out[entry] += 1
                continue
            file.write(b",\n" if items else b'{"results": [\n')
            file.write(json_bytes(entry))
            items += 1
        if not items:  # inside: the path keeps what it held
            raise InputError(
                f"nothing can be exported for RAGChecker: {_reasons(left_out)}",
                where=str(folder.path),
                todo="It needs claims of both sides, each with a label: judge the input with "
                "`basanite judge claims` in both directions, or export this run as jsonl, parquet, "
                "huggingface or inspect, which hold any judge's results.",
            )
        file.write(b"\n]}\n")
    return {"items": items, "left_out": left_out.total()}


def _reasons(left_out: Mapping[str, int]) -> str:
    if not left_out:
        return "nothing has been judged"
    ordered = sorted(left_out.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{count} with {reason}" for reason, count in ordered)


def _entries(folder: RunFolder) -> Iterator[dict[str, object] | str]:
    for item in items_in_order(folder):
        if item.judgment is None:
            continue
        if isinstance(item.row, Answer):
            yield _entry(item.row, item.judgment)
        else:
            yield "a row that can't be used"


def _entry(answer: Answer, judgment: Judgment) -> dict[str, object] | str:
    """Give an item in RAGChecker's shape, or what its labels lack."""
    labels: dict[tuple[str, str], str] = {}
    for verdict in judgment.verdicts:
        if verdict.label is None:
            return "a claim that has no label"
        labels[verdict.claim_id, verdict.against] = _LABELS[verdict.label]
    response = [claim for claim in judgment.claims if claim.side == "answer"]
    truth = [claim for claim in judgment.claims if claim.side == "truth"]
    answer2response = _column(response, "truth", labels)
    response2answer = _column(truth, "answer", labels)
    if not answer2response and not response2answer:
        return "no labelled claims"
    if not answer2response:
        return "no labels of the answer's claims"
    if not response2answer:
        return "no labels of the truth's claims"
    contexts = answer.contexts or ()
    entry: dict[str, object] = {
        "query_id": answer.id,
        "query": answer.question,
        "gt_answer": answer.truth,
        "response": answer.answer,
        "retrieved_context": [{"doc_id": one.doc_id, "text": one.text} for one in contexts],
        "response_claims": _claims(response),
        "gt_answer_claims": _claims(truth),
        "answer2response": answer2response,
        "response2answer": response2answer,
    }
    if any(against.startswith("context:") for _, against in labels):
        sources = [f"context:{index}" for index in range(len(contexts))]
        rows = [_matrix(claims, sources, labels) for claims in (response, truth)]
        if None in rows:
            return "labels against some of the contexts only"
        entry["retrieved2response"], entry["retrieved2answer"] = rows
    return entry


def _column(
    claims: Sequence[Claim], against: str, labels: Mapping[tuple[str, str], str]
) -> list[str] | None:
    found = [labels.get((claim.id, against)) for claim in claims]
    complete = [label for label in found if label is not None]
    return complete if len(complete) == len(claims) else None


def _matrix(
    claims: Sequence[Claim], sources: Sequence[str], labels: Mapping[tuple[str, str], str]
) -> list[list[str]] | None:
    rows = []
    for claim in claims:
        row = [labels[claim.id, one] for one in sources if (claim.id, one) in labels]
        if len(row) != len(sources):
            return None
        rows.append(row)
    return rows


def _claims(claims: Sequence[Claim]) -> list[list[str]] | list[str]:
    triplets = [list(claim.triplet) for claim in claims if claim.triplet is not None]
    return triplets if len(triplets) == len(claims) else [claim.text for claim in claims]
