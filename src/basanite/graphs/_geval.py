"""The graph `geval`: atomic facts of answer and truth, their labels, a score in code; or a rating.

Over facts (`FactParts`)::

    start ─┬─ extract ── check ── score ── end
           └──────────────────────┘

`extract` splits truth and answer into facts; the truth's are frozen per question, or given with
the input. `check` labels each fact of the truth by how the answer states it, and holds each fact of
the answer against the truth: what conflicts with nothing there is listed and costs nothing.
`score` computes the rating from the labels, and is all that an empty answer gets.

By a rating (`RatingParts`)::

    start ── rate ── end

Source: HeurekaBench's judge of open questions; G-Eval (Liu et al., EMNLP 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue, TypeAdapter

from ..errors import ItemError
from ..extractors import ClaimStore, Extraction, Extractor, FrozenClaims, Side
from ..judges import (
    FACT_SCORES,
    RATING_SCORES,
    EntailmentChecker,
    FactLabeller,
    Rater,
    fact_scores,
)
from ..llm import together
from ..schema import Answer, Claim, Fact, Fingerprint, Score
from ._as_judge import JudgeProfile
from ._fact_state import confronted, fact_outcomes, facts_of, given_facts, labelled
from ._plan import JudgePlan
from ._state import JudgeState
from ._updates import blank_text, dumped, failed_side, filled, joined

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

JUDGE = "geval"

_FACTS = TypeAdapter(list[Fact])


@dataclass(frozen=True, slots=True)
class FactParts:
    """What `geval` over facts is made of; extracting and checking may use different models."""

    extractor: Extractor
    """Gives condition, trend and conclusion, such as `ClaimExtractor` in the form `facts`."""
    labeller: FactLabeller
    """Labels the truth's facts by the answer."""
    checker: EntailmentChecker
    """Holds the answer's facts against the truth."""
    store: ClaimStore | None = None
    """Keeps the truths' facts; None keeps them in memory."""

    def profile(self) -> JudgeProfile:
        """Describe the judge that the graph is: its names and its fingerprint."""
        extracts, labels = self.extractor.identity, self.labeller.identity
        options: dict[str, JsonValue] = {
            "mode": "facts",
            **self.extractor.options,
            **self.labeller.options,
            **self.checker.options,
        }
        if extracts != labels:
            options["extract_model"] = extracts.model_dump(mode="json")
        if self.checker.identity != labels:
            options["check_model"] = self.checker.identity.model_dump(mode="json")
        names = ("extract_parser", "label_parser", "check_parser")
        fingerprint = Fingerprint(
            judge=JUDGE,
            parser_version="/".join(str(options.get(name, "none")) for name in names),
            prompts=self.extractor.prompts | self.labeller.prompts | self.checker.prompts,
            model=labels,
            sampling=self.labeller.sampling,
            options=options,
        )
        return JudgeProfile(fingerprint, FACT_SCORES, "facts")


@dataclass(frozen=True, slots=True)
class RatingParts:
    """What `geval` by a rating is made of."""

    rater: Rater

    def profile(self) -> JudgeProfile:
        """Describe the judge that the graph is: its names and its fingerprint."""
        rater = self.rater
        fingerprint = Fingerprint(
            judge=JUDGE,
            parser_version=rater.parser_version,
            prompts=rater.prompts,
            model=rater.model.identity,
            sampling=rater.sampling,
            options=rater.settings,
        )
        mode = rater.options.mode
        return JudgeProfile(fingerprint, RATING_SCORES[mode], mode)


def build_geval(
    parts: FactParts | RatingParts, *, checkpointer: BaseCheckpointSaver[str] | None = None
) -> CompiledStateGraph[JudgeState, None, JudgeState, JudgeState]:
    """Build the graph.

    Args:
        parts: of either kind.
        checkpointer: keeps the state between the steps. Judging many items needs none: a run's
            ledger makes each item durable at less cost.

    Returns:
        The compiled graph; input `{"subject": Answer as dumped}`, output `JudgeState`.
    """
    return geval_plan(parts).build(checkpointer)


def geval_plan(parts: FactParts | RatingParts) -> JudgePlan:
    """Give the graph's steps without LangGraph, for `as_judge` over many items."""
    if isinstance(parts, RatingParts):
        rating = _RatingNodes(parts.rater)
        return JudgePlan(JUDGE, {"rate": rating.rate}, rating.first)
    facts = _FactNodes(parts)
    steps = {"extract": facts.extract, "check": facts.check, "score": facts.score}
    return JudgePlan(JUDGE, steps, facts.first)


class _FactNodes:
    """The nodes over facts, with what they call."""

    def __init__(self, parts: FactParts) -> None:
        self._parts = parts
        self._frozen = FrozenClaims(parts.extractor, parts.store)

    async def first(self, state: JudgeState) -> Literal["extract", "score"]:
        """Choose the first node."""
        return "score" if blank_text(state["subject"]) else "extract"

    async def extract(self, state: JudgeState) -> JudgeState:
        subject = Answer.model_validate(state["subject"])
        return joined(await together([self._truth(subject), self._answer(subject)]))

    async def _truth(self, subject: Answer) -> JudgeState:
        if subject.truth_facts is not None:
            given = given_facts(subject.truth_facts, "truth")
            return filled({"facts": [fact.model_dump(mode="json") for fact in given]})
        try:
            extraction = await self._frozen.claims(subject.truth, subject.question)
        except ItemError as error:
            return failed_side("truth", "facts", error)
        return _extracted(extraction)

    async def _answer(self, subject: Answer) -> JudgeState:
        side: Side = "answer"
        try:
            extraction = await self._parts.extractor.extract(
                subject.answer, side=side, question=subject.question
            )
        except ItemError as error:
            return failed_side(side, "facts", error)
        return _extracted(extraction)

    async def check(self, state: JudgeState) -> JudgeState:
        subject = Answer.model_validate(state["subject"])
        facts = _FACTS.validate_python(state.get("facts", []))
        of_truth = [fact for fact in facts if fact.side == "truth"]
        of_answer = [
            Claim(id=fact.id, side="answer", text=fact.text)
            for fact in facts
            if fact.side == "answer"
        ]
        parts, question = self._parts, subject.question

        async def label() -> JudgeState:
            checked = await parts.labeller.check(
                of_truth, subject.answer, against="answer", question=question
            )
            return labelled(checked)

        async def confront() -> JudgeState:
            checked = await parts.checker.check(
                of_answer, subject.truth, against="truth", question=question
            )
            return confronted(checked)

        return joined(await together([label(), confront()]))

    async def score(self, state: JudgeState) -> JudgeState:
        blank = blank_text(state["subject"])
        if blank is not None:
            reason, problem = blank
            scores = dict.fromkeys(FACT_SCORES, Score(unscored_reason=reason))
            return {"scores": dumped(scores), "problems": [problem]}
        return {"scores": dumped(fact_scores(fact_outcomes(state)))}


class _RatingNodes:
    """The one node by a rating."""

    def __init__(self, rater: Rater) -> None:
        self._rater = rater

    async def first(self, state: JudgeState) -> Literal["rate"]:
        """Name the only node."""
        return "rate"

    async def rate(self, state: JudgeState) -> JudgeState:
        blank = blank_text(state["subject"])
        if blank is not None:
            reason, problem = blank
            names = RATING_SCORES[self._rater.options.mode]
            scores = dict.fromkeys(names, Score(unscored_reason=reason))
            return {"scores": dumped(scores), "problems": [problem]}
        rated = await self._rater.rate(Answer.model_validate(state["subject"]))
        update = filled(
            {
                "replies": [reply.model_dump(mode="json") for reply in rated.replies],
                "usage": rated.usage.model_dump(),
                "notes": list(rated.notes),
                "problems": list(rated.problems),
                "probabilities": rated.probabilities,
            }
        )
        if rated.mass is not None:  # also where it is 0
            update["probability_mass"] = rated.mass
        update["scores"] = dumped(rated.scores)
        return update


def _extracted(extraction: Extraction) -> JudgeState:
    return filled(
        {
            "facts": [fact.model_dump(mode="json") for fact in facts_of(extraction.claims)],
            "replies": [reply.model_dump(mode="json") for reply in extraction.replies],
            "usage": extraction.usage.model_dump(),
            "notes": list(extraction.notes),
        }
    )
