"""How the judges of the command line are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import InputError
from ..extractors import ClaimExtractor, ExtractOptions, Extractor, LedgerClaims, SentenceSplitter
from ..graphs import (
    ClaimParts,
    FactParts,
    RatingParts,
    as_judge,
    claim_entailment_plan,
    geval_plan,
)
from ..judges import (
    CheckOptions,
    ChoiceJudge,
    ChoiceKey,
    Direction,
    EntailmentChecker,
    FactLabeller,
    Judge,
    LexicalForm,
    LexicalJudge,
    Rater,
    RatingOptions,
)
from ..llm import ChatModel
from ..schema import Answer, Fingerprint
from ..store import InputFile, RunFolder


@dataclass(frozen=True, slots=True)
class ClaimsOptions:
    """Settings of the claims judge."""

    direction: Direction = "both"
    """Which claims are checked: of the answer (precision), of the truth (recall), or both."""
    claims_by: Literal["model", "sentences"] = "model"
    """Who splits a text into claims."""
    triplets: bool = False
    """Ask for claims as subject, relation, object."""
    per_request: int = 5
    """Most claims checked in one request."""


class ClaimsRecipe:
    """The claims judge over a model; the truths' claims are frozen in the run's ledger.

    Args:
        model: checks claims.
        options: see `ClaimsOptions`.
        extract: takes claims out of texts; None takes the same model.
    """

    def __init__(
        self,
        model: ChatModel,
        options: ClaimsOptions | None = None,
        *,
        extract: ChatModel | None = None,
    ) -> None:
        options = options or ClaimsOptions()
        checker = EntailmentChecker(model, CheckOptions(per_request=options.per_request))
        extractor = _extractor(extract or model, options)
        self._parts = ClaimParts(extractor, checker, direction=options.direction)
        self._profile = self._parts.profile()

    @property
    def fingerprint(self) -> Fingerprint:
        return self._profile.fingerprint

    def judge_in(self, folder: RunFolder) -> Judge:
        parts = replace(self._parts, store=LedgerClaims(folder.ledger, folder.run))
        return as_judge(claim_entailment_plan(parts), self._profile)


class FactsRecipe:
    """`geval` over facts; the truths' facts are frozen in the run's ledger.

    Args:
        model: labels and checks facts.
        extract: takes facts out of texts; None takes the same model.
    """

    def __init__(self, model: ChatModel, *, extract: ChatModel | None = None) -> None:
        self._parts = FactParts(
            ClaimExtractor(extract or model, ExtractOptions(form="facts")),
            FactLabeller(model),
            EntailmentChecker(model),
        )
        self._profile = self._parts.profile()

    @property
    def fingerprint(self) -> Fingerprint:
        return self._profile.fingerprint

    def judge_in(self, folder: RunFolder) -> Judge:
        parts = replace(self._parts, store=LedgerClaims(folder.ledger, folder.run))
        return as_judge(geval_plan(parts), self._profile)


class RatingRecipe:
    """`geval` by a rating.

    Args:
        model: rates.
        options: see `RatingOptions`.

    Raises:
        CapabilityError: the mode needs log probabilities and the model gives none.
    """

    def __init__(self, model: ChatModel, options: RatingOptions | None = None) -> None:
        self._parts = RatingParts(Rater(model, options))
        self._profile = self._parts.profile()

    @property
    def fingerprint(self) -> Fingerprint:
        return self._profile.fingerprint

    def judge_in(self, folder: RunFolder) -> Judge:
        return as_judge(geval_plan(self._parts), self._profile)


class LexicalRecipe:
    """The lexical judge, fitted on the answers and truths of a file."""

    def __init__(self, source: InputFile, form: LexicalForm = "weighted") -> None:
        self._judge = LexicalJudge(form)
        self._judge.fit(_valid(source))

    @property
    def fingerprint(self) -> Fingerprint:
        return self._judge.fingerprint

    def judge_in(self, folder: RunFolder) -> Judge:
        return self._judge


class ChoiceRecipe:
    """The judge of multiple choice.

    Raises:
        InputError: no row of the file has options and a truth that names them.
    """

    def __init__(self, source: InputFile) -> None:
        self._judge = ChoiceJudge()
        problem: InputError | None = None
        for row in _valid(source):
            try:
                ChoiceKey.of(row)
            except InputError as error:
                problem = problem or error
            else:
                return
        raise InputError(
            f"no row is a multiple-choice question that can be scored ({problem or 'all invalid'})",
            where=str(source.path),
            todo="Give rows with `options`, and letters as their `truth`.",
        )

    @property
    def fingerprint(self) -> Fingerprint:
        return self._judge.fingerprint

    def judge_in(self, folder: RunFolder) -> Judge:
        return self._judge


def _extractor(model: ChatModel, options: ClaimsOptions) -> Extractor:
    if options.claims_by == "sentences":
        return SentenceSplitter()
    return ClaimExtractor(model, ExtractOptions(form="triplets" if options.triplets else "claims"))


def _valid(source: InputFile) -> Iterable[Answer]:
    return (row for _, row in source.answers() if isinstance(row, Answer))
