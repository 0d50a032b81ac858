"""What is judged: an answer beside its ground truth."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field, JsonValue

from ._base import Model, digest


class Context(Model):
    """One retrieved passage that the answer was made from."""

    text: str
    doc_id: str | None = None
    """Identifier of the document that the passage comes from."""


class Answer(Model):
    """One answer to one question, with the truth it is held against (a judge's subject)."""

    schema_version: Literal[1] = 1
    id: str = Field(min_length=1)
    """Unique in its file; judgments are keyed by it."""
    question: str
    answer: str
    """What the agent concluded."""
    truth: str
    """What the source found."""
    contexts: tuple[Context, ...] | None = None
    """Retrieved passages, in order; None where the input has none."""
    task: str = ""
    """What intervals are clustered by; the question where the input names none."""
    agent: str | None = None
    trial: str | None = None
    human: dict[str, JsonValue] = Field(default_factory=dict)
    """People's labels by name; `{"score": x}` where the input holds one bare number."""
    answer_claims: tuple[str, ...] | None = None
    """Claims of the answer that the input already holds; None lets the judge extract them."""
    truth_claims: tuple[str, ...] | None = None
    """Claims of the truth that the input already holds; None lets the judge extract them."""
    truth_facts: tuple[tuple[str, str, str], ...] | None = None
    """Facts of the truth that the input already holds, each as condition, trend, conclusion."""
    options: dict[str, str] | None = None
    """Letter to text of each option, where it is a multiple-choice question."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that a judge sees (not agent, trial, task or human labels)."""
        seen = self.model_dump(
            mode="json",
            include={"question", "answer", "truth", "contexts", "answer_claims", "truth_claims"},
        )
        # Only where they are there: a row without them keeps the digest that it always had.
        seen |= self.model_dump(mode="json", include={"truth_facts", "options"}, exclude_none=True)
        return digest(seen)


class InvalidRow(Model):
    """A row of an input that can't be judged; it is counted as `invalid_row`, never dropped."""

    schema_version: Literal[1] = 1
    id: str
    """The row's id, or `row-N` (N from 1) where it has none that can be read."""
    row: int
    """Line (JSONL) or record number in the file, from 1."""
    message: str
    """What is wrong with the row and what to do."""
    task: str = ""
    agent: str | None = None
    trial: str | None = None
