"""A set of multiple-choice questions: its baselines, and the scores of predictions for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from ..errors import InputError, ItemError
from ..stats import clustered_mean
from ._choice_file import ChoiceQuestion
from ._choice_metrics import (
    CHOICE_SCORES,
    ChoiceBaselines,
    ChoiceMeans,
    PublishedMetrics,
    choice_scores,
    longest_option,
)
from ._letters import read_letters

SCHEMA = "basanite.choice_metrics/1"
NO_PREDICTION = "no_prediction"
"""Counted for a question that the predictions leave out."""

Writer = Callable[[Mapping[str, str]], str]


def choice_set(
    questions: Sequence[ChoiceQuestion], predictions: Mapping[str, str] | None = None
) -> dict[str, JsonValue]:
    """Compute what a set of questions gives to answers without thought, and to predictions.

    Args:
        questions: with ids that are unique.
        predictions: answer as it was written, by the question's id; None for none at all.

    Returns:
        The envelope `basanite.choice_metrics/1`; shares from 0 to 1, null over nothing.
        `baselines` holds the four scores by name, with HeurekaBench's figures where the baseline
        writes letters down. `predictions` is null or holds `n_scored`, the reasons of what is
        `unscored`, the scores over the scored questions with their intervals clustered by
        `task`, and HeurekaBench's figures over all predictions.

    Raises:
        InputError: there are no questions, or predictions for questions that are not there.
    """
    if not questions:
        raise InputError("there are no questions", todo="Give at least one.")
    baselines = ChoiceBaselines()
    for question in questions:
        baselines.add(question.options, question.right)
    found: dict[str, JsonValue] = {}
    for name, means in baselines.means().items():
        write = _writer(name)
        found[name] = {**means, **({} if write is None else _published(questions, write))}
    return {
        "schema": SCHEMA,
        "n_total": len(questions),
        "baselines": found,
        "predictions": None if predictions is None else _scored(questions, predictions),
    }


def _scored(
    questions: Sequence[ChoiceQuestion], predictions: Mapping[str, str]
) -> dict[str, JsonValue]:
    strangers = sorted(predictions.keys() - {question.id for question in questions})
    if strangers:
        named = ", ".join(map(repr, strangers[:3]))
        raise InputError(
            f"{len(strangers)} predictions are for questions that the file does not hold: {named}",
            todo="Ids are those of the rows, or PAPER/INSIGHT/QuestionN.",
        )
    means, published = ChoiceMeans(), PublishedMetrics()
    unscored: Counter[str] = Counter()
    tasks: list[str] = []
    for question in questions:
        prediction = predictions.get(question.id)
        published.add(prediction, question.right)
        if prediction is None:
            unscored[NO_PREDICTION] += 1
            continue
        try:
            chosen = read_letters(prediction, question.options)
        except ItemError as error:
            unscored[error.reason.value] += 1
            continue
        means.add(choice_scores(chosen, question.right))
        tasks.append(question.task)
    scores: dict[str, JsonValue] = {}
    for name in CHOICE_SCORES:
        estimate = clustered_mean(means.values(name), tasks)
        scores[name] = estimate.value
        known = estimate.low is not None and estimate.high is not None
        scores[f"{name}_interval"] = [estimate.low, estimate.high] if known else None
    return {
        "n_scored": means.n,
        "n_total": len(questions),
        "n_tasks": len(set(tasks)),
        "unscored": dict(sorted(unscored.items())),
        **scores,
        "n_predicted": published.n_predicted,
        **published.figures(),
    }


def _published(questions: Sequence[ChoiceQuestion], write: Writer) -> dict[str, float | None]:
    published = PublishedMetrics()
    for question in questions:
        published.add(write(question.options), question.right)
    return published.figures()


def _writer(baseline: str) -> Writer | None:
    """Give what a baseline writes down; None for one whose scores are expected values."""
    if baseline == "all_letters":
        return ",".join
    if baseline == "longest_option":
        return longest_option
    letter = baseline.removeprefix("always_")
    return None if letter == baseline else lambda options: letter
