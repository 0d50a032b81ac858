"""Runs made up in memory, in the shape that reports read (`RunView`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from basanite.schema import (
    Answer,
    Claim,
    ClaimVerdict,
    Context,
    InvalidRow,
    Judgment,
    Label,
    Quote,
    RawReply,
    Score,
    UnscoredReason,
    Usage,
)

FINGERPRINT = "f" * 64

_TRUTH = (
    "CD8+ T cells make up {n} % of the sample. Their share falls when the doublet filter is "
    "applied before normalisation."
)
_ANSWERS = (
    "CD8+ T cells are {n} % of all cells, and filtering doublets first lowers that share.",
    "About {n} % of the cells are CD8+ T cells. The doublet filter does not matter.",
    "CD8+ T cells are rare. The doublet filter raises their share.",
)


@dataclass
class FakeRun:
    """A run that is held in memory."""

    manifest: dict[str, JsonValue]
    rows: list[Answer | InvalidRow] = field(default_factory=list)
    judged: list[Judgment] = field(default_factory=list)

    def judgments(self) -> Iterator[Judgment]:
        return iter(self.judged)

    def answers(self) -> Iterator[Answer | InvalidRow]:
        return iter(self.rows)


def make_manifest(
    judge: str = "claims",
    *,
    model: str = "SmolLM2-135M-Instruct",
    rows: int = 0,
    options: dict[str, JsonValue] | None = None,
) -> dict[str, JsonValue]:
    kind = "none" if model == "none" else "embedded"
    return {
        "schema_version": 1,
        "run": f"{judge}-0123456789abcdef",
        "created": "2026-11-02T10:00:00+00:00",
        "basanite": "0.1.0",
        "command": ["basanite", "judge", judge, "answers.jsonl", "-o", "run"],
        "judge": {
            "judge": judge,
            "model": {"name": model, "kind": kind, "engine": "llama.cpp", "dtype": "unknown"},
            "options": options or {},
        },
        "fingerprint_digest": FINGERPRINT,
        "endpoint": None if model == "none" else "http://127.0.0.1:8080/v1",
        "input": {"path": "answers.jsonl", "sha256": "a" * 64, "rows": rows},
    }


def make_answer(number: int, **changes: object) -> Answer:
    """Make answer `number`: three answers of falling quality to each task."""
    task, grade = divmod(number, 3)
    values: dict[str, object] = {
        "id": f"pbmc-{task:02d}-{'abc'[grade]}",
        "question": f"What share of sample {task} are CD8+ T cells, and what moves it?",
        "answer": _ANSWERS[grade].format(n=10 + task),
        "truth": _TRUTH.format(n=10 + task),
        "task": f"sample {task}",
        "agent": ("reader", "coder")[number % 2],
        "human": {"author_quality": 1 - grade / 2},
        "contexts": (Context(text=f"Methods of sample {task}.", doc_id="paper-1"),),
    }
    return Answer.model_validate(values | changes)


def make_judgment(answer: Answer, score: float = 0.5, **changes: object) -> Judgment:
    """Make a judgment with claims, verdicts, quotes and raw replies."""
    values: dict[str, object] = {
        "subject_id": answer.id,
        "subject_digest": answer.digest,
        "task": answer.task,
        "agent": answer.agent,
        "judge": "claims",
        "primary": "f1",
        "scores": {
            "f1": Score(value=score),
            "precision": Score(value=min(1.0, score + 0.1)),
            "recall": Score(value=max(0.0, score - 0.1)),
        },
        "claims": (
            Claim(id="a1", side="answer", text="CD8+ T cells are a share of the cells."),
            Claim(
                id="t1",
                side="truth",
                text="The doublet filter lowers the share.",
                triplet=("doublet filter", "lowers", "share"),
            ),
        ),
        "verdicts": (
            ClaimVerdict(
                claim_id="a1",
                against="truth",
                label=Label.ENTAILED,
                quote=Quote(text="CD8+ T cells make up", match="exact", span=(0, 20)),
            ),
            ClaimVerdict(
                claim_id="t1",
                against="answer",
                label=Label.CONTRADICTED,
                quote=Quote(text="the filter is harmless", match="missing"),
            ),
            ClaimVerdict(
                claim_id="a1", against="context:0", unscored_reason=UnscoredReason.TIMEOUT
            ),
        ),
        "replies": (
            RawReply(
                role="check:truth",
                text='{"a1": {"quote"',
                finish_reason="length",
                error=UnscoredReason.REPLY_CUT,
                detail="ended within a string",
            ),
            RawReply(role="check:truth", text='{"a1": {"label": "entailed"}}', cached=True),
        ),
        "usage": Usage(calls=3, cached_calls=1, prompt_tokens=800, completion_tokens=60, seconds=2),
        "score_mode": "labels",
        "fingerprint": FINGERPRINT,
        "human": answer.human,
    }
    return Judgment.model_validate(values | changes)


def make_unscored(answer: Answer, reason: UnscoredReason, message: str = "no reply") -> Judgment:
    missing = Score(unscored_reason=reason)
    return make_judgment(
        answer,
        scores={"f1": missing, "precision": missing, "recall": missing},
        claims=(),
        verdicts=(),
        message=message,
    )


def make_run(
    n: int = 30, *, judge: str = "claims", scores: Sequence[float] = (0.9, 0.55, 0.1)
) -> FakeRun:
    """Make a run of `n` scored answers; scores repeat in the order of the answers."""
    rows = [make_answer(number) for number in range(n)]
    judged = [
        make_judgment(row, min(1.0, scores[i % len(scores)] + (i % 7) * 0.012), judge=judge)
        for i, row in enumerate(rows)
    ]
    return FakeRun(make_manifest(judge, rows=n), list(rows), judged)
