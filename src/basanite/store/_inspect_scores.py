"""A judgment as Inspect's scores, and a run's means as its metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..errors import UnscoredReason
from ..schema import NOT_JUDGED, NOT_REPORTED, ClaimVerdict, InvalidRow, Judgment, Score
from ._numbers import RunNumbers, ScoreNumbers
from ._ordered import Item

UNSCORED = float("nan")
"""What Inspect itself writes for a score without a value (`Score.unscored`); it skips these."""

_DETAILS = {
    *("score_mode", "probability_mass", "probabilities", "choice"),
    *("claims", "verdicts", "facts", "fact_verdicts", "replies"),
}


def shown_scores(numbers: RunNumbers) -> list[str]:
    """Give the scores that samples show: not those that no item of the run could have."""
    return [
        name
        for name, score in numbers.scores.items()
        if name == numbers.primary or not score.is_left_out
    ]


def sample_scores(
    item: Item, numbers: RunNumbers, public: Callable[[str], str]
) -> dict[str, dict[str, object]]:
    """Give an item's scores by name, the primary one first.

    Args:
        item: a row and its judgment.
        numbers: tells which scores the run has.
        public: takes what is private out of a message.
    """
    return {
        name: _score(item, name, primary=name == numbers.primary, public=public)
        for name in shown_scores(numbers)
    }


def _score(
    item: Item, name: str, *, primary: bool, public: Callable[[str], str]
) -> dict[str, object]:
    judgment = item.judgment
    score = None if judgment is None else judgment.scores.get(name)
    reason = _reason(item, score)
    lines: list[str] = []
    metadata: dict[str, object] = {}
    if reason is not None:
        lines.append(f"unscored: {reason}")
    elif score is not None and score.low is not None:
        metadata |= {"low": score.low, "high": score.high}
    answer = None
    if primary:
        lines += _explained(item, public)
        metadata |= _details(judgment, public)
        answer = _answer(item)
    return {
        "value": UNSCORED if score is None or score.value is None else score.value,
        "answer": answer,
        "explanation": "\n\n".join(lines) or None,
        "reason": reason,
        "metadata": metadata or None,
        "history": [],
    }


def _reason(item: Item, score: Score | None) -> str | None:
    if score is not None:
        return None if score.unscored_reason is None else score.unscored_reason.value
    if item.judgment is not None:
        return NOT_REPORTED
    return UnscoredReason.INVALID_ROW if isinstance(item.row, InvalidRow) else NOT_JUDGED


def _answer(item: Item) -> str | None:
    if item.judgment is not None and item.judgment.choice is not None:
        return ", ".join(item.judgment.choice.chosen) or "none"
    return None if item.row is None or isinstance(item.row, InvalidRow) else item.row.answer


def _details(judgment: Judgment | None, public: Callable[[str], str]) -> dict[str, object]:
    if judgment is None:
        return {}
    whole = judgment.model_dump(mode="json", include=_DETAILS)
    for reply in whole["replies"]:
        reply["detail"] = reply["detail"] and public(reply["detail"])
    return {name: value for name, value in whole.items() if value not in (None, [])}


def _explained(item: Item, public: Callable[[str], str]) -> Iterator[str]:
    """Give the paragraphs (Markdown) that say how a score came about."""
    judgment = item.judgment
    if judgment is None:
        if isinstance(item.row, InvalidRow):
            yield public(item.row.message)
        return
    if judgment.message:
        yield public(judgment.message)
    for side, against in (("answer", "truth"), ("truth", "answer")):
        texts = {claim.id: claim.text for claim in judgment.claims if claim.side == side}
        texts |= {fact.id: fact.text for fact in judgment.facts if fact.side == side}
        lines = [
            _line(verdict, texts[verdict.claim_id])
            for verdict in judgment.verdicts
            if verdict.against == against and verdict.claim_id in texts
        ]
        if lines:
            yield f"Claims of the {side}, held against the {against}:\n\n" + "\n".join(lines)
    facts = {fact.id: fact.text for fact in judgment.facts}
    lines = [
        f"- **{verdict.label or verdict.unscored_reason}** {_flat(facts[verdict.fact_id])}"
        for verdict in judgment.fact_verdicts
        if verdict.fact_id in facts
    ]
    if lines:
        yield "Facts of the truth in the answer:\n\n" + "\n".join(lines)
    if judgment.choice is not None:
        right = ", ".join(judgment.choice.right) or "none"
        yield f"Chosen: {_answer(item)}. Right: {right}."
    yield from map(public, judgment.notes)


def _line(verdict: ClaimVerdict, claim: str) -> str:
    quote = ""
    if verdict.quote is not None:
        mark = "" if verdict.quote.match != "missing" else " (not in the text)"
        quote = f" — “{_flat(verdict.quote.text)}”{mark}"
    return f"- **{verdict.label or verdict.unscored_reason}** {_flat(claim)}{quote}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def result_scores(numbers: RunNumbers) -> list[dict[str, object]]:
    """Give the means of a run as Inspect's `EvalScore`s: the run's own, not computed afresh.

    Inspect's `stderr` with `cluster` is the same cluster-robust error. A mean or an error that is
    undefined is not there, for Inspect has no number that means "none".
    """
    return [_result(name, numbers.scores[name]) for name in shown_scores(numbers)]


def _result(name: str, score: ScoreNumbers) -> dict[str, object]:
    mean = score.mean
    metrics: dict[str, object] = {}
    if mean.value is not None:
        metrics["mean"] = {"name": "mean", "value": mean.value, "params": {}}
    if mean.error is not None:
        params = {"cluster": "task"}
        metrics["stderr"] = {"name": "stderr", "value": mean.error, "params": params}
    interval = None if mean.low is None else [mean.low, mean.high]
    return {
        "name": name,
        "scorer": name,
        "reducer": None,
        "scored_samples": mean.n,
        "unscored_samples": score.n_total - mean.n,
        "params": {},
        "metrics": metrics,
        "metadata": {
            "interval_95": interval,
            "no_interval_because": mean.reason,
            "n_tasks": mean.n_clusters,
            "unscored": dict(score.unscored),
        },
    }


def left_out(numbers: RunNumbers) -> Mapping[str, Mapping[str, int]]:
    """Give the scores that samples don't show, with the reasons why none has them."""
    shown = set(shown_scores(numbers))
    return {
        name: dict(score.unscored) for name, score in numbers.scores.items() if name not in shown
    }
