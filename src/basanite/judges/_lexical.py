"""The judge without a model: word overlap, the baseline that every other judge must beat.

Two forms. `token-f1` compares sets of lower-cased white-space tokens, each counted once and
the same. `weighted` compares sets of word stems without stop words, each weighted by how rare
it is among the run's own texts:

    weight(stem) = ln(1 + N / n)

with N the number of documents (each answer, and each distinct truth once) and n the number of
documents that hold the stem. A stem that no document holds, possible only for a text that the
judge was not fitted on, counts as held by one. The weight is above 0 also for a stem that all
documents hold, so that a run of one item has scores.

precision = overlap / answer, recall = overlap / truth, each as a count or a sum of weights.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import ClassVar, Literal

from pydantic import JsonValue

from ..errors import InputError, UnscoredReason
from ..schema import Answer, Fingerprint, Judgment, ModelIdentity, Score, canonical_json

LexicalForm = Literal["weighted", "token-f1"]

_Stem = Callable[[str], str]

PARSER_VERSION = "lexical-1"

_EDGES = ".,;:()[]\"'"
_WORD = re.compile(r"[^\W_]+")
_LONGEST_WORD = 64
"""Longer ones (sequences, encoded data) are no words: they are compared as they are. Stemming
one of ten million letters would take six seconds."""
_STOP_WORDS = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "but", "by"),
        *("for", "if", "in", "into", "is", "it", "no", "not", "of"),
        *("on", "or", "such", "that", "the", "their", "then", "there", "these"),
        *("they", "this", "to", "was", "will", "with"),
    }
)
"""Function words only: a longer list takes out words such as `more` and `below`, which carry
the finding, and agrees less with people's labels of correctness."""


class LexicalJudge:
    """Word overlap of answer and truth (a `Judge` without a model).

    The weighted form needs to see the run's texts once before it judges: call `fit`.

    Args:
        form: `weighted` or `token-f1`; the module's text defines both.
    """

    caveat: ClassVar[str] = (
        "Word overlap can't see a flipped direction or a negation: "
        "'A raises B' and 'A does not raise B' look alike to it."
    )

    def __init__(self, form: LexicalForm = "weighted") -> None:
        if form not in {"weighted", "token-f1"}:
            raise InputError(
                f"there is no lexical form {form!r}", todo="Choose weighted or token-f1"
            )
        self._form: LexicalForm = form
        self._documents = 0
        self._held_by: Counter[str] = Counter()
        self._weights: dict[str, float] = {}
        self._fingerprint: Fingerprint | None = None
        self._digest = ""

    @property
    def name(self) -> str:
        return "lexical"

    @property
    def score_names(self) -> tuple[str, ...]:
        return ("f1", "precision", "recall")

    @property
    def fingerprint(self) -> Fingerprint:
        """What this judge is; for the weighted form that includes the texts it was fitted on."""
        if self._fingerprint is None:
            options: dict[str, JsonValue] = {"form": self._form}
            if self._form == "weighted":
                options["documents"] = self._documents
                options["weights"] = _counts_digest(self._held_by)
            self._fingerprint = Fingerprint(
                judge=self.name,
                parser_version=PARSER_VERSION,
                model=ModelIdentity(name="none", kind="none"),
                options=options,
            )
            self._digest = self._fingerprint.digest
        return self._fingerprint

    def fit(self, subjects: Iterable[Answer]) -> None:
        """Count in how many of the run's texts each stem stands; replaces an earlier fit.

        Reads the subjects once and keeps counts only, not the texts. Nothing to do for
        `token-f1`.
        """
        self._fingerprint = None
        self._documents = 0
        self._held_by = Counter()
        if self._form != "weighted":
            return
        truths: set[bytes] = set()
        for subject in subjects:
            self._add_document(subject.answer)
            seen = hashlib.blake2b(subject.truth.encode("utf-8", "replace"), digest_size=16)
            if seen.digest() not in truths:
                truths.add(seen.digest())
                self._add_document(subject.truth)
        # Once per stem: a run of many answers asks for the same few thousand again and again.
        total = self._documents
        self._weights = {stem: _rarity(total, held_by) for stem, held_by in self._held_by.items()}

    def scores(self, answer: str, truth: str) -> dict[str, Score]:
        """Score one answer against one truth.

        Returns:
            `f1`, `precision` and `recall`; `undefined` where a text holds no word that counts,
            except that F1 is 0 where the truth's words are there and none of them is met.

        Raises:
            InputError: the weighted form has not been fitted.
        """
        if self._form == "token-f1":
            said, true = _tokens(answer), _tokens(truth)
            overlap, of_answer, of_truth = float(len(said & true)), len(said), len(true)
            return _scores(overlap, float(of_answer), float(of_truth))
        if not self._documents:
            raise InputError(
                "the weighted form weighs words by the run's own texts and has seen none",
                todo="Call fit() with the run's subjects first",
            )
        said, true = _stems(answer), _stems(truth)
        return _scores(self._weight(said & true), self._weight(said), self._weight(true))

    async def judge(self, subject: Answer) -> Judgment:
        fingerprint = self.fingerprint
        message = None
        if not subject.answer.strip():
            reason = UnscoredReason.EMPTY_ANSWER
            scores = dict.fromkeys(self.score_names, Score(unscored_reason=reason))
            message = "the answer holds nothing but white space"
        else:
            scores = self.scores(subject.answer, subject.truth)
            if scores["f1"].value is None:
                message = "a text holds no word that counts (stop words and punctuation only)"
        return Judgment(
            subject_id=subject.id,
            subject_digest=subject.digest,
            task=subject.task or subject.question,
            agent=subject.agent,
            trial=subject.trial,
            judge=fingerprint.judge,
            primary="f1",
            scores=scores,
            score_mode="token-overlap" if self._form == "token-f1" else "weighted-overlap",
            fingerprint=self._digest,
            message=message,
            notes=(self.caveat,),
            human=subject.human,
        )

    def _add_document(self, text: str) -> None:
        self._documents += 1
        self._held_by.update(_stems(text))

    def _weight(self, stems: frozenset[str]) -> float:
        weight, unseen = self._weights.get, _rarity(self._documents, 1)
        # Summed exactly, so that the order of a set (it differs between processes) can't
        # change the last digit.
        return math.fsum(weight(stem, unseen) for stem in stems)


def _rarity(documents: int, held_by: int) -> float:
    return math.log(1 + documents / held_by)


def _scores(overlap: float, of_answer: float, of_truth: float) -> dict[str, Score]:
    undefined = Score(unscored_reason=UnscoredReason.UNDEFINED)
    precision = Score(value=overlap / of_answer) if of_answer else undefined
    recall = Score(value=overlap / of_truth) if of_truth else undefined
    # 2PR / (P + R), written without the division by a precision that may be undefined.
    f1 = Score(value=2 * overlap / (of_answer + of_truth)) if of_truth else undefined
    return {"f1": f1, "precision": precision, "recall": recall}


def _tokens(text: str) -> frozenset[str]:
    return frozenset(token.strip(_EDGES) for token in text.lower().split()) - {""}


def _stems(text: str) -> frozenset[str]:
    words = set(_WORD.findall(text.lower())) - _STOP_WORDS
    return frozenset(word if len(word) > _LONGEST_WORD else _stem(word) for word in words)


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return _stemmer()(word)


@lru_cache(maxsize=1)
def _stemmer() -> _Stem:
    import snowballstemmer  # type: ignore[import-untyped]

    stem: _Stem = snowballstemmer.stemmer("english").stemWord
    return stem


def _counts_digest(counts: Mapping[str, int]) -> str:
    return hashlib.sha256(canonical_json(dict(counts)).encode("ascii")).hexdigest()
