"""The one shape of every judge."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..schema import Answer, Fingerprint, Judgment


@runtime_checkable
class Judge(Protocol):
    """Gives a `Judgment` on a subject."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the scores of each judgment, the primary one first."""
        ...

    async def judge(self, subject: Answer) -> Judgment:
        """Judge one subject.

        What concerns this subject alone is in the judgment (scores with an
        `unscored_reason`), never an exception.

        Raises:
            SetupError: the judge can't work at all (endpoint gone, disk full).
        """
        ...
