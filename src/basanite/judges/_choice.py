"""The judge of multiple choice: letters read in code, scored as sets; no model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InputError, ItemError, RowError, UnscoredReason
from ..schema import Answer, ChoiceReading, Fingerprint, Judgment, ModelIdentity, Score
from ._choice_metrics import CHOICE_SCORES, choice_scores
from ._letters import PARSER_VERSION as LETTERS_VERSION
from ._letters import read_letter_list, read_letters

CHOICE_JUDGE = "choice"
PARSER_VERSION = f"choice-1 {LETTERS_VERSION}"


@dataclass(frozen=True, slots=True)
class ChoiceKey:
    """A multiple-choice question as it is scored: its options, and which are right."""

    options: Mapping[str, str]
    right: tuple[str, ...]

    @classmethod
    def of(cls, subject: Answer) -> ChoiceKey:
        """Read a row's options and its truth, strictly.

        Raises:
            RowError: the row has no options, or its truth is no list of them; names the row.
        """
        where = f"row with id {subject.id!r}"
        if subject.options is None:
            raise RowError(
                "has no options, so it is no multiple-choice question",
                where=where,
                todo="Give it `options`: a list of texts, or an object of letters and texts",
            )
        try:
            right = read_letter_list(subject.truth, subject.options)
        except ItemError as error:
            raise RowError(
                f"the truth can't be used: {error.what}",
                where=where,
                todo="Give letters such as A,C, or none",
            ) from None
        return cls(subject.options, right)


class ChoiceJudge:
    """Accuracy (the exact set), recall, precision and F1 of chosen options (a `Judge`).

    Formulas, and what empty sets count as, stand at `choice_scores`. An answer that does not say
    clearly what it chooses is `ambiguous_choice`; a row without options, or with a truth that is
    no list of their letters, is `invalid_row`.
    """

    def __init__(self) -> None:
        self._fingerprint = Fingerprint(
            judge=CHOICE_JUDGE,
            parser_version=PARSER_VERSION,
            model=ModelIdentity(name="none", kind="none"),
        )
        self._digest = self._fingerprint.digest

    @property
    def name(self) -> str:
        return CHOICE_JUDGE

    @property
    def score_names(self) -> tuple[str, ...]:
        return CHOICE_SCORES

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    def read(self, subject: Answer) -> ChoiceReading:
        """Read the letters of a row's answer and truth.

        Raises:
            RowError: see `ChoiceKey.of`.
            ItemError: see `read_letters`.
        """
        key = ChoiceKey.of(subject)
        chosen = read_letters(subject.answer, key.options)
        return ChoiceReading(chosen=chosen, right=key.right, options=len(key.options))

    async def judge(self, subject: Answer) -> Judgment:
        reading: ChoiceReading | None = None
        message: str | None = None
        try:
            reading = self.read(subject)
        except InputError as error:
            scores, message = _unscored(UnscoredReason.INVALID_ROW), str(error)
        except ItemError as error:
            scores, message = _unscored(error.reason), str(error)
        else:
            values = choice_scores(reading.chosen, reading.right)
            scores = {name: Score(value=value) for name, value in values.items()}
        return Judgment(
            subject_id=subject.id,
            subject_digest=subject.digest,
            task=subject.task or subject.question,
            agent=subject.agent,
            trial=subject.trial,
            judge=self.name,
            primary=CHOICE_SCORES[0],
            scores=scores,
            choice=reading,
            score_mode="letters",
            fingerprint=self._digest,
            message=message,
            human=subject.human,
        )


def _unscored(reason: UnscoredReason) -> dict[str, Score]:
    return dict.fromkeys(CHOICE_SCORES, Score(unscored_reason=reason))
