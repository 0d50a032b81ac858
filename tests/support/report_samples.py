"""Runs of every kind of judgment, made up for reports: facts, ratings, choices, and failures."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pydantic import JsonValue

from basanite.judges import choice_scores
from basanite.schema import (
    Answer,
    ChoiceReading,
    Claim,
    ClaimVerdict,
    Fact,
    FactLabel,
    FactVerdict,
    InvalidRow,
    Judgment,
    Label,
    Quote,
    RawReply,
    Score,
    UnscoredReason,
    Usage,
)

from .fake_runs import FINGERPRINT, FakeRun, make_manifest

AGENTS = ("reader", "coder", "planner", "baseline prompt")

_SKILL = {"reader": 0.62, "coder": 0.7, "planner": 0.48, "baseline prompt": 0.35}
_GENES = ("CD8A", "GNLY", "NKG7", "MS4A1", "LYZ", "PPBP", "FCER1A", "IL7R", "CST3", "S100A8")

_REASONS = (
    UnscoredReason.TIMEOUT,
    UnscoredReason.REPLY_CUT,
    UnscoredReason.EMPTY_ANSWER,
    UnscoredReason.NO_CLAIMS,
)


def agent_answers(n_tasks: int, *, labels: bool = True) -> list[Answer]:
    """Make an answer of each agent to each task; tasks are questions on single cells."""
    return [agent_answer(task, agent, labels=labels) for task in range(n_tasks) for agent in AGENTS]


def agent_answer(task: int, agent: str, *, labels: bool = True) -> Answer:
    """Make one agent's answer to one task."""
    gene = _GENES[task % len(_GENES)]
    share = 10 + 3 * task
    how = {
        "reader": "As the methods of the paper say, ",
        "coder": "Counted in the notebook after quality control, ",
        "planner": "It is known that ",
        "baseline prompt": "Probably, ",
    }[agent]
    answer = (
        f"{how}{gene} is expressed in {share} % of the cells of donor {task}. Stimulation raises "
        f"this share in CD8+ T cells but not in B cells, so that the gene marks activation."
    )
    grade = _quality(task, agent)
    return Answer(
        id=f"donor-{task:03d}/{agent.split(maxsplit=1)[0]}",
        question=f"In which cells of donor {task} is {gene} expressed, and what does stimulation "
        "change?",
        answer=answer,
        truth=f"{gene} is expressed in {share} % of all cells. On stimulation its share rises in "
        "CD8+ T cells and falls in monocytes, which marks activation.",
        task=f"donor {task}: {gene}",
        agent=agent,
        human={"expert_rating": round(1 + 4 * grade)} if labels else {},
    )


def _quality(task: int, agent: str) -> float:
    drawn = random.Random(f"{task}/{agent}")
    hard = random.Random(task).gauss(0, 0.13)
    return min(1.0, max(0.0, _SKILL[agent] + hard + drawn.gauss(0, 0.12)))


def _task(row: Answer) -> int:
    return int(row.id.partition("/")[0].removeprefix("donor-"))


def _quote(text: str, part: str) -> Quote:
    start = text.index(part)
    return Quote(text=part, match="exact", span=(start, start + len(part)))


def claims_run(
    rows: Sequence[Answer], *, judge: str = "claims", model: str = "Qwen3-8B", shift: float = 0.0
) -> FakeRun:
    """Make a run of the claims judge; `shift` is added to what it finds."""
    judged = [claims_judgment(row, judge, shift) for row in rows]
    return FakeRun(make_manifest(judge, model=model, rows=len(rows)), list(rows), judged)


def claims_judgment(row: Answer, judge: str = "claims", shift: float = 0.0) -> Judgment:
    """Make the claims judge's judgment of one answer."""
    noise = random.Random(f"{row.id}/{judge}/{shift}")
    base = _quality(_task(row), row.agent or "")
    precision = min(1.0, max(0.0, base + shift + noise.gauss(0, 0.06)))
    recall = min(1.0, max(0.0, base + shift - 0.08 + noise.gauss(0, 0.06)))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    scores = {"f1": f1, "precision": precision, "recall": recall}
    share = row.answer[row.answer.index("is expressed") : row.answer.index(" of the cells")]
    return Judgment(
        subject_id=row.id,
        subject_digest=row.digest,
        task=row.task,
        agent=row.agent,
        judge=judge,
        primary="f1",
        scores={
            **{name: Score(value=value) for name, value in scores.items()},
            "claim_recall": Score(unscored_reason=UnscoredReason.NO_CONTEXTS),
        },
        claims=(
            Claim(id="a1", side="answer", text=f"The gene {share} of the cells."),
            Claim(id="a2", side="answer", text="Stimulation leaves B cells as they are."),
            Claim(id="t1", side="truth", text="The share falls in monocytes."),
        ),
        verdicts=(
            ClaimVerdict(
                claim_id="a1",
                against="truth",
                label=Label.ENTAILED,
                quote=_quote(row.truth, "is expressed in"),
            ),
            ClaimVerdict(claim_id="a2", against="truth", label=Label.NEUTRAL),
            ClaimVerdict(
                claim_id="t1",
                against="answer",
                label=Label.CONTRADICTED if f1 < 0.4 else Label.NEUTRAL,
                quote=_quote(row.answer, "but not in B cells"),
            ),
        ),
        replies=(
            RawReply(role="extract:answer", text='{"claims": ["…"]}', finish_reason="stop"),
            RawReply(role="check:truth", text='{"a1": {"label": "entailed"}}', cached=True),
        ),
        usage=Usage(
            calls=3, cached_calls=1, prompt_tokens=1810, completion_tokens=240, seconds=2.4
        ),
        score_mode="labels",
        fingerprint=FINGERPRINT,
        human=row.human,
    )


def facts_run(rows: Sequence[Answer]) -> FakeRun:
    """Make a run of geval by facts: labels, quotes, and scores made from them."""
    options: dict[str, JsonValue] = {"mode": "facts"}
    manifest = make_manifest("geval", model="Qwen3-8B", rows=len(rows), options=options)
    return FakeRun(manifest, list(rows), [_facts(row) for row in rows])


def _facts(row: Answer) -> Judgment:
    quality = _quality(_task(row), row.agent or "")
    rating = float(1 + round(4 * quality))
    second = FactLabel.PARTIAL if quality > 0.5 else FactLabel.INCORRECT
    scores = {"rating": rating, "rating_literal": max(1.0, rating - 1), "coverage": quality}
    return Judgment(
        subject_id=row.id,
        subject_digest=row.digest,
        task=row.task,
        agent=row.agent,
        judge="geval",
        primary="rating",
        scores={name: Score(value=value) for name, value in scores.items()},
        facts=(
            Fact(id="a1", side="answer", condition="stimulation", trend="share rises in CD8+"),
            Fact(
                id="t1",
                side="truth",
                condition="all cells",
                trend="the gene is expressed",
                conclusion="in a share of them",
            ),
            Fact(
                id="t2",
                side="truth",
                condition="on stimulation",
                trend="rises in CD8+ T cells, falls in monocytes",
                conclusion="marks activation",
            ),
            Fact(id="t3", side="truth", conclusion="monocytes lose the gene"),
            Fact(id="t4", side="truth", conclusion="the donor was stimulated for six hours"),
        ),
        verdicts=(
            ClaimVerdict(
                claim_id="a1",
                against="truth",
                label=Label.ENTAILED,
                quote=_quote(row.truth, "rises in CD8+ T cells"),
            ),
        ),
        fact_verdicts=(
            FactVerdict(
                fact_id="t1",
                label=FactLabel.PRESENT,
                basis="data",
                quote=_quote(row.answer, "is expressed in"),
            ),
            FactVerdict(
                fact_id="t2",
                label=second,
                basis="recall",
                quote=_quote(row.answer, "Stimulation raises this share in CD8+ T cells"),
            ),
            FactVerdict(fact_id="t3", label=FactLabel.MISSING),
            FactVerdict(fact_id="t4", unscored_reason=UnscoredReason.REPLY_CUT),
        ),
        usage=Usage(calls=4, prompt_tokens=3100, completion_tokens=420, seconds=5.1),
        score_mode="facts",
        fingerprint=FINGERPRINT,
        human=row.human,
    )


def rating_run(rows: Sequence[Answer], *, low: int = 1, high: int = 5) -> FakeRun:
    """Make a run of geval by rating, weighted by token probabilities."""
    scale: dict[str, JsonValue] = {"low": low, "high": high}
    manifest = make_manifest(
        "geval",
        model="Qwen3-8B",
        rows=len(rows),
        options={"mode": "weighted", "scale": scale},
    )
    return FakeRun(manifest, list(rows), [_rating(row, low, high) for row in rows])


def _rating(row: Answer, low: int, high: int) -> Judgment:
    quality = _quality(_task(row), row.agent or "")
    middle = low + (high - low) * quality
    weights = {value: 2.0 ** -(2 * (value - middle) ** 2) for value in range(low, high + 1)}
    total = sum(weights.values())
    probabilities = {str(value): weight / total for value, weight in weights.items()}
    rating = sum(float(value) * p for value, p in probabilities.items())
    top = float(max(probabilities, key=probabilities.__getitem__))
    return Judgment(
        subject_id=row.id,
        subject_digest=row.digest,
        task=row.task,
        agent=row.agent,
        judge="geval",
        primary="rating",
        scores={"rating": Score(value=rating), "rating_top": Score(value=top)},
        probabilities=probabilities,
        probability_mass=0.94,
        replies=(RawReply(role="rate", text='{"rating": 4}', finish_reason="stop"),),
        usage=Usage(calls=1, prompt_tokens=900, completion_tokens=8, seconds=0.7),
        score_mode="weighted",
        fingerprint=FINGERPRINT,
        human=row.human,
    )


OPTIONS = {
    "A": "CD8+ T cells",
    "B": "B cells",
    "C": "Monocytes",
    "D": "Platelets",
}


def choice_run(n: int) -> FakeRun:
    """Make a run over multiple-choice questions: every third chosen wrongly, one choosing none."""
    rows = [
        Answer(
            id=f"mcq-{number:03d}",
            question="Which cells lose the gene on stimulation?",
            answer="(none of these)" if number == 1 else "The answer is AC.",
            truth="A, C" if number % 3 else "B",
            task=f"question {number}",
            agent="reader",
            options=OPTIONS,
        )
        for number in range(n)
    ]
    judged = [_choice(row, number) for number, row in enumerate(rows)]
    return FakeRun(make_manifest("choice", model="none", rows=n), list(rows), judged)


def _choice(row: Answer, number: int) -> Judgment:
    chosen = () if number == 1 else ("A", "C")
    right = ("A", "C") if number % 3 else ("B",)
    return Judgment(
        subject_id=row.id,
        subject_digest=row.digest,
        task=row.task,
        agent=row.agent,
        judge="choice",
        primary="accuracy",
        scores={name: Score(value=value) for name, value in choice_scores(chosen, right).items()},
        choice=ChoiceReading(chosen=chosen, right=right, options=len(OPTIONS)),
        score_mode="letters",
        fingerprint=FINGERPRINT,
    )


def every_kind() -> dict[str, FakeRun]:
    """Make a small run of each kind of judgment."""
    rows = agent_answers(3)
    return {
        "claims": claims_run(rows),
        "facts": facts_run(rows),
        "rating": rating_run(rows),
        "choice": choice_run(5),
    }


def failing_run(rows: Sequence[Answer]) -> FakeRun:
    """Make a run in which nearly nothing was scored, for many reasons, and which was stopped."""
    run = claims_run(rows)
    kept = max(1, len(rows) // 5)
    for place in range(kept, len(run.judged)):
        reason = _REASONS[place % len(_REASONS)]
        missing = Score(unscored_reason=reason)
        run.judged[place] = run.judged[place].model_copy(
            update={
                "scores": dict.fromkeys(("f1", "precision", "recall"), missing),
                "claims": (),
                "verdicts": (),
                "message": f"item {place}: the model gave nothing that could be used",
            }
        )
    del run.judged[-len(rows) // 8 :]
    run.rows.append(InvalidRow(id="row-999", row=999, message="truth is missing; give it one"))
    run.manifest["input"] = {"path": "answers.jsonl", "sha256": "c" * 64, "rows": len(rows) + 9}
    return run
