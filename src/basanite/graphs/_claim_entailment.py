"""The graph `claim_entailment`: claims of answer and truth, verdicts both ways, scores.

::

    start ─┬─ extract ─┬─ check ── score ── end
           ├───────────┘            │
           └────────────────────────┘

`extract` takes the claims out of the answer and the truth, and is skipped where the input holds
them; `check` holds the answer's claims against the truth, the truth's against the answer, and
both against each context, all at the same time; `score` computes the numbers from the labels,
and is all that an empty answer gets. What fails for one text is in the state as a reason, and
the rest goes on.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue, TypeAdapter

from ..errors import ItemError
from ..extractors import ClaimStore, Extractor, FrozenClaims, Side
from ..judges import (
    CLAIM_SCORES,
    Checked,
    Direction,
    EntailmentChecker,
    claim_scores,
    primary_score,
    unscored,
)
from ..llm import together
from ..schema import (
    Answer,
    Claim,
    ClaimVerdict,
    Fingerprint,
)
from ._as_judge import JudgeProfile
from ._claim_state import checked, given_claims, outcomes_of
from ._plan import JudgePlan
from ._state import JudgeState
from ._updates import blank_text, dumped, failed_side, joined

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

JUDGE = "claims"

_CLAIMS = TypeAdapter(list[Claim])
_SIDES: dict[Direction, tuple[Side, ...]] = {
    "both": ("answer", "truth"),
    "precision": ("answer",),
    "recall": ("truth",),
}


@dataclass(frozen=True, slots=True)
class ClaimParts:
    """What the graph is made of; extracting and checking may use different models."""

    extractor: Extractor
    checker: EntailmentChecker
    store: ClaimStore | None = None
    """Keeps the truths' claims; None keeps them in memory."""
    direction: Direction = "both"
    """Which claims are checked: of the answer (`precision`), of the truth (`recall`), both."""
    contexts: bool = True
    """Whether claims are also held against the contexts, where the subject has some."""

    def profile(self) -> JudgeProfile:
        """Describe the judge that the graph is: its names and its fingerprint."""
        extracts, checks = self.extractor.identity, self.checker.identity
        options: dict[str, JsonValue] = {
            **self.extractor.options,
            **self.checker.options,
            "direction": self.direction,
            "contexts": self.contexts,
        }
        if extracts != checks:
            options["extract_model"] = extracts.model_dump(mode="json")
        fingerprint = Fingerprint(
            judge=JUDGE,
            parser_version="/".join(
                str(options.get(name, "none")) for name in ("extract_parser", "check_parser")
            ),
            prompts=self.extractor.prompts | self.checker.prompts,
            model=checks,
            sampling=self.checker.sampling,
            options=options,
        )
        primary = primary_score(self.direction)
        others = tuple(name for name in CLAIM_SCORES if name != primary)
        return JudgeProfile(fingerprint, (primary, *others), "labels")


def build_claim_entailment(
    parts: ClaimParts, *, checkpointer: BaseCheckpointSaver[str] | None = None
) -> CompiledStateGraph[JudgeState, None, JudgeState, JudgeState]:
    """Build the graph.

    Args:
        parts: extractor, checker and settings.
        checkpointer: keeps the state between the steps. Judging many items needs none: a run's
            ledger makes each item durable at less cost.

    Returns:
        The compiled graph; input `{"subject": Answer as dumped}`, output `JudgeState`.
    """
    return claim_entailment_plan(parts).build(checkpointer)


def claim_entailment_plan(parts: ClaimParts) -> JudgePlan:
    """Give the graph's steps without LangGraph, for `as_judge` over many items."""
    nodes = _Nodes(parts)
    steps = {"extract": nodes.extract, "check": nodes.check, "score": nodes.score}
    return JudgePlan("claim_entailment", steps, nodes.first)


class _Nodes:
    """The nodes, with what they call."""

    def __init__(self, parts: ClaimParts) -> None:
        self._parts = parts
        self._frozen = FrozenClaims(parts.extractor, parts.store)
        self._sides: tuple[Side, ...] = _SIDES[parts.direction]

    async def first(self, state: JudgeState) -> Literal["extract", "check", "score"]:
        """Choose the first node: a step that has nothing to do costs time all the same.

        Async, since a plain function is called in a thread of its own, which costs more.
        """
        subject = state["subject"]
        if blank_text(subject):
            return "score"
        given = all(subject.get(f"{side}_claims") is not None for side in self._sides)
        return "check" if given else "extract"

    async def extract(self, state: JudgeState) -> JudgeState:
        subject = Answer.model_validate(state["subject"])
        work = [
            self._extract(subject, side)
            for side in self._sides
            if given_claims(subject, side) is None
        ]
        return joined(await together(work))

    async def _extract(self, subject: Answer, side: Side) -> JudgeState:
        try:
            if side == "truth":
                extraction = await self._frozen.claims(subject.truth, subject.question)
            else:
                extraction = await self._parts.extractor.extract(
                    subject.answer, side=side, question=subject.question
                )
        except ItemError as error:
            return failed_side(side, "claims", error)
        return {
            "claims": [claim.model_dump(mode="json") for claim in extraction.claims],
            "replies": [reply.model_dump(mode="json") for reply in extraction.replies],
            "usage": extraction.usage.model_dump(),
            "notes": list(extraction.notes),
        }

    async def check(self, state: JudgeState) -> JudgeState:
        subject = Answer.model_validate(state["subject"])
        claims = _CLAIMS.validate_python(state.get("claims", []))
        given = [one for side in self._sides for one in given_claims(subject, side) or ()]
        claims += given
        work = self._checks(subject, claims)
        return checked(await together(work) if work else [], given)

    def _checks(
        self, subject: Answer, claims: Sequence[Claim]
    ) -> list[Coroutine[object, object, Checked[ClaimVerdict]]]:
        """Every text with every side's claims that are held against it."""
        check, question = self._parts.checker.check, subject.question
        of_answer = [claim for claim in claims if claim.side == "answer"]
        of_truth = [claim for claim in claims if claim.side == "truth"]
        work = []
        if of_answer:
            work.append(check(of_answer, subject.truth, against="truth", question=question))
        if of_truth:
            work.append(check(of_truth, subject.answer, against="answer", question=question))
        for number, context in enumerate(subject.contexts or () if self._parts.contexts else ()):
            against = f"context:{number}"
            work += [
                # The question is left out: a context does not answer it, and without it one
                # context has the same prompt for every question.
                check(side, context.text, against=against)
                for side in (of_answer, of_truth)
                if side
            ]
        return work

    async def score(self, state: JudgeState) -> JudgeState:
        blank = blank_text(state["subject"])
        if blank is not None:
            reason, problem = blank
            return {"scores": dumped(unscored(reason)), "problems": [problem]}
        contexts = state["subject"].get("contexts")
        width = len(contexts) if isinstance(contexts, Sequence) else 0
        outcomes = outcomes_of(state, self._sides, width if self._parts.contexts else None)
        return {"scores": dumped(claim_scores(outcomes))}
