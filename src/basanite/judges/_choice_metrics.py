"""Scores of multiple choice: of one item, over many, as HeurekaBench counts, and of baselines.

With G the letters that are right and P those that were chosen:

    accuracy = 1 if P = G else 0
    recall = |P & G| / |G|    precision = |P & G| / |P|    f1 = 2 |P & G| / (|P| + |G|)

**Empty sets.** Where nothing is right and nothing was chosen, all four are 1. Where only one of the
two sets is empty, all four are 0: who chooses nothing finds nothing and must not leave the mean of
the precision. So every item that can be read has all four scores, and their means share one
denominator.

**As published.** HeurekaBench (its `evaluate_agent_answer.py`) counts otherwise: predictions are
split at commas and the parts are not stripped, so that "A, C" is wrong; accuracy is over all
questions, but recall, precision and F1 are over those that have a prediction. `PublishedMetrics`
does the same, for comparison with published figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

CHOICE_SCORES = ("accuracy", "recall", "precision", "f1")
"""Names of the scores of the choice judge, the primary one first."""

Letters = Iterable[str]


def choice_scores(chosen: Letters, right: Letters) -> dict[str, float]:
    """Score one item.

    Args:
        chosen: letters of the answer.
        right: letters of the truth.

    Returns:
        All names of `CHOICE_SCORES`, each from 0 to 1.
    """
    said, true = frozenset(chosen), frozenset(right)
    if not said or not true:
        return dict.fromkeys(CHOICE_SCORES, float(said == true))
    hits = len(said & true)
    return {
        "accuracy": float(said == true),
        "recall": hits / len(true),
        "precision": hits / len(said),
        "f1": 2 * hits / (len(said) + len(true)),
    }


def single_letter_scores(n_options: int, n_right: int) -> dict[str, float]:
    """Expected scores of one letter drawn at random, each with the same probability.

    Args:
        n_options: number of options, at least 1.
        n_right: how many of them are right.
    """
    if not n_right:
        return dict.fromkeys(CHOICE_SCORES, 0.0)
    hit = n_right / n_options
    return {
        "accuracy": 1 / n_options if n_right == 1 else 0.0,
        "recall": hit / n_right,
        "precision": hit,
        "f1": hit * 2 / (1 + n_right),
    }


def subset_scores(n_options: int, n_right: int) -> dict[str, float]:
    """Expected scores of a set drawn at random from all sets that are not empty.

    Each of the 2^n - 1 sets has the same probability. Summed over sets of i right and j wrong
    letters, of which there are C(k, i) C(n - k, j).

    Args:
        n_options: number of options n, at least 1.
        n_right: how many of them are right, k.
    """
    if not n_right:
        return dict.fromkeys(CHOICE_SCORES, 0.0)
    sets = 2**n_options - 1
    f1 = math.fsum(
        math.comb(n_right, i) * math.comb(n_options - n_right, j) * 2 * i / (i + j + n_right)
        for i in range(1, n_right + 1)
        for j in range(n_options - n_right + 1)
    )
    return {
        "accuracy": 1 / sets,
        "recall": 2 ** (n_options - 1) / sets,
        # By symmetry each letter of a drawn set is right with the same probability.
        "precision": n_right / n_options,
        "f1": f1 / sets,
    }


@dataclass
class ChoiceMeans:
    """Means of the four scores over items, gathered one by one."""

    _values: dict[str, list[float]] = field(
        default_factory=lambda: {name: [] for name in CHOICE_SCORES}
    )

    def add(self, scores: Mapping[str, float]) -> None:
        """Note one item's scores."""
        for name in CHOICE_SCORES:
            self._values[name].append(scores[name])

    @property
    def n(self) -> int:
        """Number of items: the one denominator."""
        return len(self._values[CHOICE_SCORES[0]])

    def values(self, name: str) -> list[float]:
        """Give one score of each item, in the order in which they came."""
        return self._values[name]

    def means(self) -> dict[str, float | None]:
        """Give the mean of each score; None without items."""
        return {
            name: math.fsum(values) / len(values) if values else None
            for name, values in self._values.items()
        }


Guess = Callable[[Mapping[str, str], frozenset[str]], dict[str, float]]


@dataclass
class ChoiceBaselines:
    """What answers without any thought reach on a set of questions, gathered one by one.

    ============== ==================================================================
    name           chooses
    ============== ==================================================================
    always_A, …    that letter; nothing where the question has no such option
    longest_option the option with most characters, the first of several
    all_letters    every option
    random_letter  one letter, each with the same probability (expected scores)
    random_set     a set that is not empty, each with the same probability (expected)
    ============== ==================================================================
    """

    _guesses: dict[str, ChoiceMeans] = field(
        default_factory=lambda: {name: ChoiceMeans() for name in _GUESSES}
    )
    # Letters only; which of them there are is known at the end.
    _keys: list[tuple[frozenset[str], frozenset[str]]] = field(default_factory=list)

    def add(self, options: Mapping[str, str], right: Letters) -> None:
        """Note one question.

        Args:
            options: letter to text.
            right: letters that are right.
        """
        true = frozenset(right)
        self._keys.append((frozenset(options), true))
        for name, guess in _GUESSES.items():
            self._guesses[name].add(guess(options, true))

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self._keys)

    def means(self) -> dict[str, dict[str, float | None]]:
        """Give the means of the four scores by baseline, always-X first."""
        found: dict[str, dict[str, float | None]] = {}
        for letter in sorted(frozenset().union(*(options for options, _ in self._keys))):
            means = ChoiceMeans()
            for options, true in self._keys:
                means.add(choice_scores({letter} & options, true))
            found[f"always_{letter}"] = means.means()
        return found | {name: means.means() for name, means in self._guesses.items()}


def longest_option(options: Mapping[str, str]) -> str:
    """Give the letter of the option with most characters, the first of several."""
    return max(sorted(options), key=lambda letter: len(options[letter]))


_GUESSES: dict[str, Guess] = {
    "longest_option": lambda options, true: choice_scores({longest_option(options)}, true),
    "all_letters": choice_scores,
    "random_letter": lambda options, true: single_letter_scores(len(options), len(true)),
    "random_set": lambda options, true: subset_scores(len(options), len(true)),
}


@dataclass
class PublishedMetrics:
    """HeurekaBench's figures, gathered one by one; the module's text says how they differ."""

    n_total: int = 0
    n_predicted: int = 0
    _correct: int = 0
    _hits: int = 0
    _said: int = 0
    _true: int = 0
    _macro: ChoiceMeans = field(default_factory=ChoiceMeans)

    def add(self, prediction: str | None, right: Letters) -> None:
        """Note one question.

        Args:
            prediction: the answer as it was written; None where there is none. One that is blank
                counts as a prediction, as it does there.
            right: letters that are right.
        """
        true = frozenset(right)
        self.n_total += 1
        if prediction is None:
            return
        self.n_predicted += 1
        said = frozenset(prediction.strip().split(","))
        scores = choice_scores(said, true)
        self._macro.add(scores)
        self._correct += said == true
        self._hits += len(said & true)
        self._said += len(said)
        self._true += len(true)

    def figures(self) -> dict[str, float | None]:
        """Give accuracy, macro and micro figures by name; None over nothing."""
        macro = self._macro.means()
        return {
            "published_accuracy": _share(self._correct, self.n_total),
            "published_recall": macro["recall"],
            "published_precision": macro["precision"],
            "published_f1": macro["f1"],
            "published_micro_recall": _share(self._hits, self._true),
            "published_micro_precision": _share(self._hits, self._said),
            "published_micro_f1": _share(2 * self._hits, self._said + self._true),
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
