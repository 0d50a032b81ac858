"""What each reason for a missing score means, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UnscoredReason
from ..schema import NOT_JUDGED, NOT_REPORTED

_R = UnscoredReason


@dataclass(frozen=True, slots=True)
class Meaning:
    """One reason in plain words."""

    what: str
    """What happened; for an `UnscoredReason` its own docstring, which a test holds equal."""
    todo: str


_AGAIN = "Judge again with --resume: such items are tried again."

MEANINGS: dict[str, Meaning] = {
    _R.INVALID_ROW: Meaning(
        "The row of the input can't be used: a field is missing, empty or damaged.",
        "Mend the row; the item says which field.",
    ),
    _R.EMPTY_ANSWER: Meaning(
        "The answer holds nothing but white space.",
        "Look at the agent: did it end without an answer, or was the answer not collected?",
    ),
    _R.NO_CLAIMS: Meaning(
        "The text states nothing that could be checked, so a share over its claims is undefined.",
        "Read the answer. If it does state something, the extracting model is too weak.",
    ),
    _R.NO_CONTEXTS: Meaning(
        "The score needs retrieved contexts and the item has none.",
        "Give the rows their contexts, or don't ask for this score.",
    ),
    _R.UNDEFINED: Meaning(
        "The score's denominator is empty for this item.",
        "Nothing is wrong; the mean is over the other items.",
    ),
    _R.NOT_REQUESTED: Meaning(
        "The judge was told to leave this score out.",
        "Judge again with the option on, if it is wanted.",
    ),
    _R.TOO_LONG: Meaning(
        "The text would be split into more windows than the judge may use.",
        "Allow more windows, or use a model with a longer context.",
    ),
    _R.CONTEXT_OVERFLOW: Meaning(
        "The smallest possible request is longer than the model's context.",
        "Serve the model with a longer context.",
    ),
    _R.REPLY_CUT: Meaning(
        "The reply ended at its token limit (`finish_reason=length`), also with a larger one.",
        "Allow more tokens a reply; a weak model may also go on without end.",
    ),
    _R.REPLY_EMPTY: Meaning(
        "The reply holds no text.",
        "Look at the server's chat template and stop words.",
    ),
    _R.REPLY_INVALID: Meaning(
        "The reply could not be read as what was asked for, after bounded re-asks.",
        "Use a server that enforces JSON schemas, or a stronger model; the raw replies are kept.",
    ),
    _R.IDS_MISSING: Meaning(
        "The reply left ids out, after bounded re-asks.",
        "Use a server that enforces JSON schemas, or a stronger model.",
    ),
    _R.AMBIGUOUS_CHOICE: Meaning(
        "The answer does not say clearly which of the options it chooses, or names none of them.",
        "Read the answer. Ask the agent to end with a line such as `Answer: A, C`.",
    ),
    _R.NO_LOGPROBS: Meaning(
        "The reply can be read, but no log probabilities came for the token that was read.",
        "Ask `basanite doctor --endpoint URL` what the server has, or rate with --mode sampled.",
    ),
    _R.LOW_MASS: Meaning(
        "Too little of the model's probability fell on valid values for a weighted score.",
        "Read the raw reply: the model wanted to say something else. A stronger model may not.",
    ),
    _R.REFUSED: Meaning(
        "The endpoint's content filter stopped the reply.",
        "Read the item; another model or server may have no such filter.",
    ),
    _R.RATE_LIMITED: Meaning(
        "The endpoint kept answering 429 until the retries were used up.",
        f"Lower the concurrency. {_AGAIN}",
    ),
    _R.HTTP_ERROR: Meaning(
        "The endpoint kept answering with an HTTP error, or with something that is no reply.",
        f"Look at the server's log. {_AGAIN}",
    ),
    _R.CONNECTION_FAILED: Meaning(
        "No connection to the endpoint, or it broke off.",
        f"See that the server is up. {_AGAIN}",
    ),
    _R.TIMEOUT: Meaning(
        "The item or its last attempt ran into its deadline.",
        f"Allow more seconds an item, or lower the concurrency. {_AGAIN}",
    ),
    _R.SANDBOX_LOST: Meaning(
        "The sandbox itself broke, so what ran in it says nothing about the agent.",
        f"Run `basanite sandbox probe`. {_AGAIN}",
    ),
    _R.ARTIFACT_REJECTED: Meaning(
        "A file that had to come out of the sandbox is missing, or was not taken.",
        "Look at the result's list of rejected files and their reasons.",
    ),
    _R.GRADER_FAILED: Meaning(
        "The task's grader broke, ran into a limit, or gave something that is no grade.",
        "Mend the grader: also for artifacts that are damaged it must write a grade.",
    ),
    _R.INTERNAL_ERROR: Meaning(
        "A bug in the judge's code; the log holds the traceback.",
        "Report it with the traceback. A later version tries the item again with --resume.",
    ),
    NOT_JUDGED: Meaning(
        "The run was stopped before it came to this row.",
        "Go on with --resume. Rows that were not even read are in no list below.",
    ),
    NOT_REPORTED: Meaning(
        "The item's judgment does not have this score, although others of the run do.",
        "The run mixes judgments of different versions: judge into a new folder.",
    ),
}
