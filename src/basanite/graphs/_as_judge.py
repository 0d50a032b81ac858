"""A judge's graph as a `Judge`: what command line, ablations and services all call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from ..errors import ItemError
from ..judges import Judge
from ..llm import replies_of, usage_of
from ..schema import Answer, Fingerprint, Judgment, Score
from ._plan import JudgePlan
from ._state import Json, JudgeState

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    JudgeGraph = CompiledStateGraph[JudgeState, None, JudgeState, JudgeState]


@dataclass(frozen=True, slots=True)
class JudgeProfile:
    """What a graph does not say of itself."""

    fingerprint: Fingerprint
    score_names: tuple[str, ...]
    """Names of the scores, the primary one first."""
    score_mode: str
    """How the primary score is made, for `Judgment.score_mode`."""


def as_judge(graph: JudgeGraph | JudgePlan, profile: JudgeProfile) -> Judge:
    """Wrap a compiled graph, or the plan that it is built from, as a judge.

    Args:
        graph: takes `{"subject": …}` and leaves a `JudgeState` with scores.
        profile: names and fingerprint, such as `ClaimParts.profile()`.
    """
    return _GraphJudge(graph, profile)


class _GraphJudge:
    def __init__(self, graph: JudgeGraph | JudgePlan, profile: JudgeProfile) -> None:
        self._graph = graph
        self._profile = profile
        self._digest = profile.fingerprint.digest

    @property
    def name(self) -> str:
        return self._profile.fingerprint.judge

    @property
    def fingerprint(self) -> Fingerprint:
        return self._profile.fingerprint

    @property
    def score_names(self) -> tuple[str, ...]:
        return self._profile.score_names

    async def judge(self, subject: Answer) -> Judgment:
        seen = subject.model_dump(mode="json", exclude={"human", "agent", "trial"})
        try:
            state = await self._graph.ainvoke({"subject": seen}, self._config())
        except ItemError as error:
            return self._judgment(subject, self._failed(error))
        return self._judgment(subject, state)

    def _config(self) -> RunnableConfig | None:
        # With a checkpointer each judgment is a thread of its own: a second judgment of the
        # same subject must not add to the state of the first.
        if self._graph.checkpointer is None:
            return None
        return {"configurable": {"thread_id": uuid4().hex}}

    def _judgment(self, subject: Answer, state: dict[str, object]) -> Judgment:
        problems = state.get("problems") or ()
        message = "; ".join(dict.fromkeys(map(str, problems))) if isinstance(problems, list) else ""
        return Judgment.model_validate(
            {
                "subject_id": subject.id,
                "subject_digest": subject.digest,
                "task": subject.task or subject.question,
                "agent": subject.agent,
                "trial": subject.trial,
                "judge": self.name,
                "primary": self._profile.score_names[0],
                "scores": state["scores"],
                "claims": state.get("claims", ()),
                "verdicts": state.get("verdicts", ()),
                "facts": state.get("facts", ()),
                "fact_verdicts": state.get("fact_verdicts", ()),
                "replies": state.get("replies", ()),
                "usage": state.get("usage") or {},
                "score_mode": self._profile.score_mode,
                "probability_mass": state.get("probability_mass"),
                "probabilities": state.get("probabilities"),
                "fingerprint": self._digest,
                "message": message or None,
                "notes": state.get("notes", ()),
                "human": subject.human,
            }
        )

    def _failed(self, error: ItemError) -> dict[str, object]:
        score = Score(unscored_reason=error.reason).model_dump(mode="json")
        scores: Json = dict.fromkeys(self._profile.score_names, score)
        return {
            "scores": scores,
            "problems": [str(error)],
            "replies": [reply.model_dump(mode="json") for reply in replies_of(error)],
            "usage": usage_of(error).model_dump(),
        }
