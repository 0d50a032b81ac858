"""Reading the labels of a RAGChecker output file, and its metrics computed afresh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..errors import InputError
from ._ragchecker import aggregate_ragchecker, ragchecker_metrics

PUBLISHED_LABELS = ("Entailment", "Neutral", "Contradiction")

_LISTS = {"answer2response": "response_claims", "response2answer": "gt_answer_claims"}
_MATRICES = {"retrieved2response": "response_claims", "retrieved2answer": "gt_answer_claims"}


def ragchecker_file(parsed: object) -> dict[str, object]:
    """Compute the metrics of a parsed RAGChecker output file afresh.

    Whatever `metrics` the file holds is ignored. Which metrics come out depends on which label
    fields are there: `answer2response` and `response2answer` give the overall group, the two
    `retrieved2…` fields the others.

    Args:
        parsed: the JSON of the file, `{"results": [...]}`.

    Returns:
        The published shape: all fields of each item with its `metrics` as shares, and the
        file's `metrics` by group in percent.

    Raises:
        InputError: the shape is another one, a label is unknown, or the number of labels does
            not fit the number of claims or contexts; the text names the item and the field.
    """
    results = parsed.get("results") if isinstance(parsed, Mapping) else None
    if not isinstance(results, list) or not results:
        raise InputError(
            "the file holds no results",
            todo='It needs {"results": [...]} with the label fields that RAGChecker writes',
        )
    labelled = [_read_item(item, number) for number, item in enumerate(results, start=1)]
    fields = set(labelled[0])
    for number, labels in enumerate(labelled, start=1):
        if set(labels) != fields:
            raise InputError(
                f"the item has other label fields ({_names(labels)}) than the first "
                f"({_names(fields)}), so a mean over all items would compare unlike things",
                where=_where(results[number - 1], number),
                todo="Give every item the same label fields",
            )
    metrics = [_metrics_of(labels) for labels in labelled]
    return {
        "results": [
            {**{key: value for key, value in item.items() if key != "metrics"}, "metrics": shares}
            for item, shares in zip(results, metrics, strict=True)
        ],
        "metrics": aggregate_ragchecker(metrics),
    }


def _metrics_of(labels: Mapping[str, list[str] | list[list[str]]]) -> dict[str, float]:
    def flat(name: str) -> list[str] | None:
        return [str(label) for label in labels[name]] if name in labels else None

    def rows(name: str) -> list[list[str]] | None:
        return [list(row) for row in labels[name]] if name in labels else None

    return ragchecker_metrics(
        flat("answer2response"),
        flat("response2answer"),
        rows("retrieved2answer"),
        rows("retrieved2response"),
    )


def _read_item(item: object, number: int) -> dict[str, list[str] | list[list[str]]]:
    where = _where(item, number)
    if not isinstance(item, Mapping):
        raise InputError("the item is no JSON object", where=where)
    labels: dict[str, list[str] | list[list[str]]] = {}
    for field, claims in _LISTS.items():
        if item.get(field) is not None:
            labels[field] = _labels(item[field], field, where)
            _check_length(item, field, claims, len(labels[field]), where)
    width = _width(item)
    for field, claims in _MATRICES.items():
        if item.get(field) is not None:
            matrix, width = _matrix(item[field], field, width, where)
            labels[field] = matrix
            _check_length(item, field, claims, len(matrix), where)
    if not labels:
        raise InputError(
            f"the item holds no labels (none of {_names([*_LISTS, *_MATRICES])})",
            where=where,
            todo="Judge the file first: `basanite judge claims FILE -o RUN`",
        )
    _check_sides(labels, where)
    return labels


def _labels(value: object, field: str, where: str) -> list[str]:
    if not isinstance(value, list):
        raise InputError(f"{field} is no list of labels", where=where)
    for position, label in enumerate(value, start=1):
        if label not in PUBLISHED_LABELS:
            raise InputError(
                f"{field} holds the unknown label {label!r:.80} at position {position}",
                where=where,
                todo=f"Labels are {_names(PUBLISHED_LABELS)}",
            )
    return list(value)


def _matrix(
    value: object, field: str, width: int | None, where: str
) -> tuple[list[list[str]], int | None]:
    if not isinstance(value, list):
        raise InputError(f"{field} is no list of lists of labels", where=where)
    rows = [_labels(row, f"{field}[{index}]", where) for index, row in enumerate(value)]
    for index, row in enumerate(rows):
        width = len(row) if width is None else width
        if len(row) != width:
            raise InputError(
                f"{field}[{index}] has {len(row)} labels for {width} contexts",
                where=where,
                todo="Each row needs one label per context",
            )
    return rows, width


def _width(item: Mapping[str, object]) -> int | None:
    contexts = item.get("retrieved_context")
    return len(contexts) if isinstance(contexts, list) else None


def _check_length(
    item: Mapping[str, object], field: str, claims: str, length: int, where: str
) -> None:
    held = item.get(claims)
    if isinstance(held, list) and len(held) != length:
        raise InputError(
            f"{field} has {length} entries for {len(held)} {claims}",
            where=where,
            todo="Each claim needs exactly one entry, in the same order",
        )


def _check_sides(labels: Mapping[str, Sequence[object]], where: str) -> None:
    for flat, matrix in (
        ("answer2response", "retrieved2response"),
        ("response2answer", "retrieved2answer"),
    ):
        if flat in labels and matrix in labels and len(labels[flat]) != len(labels[matrix]):
            raise InputError(
                f"{flat} has {len(labels[flat])} entries and {matrix} {len(labels[matrix])}, "
                "though both go over the same claims",
                where=where,
            )


def _where(item: object, number: int) -> str:
    query_id = item.get("query_id") if isinstance(item, Mapping) else None
    return (
        f"result {number}" if query_id is None else f"result {number} (query_id {query_id!r:.80})"
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
