from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from basanite.errors import InputError, StorageError
from basanite.store import Ledger, Record


@pytest.fixture
def ledger(database_url: str) -> Iterator[Ledger]:
    with Ledger.open(database_url) as opened:
        yield opened


@pytest.fixture
def run() -> str:
    return uuid.uuid4().hex


async def test_what_was_appended_is_found_whole(ledger: Ledger, run: str) -> None:
    body = {"text": "a\x00b \ud800 é 😀", "n": [1, 2.5, None, True], "deep": {"x": {}}}
    assert await ledger.append(Record(run, "judgment", "k", body, schema_version=3))
    found = ledger.get(run, "judgment", "k")
    assert found is not None
    assert (found.run, found.kind, found.key) == (run, "judgment", "k")
    assert found.body == body
    assert found.schema_version == 3
    assert found.created_at is not None
    assert datetime.fromisoformat(found.created_at).utcoffset() is not None
    assert await ledger.aget(run, "judgment", "k") == found


async def test_the_first_record_of_a_name_stays(ledger: Ledger, run: str) -> None:
    assert await ledger.append(Record(run, "judgment", "k", {"n": 1})) is True
    assert await ledger.append(Record(run, "judgment", "k", {"n": 2})) is False
    assert ledger.append_now(Record(run, "judgment", "k", {"n": 3})) is False
    found = ledger.get(run, "judgment", "k")
    assert found is not None
    assert found.body == {"n": 1}
    assert await ledger.append(Record(run, "attempt", "k", {"n": 4})) is True
    assert await ledger.append(Record(f"{run}x", "judgment", "k", {"n": 5})) is True


async def test_of_equal_names_in_one_batch_one_is_new(ledger: Ledger, run: str) -> None:
    records = [Record(run, "judgment", f"k{n % 7}", {"n": n}) for n in range(300)]
    new = await asyncio.gather(*(ledger.append(record) for record in records))
    assert new == [n < 7 for n in range(300)]
    assert [record.body["n"] for record in ledger.records(run, "judgment")] == list(range(7))


async def test_records_come_in_the_order_of_insertion(ledger: Ledger, run: str) -> None:
    count = 1300
    await asyncio.gather(
        *(ledger.append(Record(run, "judgment", f"{count - n}", {"n": n})) for n in range(count)),
        *(ledger.append(Record(run, "other", f"{n}", {})) for n in range(50)),
    )
    assert [one.body["n"] for one in ledger.records(run, "judgment")] == list(range(count))
    assert ledger.count(run, "judgment") == count
    assert ledger.count(run, "none") == 0
    assert list(ledger.records(run, "none")) == []
    assert run in ledger.runs()


async def test_existing_finds_many_keys(ledger: Ledger, run: str) -> None:
    await asyncio.gather(
        *(ledger.append(Record(run, "judgment", f"{n}", {})) for n in range(0, 1200, 2))
    )
    keys = [f"{n}" for n in range(1200)]
    assert ledger.existing(run, "judgment", keys) == {f"{n}" for n in range(0, 1200, 2)}
    assert ledger.existing(run, "judgment", []) == set()
    assert ledger.existing(run, "attempt", keys) == set()


async def test_several_finds_the_records_of_many_keys(ledger: Ledger, run: str) -> None:
    await asyncio.gather(
        *(ledger.append(Record(run, "judgment", f"{n}", {"n": n})) for n in range(0, 1200, 2))
    )
    found = ledger.several(run, "judgment", [f"{n}" for n in reversed(range(1200))])
    assert {key: one.body for key, one in found.items()} == {
        f"{n}": {"n": n} for n in range(0, 1200, 2)
    }
    assert all(key == one.key for key, one in found.items())
    assert ledger.several(run, "judgment", []) == {}
    assert ledger.several(run, "attempt", ["0"]) == {}


async def test_latest_is_when_the_last_record_of_a_kind_was_kept(ledger: Ledger, run: str) -> None:
    assert ledger.latest(run, "judgment") is None
    for number in range(3):
        ledger.append_now(Record(run, "judgment", f"{number}", {}))
        ledger.append_now(Record(run, "answer", f"{number}", {}))
    times = [one.created_at for one in ledger.records(run, "judgment")]
    assert ledger.latest(run, "judgment") == max(one for one in times if one is not None)
    assert ledger.latest(run, "attempt") is None


async def test_large_bodies_are_read_page_by_page(ledger: Ledger, run: str) -> None:
    for number in range(12):
        ledger.append_now(Record(run, "judgment", f"{number}", {"text": "x" * (number * 300_000)}))
    lengths = [len(str(one.body["text"])) for one in ledger.records(run, "judgment")]
    assert lengths == [number * 300_000 for number in range(12)]


async def test_a_cancelled_append_is_committed_and_spoils_nothing(ledger: Ledger, run: str) -> None:
    tasks = [
        asyncio.create_task(ledger.append(Record(run, "judgment", f"{n}", {}))) for n in range(100)
    ]
    await asyncio.sleep(0)  # let each hand its record over
    for task in tasks[::2]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in outcomes[::2])
    assert outcomes[1::2] == [True] * 50
    await ledger.flush()
    assert ledger.count(run, "judgment") == 100


@pytest.mark.parametrize(
    "name", ["", "a\x00b", "a\ud800", "x" * 501], ids=["empty", "nul", "surrogate", "long"]
)
async def test_a_name_that_no_database_holds_is_refused(
    ledger: Ledger, run: str, name: str
) -> None:
    good = asyncio.create_task(ledger.append(Record(run, "judgment", "good", {})))
    with pytest.raises(InputError):
        await ledger.append(Record(run, "judgment", name, {}))
    assert await good is True


async def test_a_body_that_is_no_json_is_refused(ledger: Ledger, run: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        await ledger.append(Record(run, "judgment", "k", {"x": float("nan")}))
    assert ledger.count(run, "judgment") == 0


def test_threads_and_loops_share_a_ledger(ledger: Ledger, run: str) -> None:
    async def append_some(name: str) -> None:
        await asyncio.gather(
            *(ledger.append(Record(run, "judgment", f"{name}-{n}", {})) for n in range(50))
        )

    threads = [
        threading.Thread(target=lambda n=name: asyncio.run(append_some(f"t{n}")))
        for name in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.count(run, "judgment") == 250


async def test_a_closed_ledger_takes_nothing_and_lost_nothing(database_url: str, run: str) -> None:
    ledger = Ledger.open(database_url)
    waiting = [ledger.submit(Record(run, "judgment", f"{n}", {})) for n in range(10)]
    ledger.close()
    ledger.close()
    assert await asyncio.gather(*waiting) == [True] * 10
    with pytest.raises(StorageError, match="closed"):
        await ledger.append(Record(run, "judgment", "late", {}))
    with Ledger.open(database_url) as again:
        assert again.count(run, "judgment") == 10


_names = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"),
    min_size=1,
    max_size=20,
)
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.dictionaries(_names, st.dictionaries(st.text(max_size=5), _values), max_size=8))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_json_under_any_name_comes_back(
    ledger: Ledger, bodies: dict[str, dict[str, object]]
) -> None:
    run = uuid.uuid4().hex
    for key, body in bodies.items():
        assert ledger.append_now(Record(run, "k", key, body))
    assert {record.key: record.body for record in ledger.records(run, "k")} == bodies
    assert ledger.existing(run, "k", list(bodies)) == set(bodies)
