"""Every error that basanite raises, in one tree.

::

    BasaniteError
    ├── InputError             bad input or usage                          exit 2
    │   ├── RowError           one row of an input; the run goes on without it
    │   ├── CapabilityError    the endpoint can't do what was asked of it
    │   └── PolicyError        a sandbox's specification contradicts itself or the machine
    ├── SetupError             this machine or its services lack something exit 3
    │   ├── MissingExtra       an optional dependency is not installed
    │   ├── EndpointError      a model endpoint can't be reached or used
    │   ├── StorageError       the ledger or the cache can't be read or written
    │   └── SandboxUnavailable no sandbox can be had here
    │       └── IsolationFloorNotMet   one can be had, but a weaker one than was asked for
    └── ItemError              one item could not be scored; never ends a run
        ├── CallError          no usable reply came: network, HTTP, deadline
        ├── ReplyError         a reply came and could not be used
        ├── SandboxLost        the sandbox itself broke; what ran in it tells nothing
        ├── ArtifactRejected   a file that was asked for is missing or was not taken
        └── GraderFailed       a grader gave no valid grade

An error says *what* is wrong, *where* (file, row, item, address) and *what to do*.
`ItemError` also carries the `UnscoredReason` that is counted in summaries: a failure has a
name there and is never a number.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class UnscoredReason(StrEnum):
    """Why an item, or one of its scores, has no value."""

    INVALID_ROW = "invalid_row"
    """The row of the input can't be used: a field is missing, empty or damaged."""
    EMPTY_ANSWER = "empty_answer"
    """The answer holds nothing but white space."""
    NO_CLAIMS = "no_claims"
    """The text states nothing that could be checked, so a share over its claims is undefined."""
    NO_CONTEXTS = "no_contexts"
    """The score needs retrieved contexts and the item has none."""
    AMBIGUOUS_CHOICE = "ambiguous_choice"
    """The answer does not say clearly which of the options it chooses, or names none of them."""
    UNDEFINED = "undefined"
    """The score's denominator is empty for this item."""
    NOT_REQUESTED = "not_requested"
    """The judge was told to leave this score out."""
    TOO_LONG = "too_long"
    """The text would be split into more windows than the judge may use."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The smallest possible request is longer than the model's context."""
    REPLY_CUT = "reply_cut"
    """The reply ended at its token limit (`finish_reason=length`), also with a larger one."""
    REPLY_EMPTY = "reply_empty"
    """The reply holds no text."""
    REPLY_INVALID = "reply_invalid"
    """The reply could not be read as what was asked for, after bounded re-asks."""
    IDS_MISSING = "ids_missing"
    """The reply left ids out, after bounded re-asks."""
    NO_LOGPROBS = "no_logprobs"
    """The reply can be read, but no log probabilities came for the token that was read."""
    LOW_MASS = "low_mass"
    """Too little of the model's probability fell on valid values for a weighted score."""
    REFUSED = "refused"
    """The endpoint's content filter stopped the reply."""
    RATE_LIMITED = "rate_limited"
    """The endpoint kept answering 429 until the retries were used up."""
    HTTP_ERROR = "http_error"
    """The endpoint kept answering with an HTTP error, or with something that is no reply."""
    CONNECTION_FAILED = "connection_failed"
    """No connection to the endpoint, or it broke off."""
    TIMEOUT = "timeout"
    """The item or its last attempt ran into its deadline."""
    SANDBOX_LOST = "sandbox_lost"
    """The sandbox itself broke, so what ran in it says nothing about the agent."""
    ARTIFACT_REJECTED = "artifact_rejected"
    """A file that had to come out of the sandbox is missing, or was not taken."""
    GRADER_FAILED = "grader_failed"
    """The task's grader broke, ran into a limit, or gave something that is no grade."""
    INTERNAL_ERROR = "internal_error"
    """A bug in the judge's code; the log holds the traceback."""

    @property
    def outside(self) -> bool:
        """Whether the cause lies outside of the item, so that a later try may score it."""
        return self in _OUTSIDE


_OUTSIDE = frozenset(
    {
        UnscoredReason.RATE_LIMITED,
        UnscoredReason.HTTP_ERROR,
        UnscoredReason.CONNECTION_FAILED,
        UnscoredReason.TIMEOUT,
        UnscoredReason.SANDBOX_LOST,
        UnscoredReason.INTERNAL_ERROR,
    }
)


class BasaniteError(Exception):
    """The root: `str()` gives one readable text, `code` is stable.

    Args:
        what: what is wrong, as a sentence without its full stop.
        where: the file, row, item or address that it concerns.
        todo: what the user can do about it.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.todo = todo

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}. {self.todo}" if self.todo else text


class InputError(BasaniteError):
    """A file, a row or an argument that the user gave can't be used."""

    code = "input"
    exit_code = 2


class RowError(InputError):
    """One row of an input can't be used; the run goes on and counts it as `invalid_row`."""

    code = "row"


class CapabilityError(InputError):
    """The endpoint can't do what was asked of it; the text names what it can."""

    code = "capability"


class PolicyError(InputError):
    """What a sandbox was asked for contradicts itself, or names what this machine lacks."""

    code = "policy"


class SetupError(BasaniteError):
    """The machine, or a service that it needs, lacks something."""

    code = "setup"
    exit_code = 3


class MissingExtra(SetupError):
    """An optional dependency is not installed; the text holds the command that installs it."""

    code = "missing_extra"


class EndpointError(SetupError):
    """A model endpoint can't be reached, or answers nothing that a model endpoint would."""

    code = "endpoint"


class StorageError(SetupError):
    """The ledger or the cache can't be read or written (full disk, lock, damaged file)."""

    code = "storage"


class SandboxUnavailable(SetupError):
    """No sandbox of the kind asked for can be had here; `report` is what the probe found."""

    code = "sandbox_unavailable"

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        todo: str | None = None,
        report: object = None,
    ) -> None:
        super().__init__(what, where=where, todo=todo)
        self.report = report
        """The `sandboxes.ProbeReport`, or None where nothing was probed."""


class IsolationFloorNotMet(SandboxUnavailable):
    """A sandbox can be had, but it would not contain as much as the specification demands."""

    code = "isolation_floor"


class ItemError(BasaniteError):
    """One item could not be scored; the run goes on and counts it under `reason`."""

    code = "item"

    def __init__(
        self,
        reason: UnscoredReason,
        what: str,
        *,
        where: str | None = None,
        todo: str | None = None,
    ) -> None:
        super().__init__(what, where=where, todo=todo)
        self.reason = reason
        self.replies: tuple[object, ...] = ()
        """Replies that came before the failure; `llm.replies_of` gives them with their type."""
        self.usage: object = None
        """What was used up to the failure; `llm.usage_of` gives it with its type."""


class CallError(ItemError):
    """No usable reply came back: network, HTTP status, rate limit, deadline."""

    code = "call"


class ReplyError(ItemError):
    """A reply came back and could not be used: cut, empty, not what was asked for."""

    code = "reply"


class SandboxLost(ItemError):
    """The sandbox itself broke: try again, and score nothing of what ran in it."""

    code = "sandbox_lost"

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(UnscoredReason.SANDBOX_LOST, what, where=where, todo=todo)


class ArtifactRejected(ItemError):
    """A file that was asked for is not there, or was not taken out of the sandbox."""

    code = "artifact_rejected"

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(UnscoredReason.ARTIFACT_REJECTED, what, where=where, todo=todo)


class GraderFailed(ItemError):
    """A task's grader gave no valid grade; whether the agent did well is not known."""

    code = "grader_failed"

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(UnscoredReason.GRADER_FAILED, what, where=where, todo=todo)


__all__ = [
    "ArtifactRejected",
    "BasaniteError",
    "CallError",
    "CapabilityError",
    "EndpointError",
    "GraderFailed",
    "InputError",
    "IsolationFloorNotMet",
    "ItemError",
    "MissingExtra",
    "PolicyError",
    "ReplyError",
    "RowError",
    "SandboxLost",
    "SandboxUnavailable",
    "SetupError",
    "StorageError",
    "UnscoredReason",
]
