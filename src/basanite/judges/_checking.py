"""Holding statements against a text: a label and a quote for each, keyed by its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Generic

from pydantic import JsonValue

from ..errors import ItemError, UnscoredReason
from ..llm import ASSUMED_CONTEXT_TOKENS, ChatModel, Window, together, windows_by_tokens
from ..schema import ModelIdentity, RawReply, Sampling, Usage
from ._asking import Asking, reply_tokens
from ._form import LabelForm, Statement, V
from ._opinion import Opinion, failed_opinion, merge_opinions


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Settings of `EntailmentChecker` and `FactLabeller`."""

    per_request: int = 5
    """Most statements in one request; 1 checks them one by one."""
    quote_chars: int = 160
    """Most characters of a quote, where the server enforces the schema."""
    max_windows: int = 64
    """Most windows of one text; a longer one is `too_long`."""
    id_rounds: int = 2
    """How often statements that a reply leaves out are asked for again."""
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Checked(Generic[V]):
    """The verdicts of one text on some statements, with all that it took to get them."""

    verdicts: dict[str, V] = field(default_factory=dict)
    """One for each statement, keyed by its id and in the order of the statements."""
    replies: tuple[RawReply, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What went wrong, in words, where a verdict has no label."""


class StatementChecker(Generic[V]):
    """Asks a model for a label of each statement against a text.

    Statements go into requests several at a time. A text that does not fit into the model's
    context is held against them in windows, and a statement's labels are merged by rank. Evidence
    that stands in two windows together is not seen; the notes say when a text was split.

    Args:
        form: prompt, labels and verdicts.
        model: whom to ask.
        options: see `CheckOptions`.
        replicate: number of the repeat; equal requests of another replicate are asked anew.
    """

    def __init__(
        self,
        form: LabelForm[V],
        model: ChatModel,
        options: CheckOptions | None = None,
        *,
        replicate: int = 0,
    ) -> None:
        self._form = form
        self._model = model
        self._options = options or CheckOptions()
        self._replicate = replicate

    @property
    def identity(self) -> ModelIdentity:
        """The model that is asked."""
        return self._model.identity

    @property
    def prompts(self) -> dict[str, str]:
        """Name of each prompt to its SHA-256."""
        return {self._form.role: self._form.prompt.sha256}

    @property
    def sampling(self) -> Sampling:
        """How replies are sampled; the limit of tokens is that of a full request in ASCII."""
        options = self._options
        return Sampling(
            temperature=options.temperature,
            seed=options.seed,
            max_tokens=reply_tokens(options.per_request, options.quote_chars),
        )

    @property
    def options(self) -> dict[str, JsonValue]:
        """Settings and parser version: all else that changes the labels."""
        role = self._form.role
        settings = {f"{role}_{name}": value for name, value in asdict(self._options).items()}
        return {f"{role}_parser": self._form.parser_version, **settings}

    async def check(
        self, claims: Sequence[Statement], text: str, *, against: str, question: str = ""
    ) -> Checked[V]:
        """Hold statements against one text.

        Never raises an `ItemError`: a statement whose check failed has a verdict with the reason
        instead of a label. A text of white space only says nothing of any statement, and the
        model is not asked.

        Args:
            claims: with unique ids.
            text: the truth, the answer or a context.
            against: which of them, as `ClaimVerdict.against` has it.
            question: what the text answers, for texts such as "Yes."; leave out for contexts.

        Raises:
            SetupError: the model can't be asked at all.
        """
        if not claims:
            return Checked()
        if not text.strip():
            return self._silent(claims, against)
        notes: list[str] = []
        if len(question.encode("utf-8", "replace")) > self._context():
            question = ""
            notes.append(f"the question is too long to stand beside the {against}: left out there")
        asking = self._asking(text, against, question)
        batches, too_long = self._batches(claims)
        opinions = [self._refused(too_long, against)] if too_long else []
        if batches:
            try:
                windows = await self._windows(text, asking, batches)
            except ItemError as error:
                kept = [claim for batch in batches for claim in batch]
                opinions.append(failed_opinion(self._form, kept, error, against))
            else:
                if len(windows) > 1:
                    notes.append(f"the {against} was checked in {len(windows)} windows")
                work = [asking.ask(batch, window) for window in windows for batch in batches]
                opinions += await together(work)
        merged = merge_opinions(self._form, opinions)
        return Checked(
            verdicts={claim.id: merged.verdicts[claim.id] for claim in claims},
            replies=merged.replies,
            usage=merged.usage,
            notes=tuple(dict.fromkeys((*notes, *merged.notes))),
            problems=tuple(dict.fromkeys(merged.problems)),
        )

    def _silent(self, claims: Sequence[Statement], against: str) -> Checked[V]:
        form = self._form
        verdicts = {one.id: form.verdict(one.id, against, form.silent, None) for one in claims}
        note = f"the {against} is empty: it says nothing of any {form.noun.removesuffix('s')}"
        return Checked(verdicts, notes=(note,))

    def _asking(self, text: str, against: str, question: str) -> Asking[V]:
        options = self._options
        # A character of a quote is a token at most, or as many as it has bytes in the text.
        density = len(text.encode("utf-8", "replace")) / max(1, len(text))
        return Asking(
            self._form,
            self._model,
            options,
            self._replicate,
            against,
            question,
            int(options.quote_chars * density),
        )

    def _context(self) -> int:
        return self._model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS

    def _batches(
        self, claims: Sequence[Statement]
    ) -> tuple[list[list[Statement]], list[Statement]]:
        """Group claims for one request each, by number and by size; and those that are too long.

        Claims may take a quarter of the context: the text, the rubric and the reply need room.
        """
        most = self._context() // 4
        batches: list[list[Statement]] = []
        too_long: list[Statement] = []
        room = 0
        for claim in claims:
            size = _tokens(claim.text) + 8
            if size > most:
                too_long.append(claim)
            elif batches and len(batches[-1]) < self._options.per_request and size <= room:
                batches[-1].append(claim)
                room -= size
            else:
                batches.append([claim])
                room = most - size
        return batches, too_long

    def _refused(self, claims: Sequence[Statement], against: str) -> Opinion[V]:
        one = self._form.noun.removesuffix("s")
        what = f"a {one} is too long for the model's context of {self._context()} tokens"
        where = ", ".join(claim.id for claim in claims)
        todo = f"Split the {one} or use a model with a longer context"
        error = ItemError(UnscoredReason.TOO_LONG, what, where=where, todo=todo)
        return failed_opinion(self._form, claims, error, against)

    async def _windows(
        self, text: str, asking: Asking[V], batches: Sequence[Sequence[Statement]]
    ) -> list[Window]:
        """Split the text by what the largest request leaves of the context."""
        options = self._options
        largest = max(sum(_tokens(claim.text) + 8 for claim in batch) for batch in batches)
        taken = largest + asking.overhead(max(len(batch) for batch in batches))
        return await windows_by_tokens(
            text,
            max(self._context() - taken, self._context() // 8),
            self._model.count_tokens,
            max_windows=options.max_windows,
            where=asking.against,
        )


def _tokens(text: str) -> int:
    """A cautious estimate, without asking anybody: three bytes a token."""
    return len(text.encode("utf-8", "replace")) // 3
