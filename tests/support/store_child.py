"""Programs that tests start as child processes and kill.

`ledger PATH` appends records for ever and prints each key once `append` has returned.
`run FOLDER INPUT` does a run over items, printing what is asked and what is committed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from basanite.runs import Limits, RunOutcome, Work, run_items
from basanite.schema import Judgment
from basanite.store import Ledger, Record, RunFolder
from support.store_samples import make_judgment, make_manifest

ITEMS = 1_200


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def append_for_ever(path: str) -> None:
    with Ledger.open(path) as ledger:

        async def append(worker: int) -> None:
            number = 0
            while True:
                key = f"{worker}-{number}"
                await ledger.append(Record("r", "judgment", key, {"key": key, "pad": "x" * 800}))
                say(key)
                number += 1

        await asyncio.gather(*(append(worker) for worker in range(8)))


async def do_run(path: str) -> RunOutcome:
    async def judge(number: int) -> Judgment:
        say(f"asked {number}")
        await asyncio.sleep(0.004 * (number % 5))
        return make_judgment(f"q{number}", value=number / ITEMS)

    def items() -> Iterator[tuple[str, int]]:
        for number in range(ITEMS):
            yield f"q{number}", number

    with RunFolder.resume(path, make_manifest()) as folder:
        work = Work(folder.run, judge, lambda number, error: make_judgment(f"q{number}"))
        return await run_items(work, items(), folder.ledger, Limits(concurrency=16))


def main() -> None:
    what, path = sys.argv[1:]
    if what == "ledger":
        asyncio.run(append_for_ever(path))
    else:
        outcome = asyncio.run(do_run(path))
        say(f"outcome {outcome.done} {outcome.skipped}")


if __name__ == "__main__":
    main()
