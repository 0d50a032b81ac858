"""Items and work for tests of the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from basanite.errors import ItemError
from basanite.runs import Work
from basanite.schema import Judgment
from basanite.store import Ledger
from support.store_samples import make_judgment

RUN = "r"


def make_failed(number: int, error: ItemError) -> Judgment:
    """The judgment of an item that failed."""
    return make_judgment(f"q{number}", None, error.reason, message=str(error))


def make_work(judge: Callable[[int], Awaitable[Judgment]]) -> Work[int]:
    """Work of the run `RUN`."""
    return Work(RUN, judge, make_failed)


def make_items(count: int) -> Iterator[tuple[str, int]]:
    """Numbers with their keys, one at a time."""
    return ((f"q{number}", number) for number in range(count))


async def judge_at_once(number: int) -> Judgment:
    """A judgment whose score is a thousandth of the number."""
    return make_judgment(f"q{number}", value=number / 1000)


def kept(ledger: Ledger, kind: str = "judgment") -> dict[str, Judgment]:
    """What the ledger holds of the run, by key."""
    return {
        record.key: Judgment.model_validate(record.body) for record in ledger.records(RUN, kind)
    }
