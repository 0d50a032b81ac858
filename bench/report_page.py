"""What a report over many items costs: size, time and memory to write it, time to open it.

A made-up run of the claims judge (texts of some 2,000 characters an item, three claims with
quotes, raw replies) is written as a page in a process of its own, once as it is and once without
its items; then both pages are opened in Debian's Chromium. Measured are the load event, the
script's end of work (the list stands), the first letter typed into the search field until the
list shows what holds it (a wait of 150 ms for further letters included), and opening one item.

    python bench/report_page.py [--items 5000] [--repeats 3]

Floor: the page without items, which has the same tables and plots.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pydantic import JsonValue  # noqa: E402

from basanite.reports import default_sections, write_report  # noqa: E402
from basanite.schema import Answer, InvalidRow, Judgment, RawReply  # noqa: E402
from support import chromium  # noqa: E402
from support.fake_runs import make_manifest  # noqa: E402
from support.report_samples import AGENTS, agent_answer, claims_judgment  # noqa: E402

FILLER = " The cells were counted after quality control, as the methods say." * 12

_TYPED = """new Promise((done) => {
  const [field, said] = ["item-search", "item-count"].map((id) => document.getElementById(id));
  const start = performance.now();
  new MutationObserver(() => requestAnimationFrame(() => done(performance.now() - start)))
    .observe(said, { childList: true });
  field.value = "m";
  field.dispatchEvent(new Event("input"));
})"""

_OPENED = """new Promise((done) => {
  const start = performance.now();
  document.querySelector(".item-head").click();
  requestAnimationFrame(() => done(performance.now() - start));
})"""


@dataclass(frozen=True, slots=True)
class MadeRun:
    """A run that is made anew at each reading, so that memory is the report's own."""

    items: int

    @property
    def manifest(self) -> dict[str, JsonValue]:
        return make_manifest(rows=self.items)

    def answers(self) -> Iterator[Answer | InvalidRow]:
        for number in range(self.items):
            row = agent_answer(number // len(AGENTS), AGENTS[number % len(AGENTS)])
            yield row.model_copy(
                update={"answer": row.answer + FILLER, "truth": row.truth + FILLER}
            )

    def judgments(self) -> Iterator[Judgment]:
        for row in self.answers():
            assert isinstance(row, Answer)
            made = claims_judgment(row)
            reply = RawReply(role="check:truth", text=f"{FILLER}{FILLER}", finish_reason="stop")
            yield made.model_copy(update={"replies": (*made.replies, reply)})


def main() -> None:
    options = _parse()
    if options.write is not None:
        _write(options.items, options.write, bare=options.bare)
        return
    with tempfile.TemporaryDirectory() as folder:
        for bare in (False, True):
            _measure(options, Path(folder), bare=bare)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _write(items: int, out: Path, *, bare: bool) -> None:
    """Write the page, in this process, and print what it took."""
    run = MadeRun(items)
    start = time.perf_counter()
    for _ in run.judgments():
        pass
    one_pass = time.perf_counter() - start
    before = _peak()
    parts = default_sections()
    if bare:
        del parts["items"]
    start = time.perf_counter()
    write_report([run], out, sections=parts.values())
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "seconds_to_make_the_run_once": one_pass,
                "peak_mb": _peak(),
                "peak_mb_before": before,
            }
        )
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measure(options: argparse.Namespace, folder: Path, *, bare: bool) -> None:
    out = folder / "report.html"
    command = [sys.executable, __file__, "--items", str(options.items), "--write", str(out)]
    done = subprocess.run(
        [*command, "--bare"] if bare else command, check=True, stdout=subprocess.PIPE
    )
    found: dict[str, float] = json.loads(done.stdout)
    found["page_mb"] = out.stat().st_size / 1e6
    print(f"{options.items:,} items, {'floor: no list of items' if bare else 'whole page'}")
    for name, value in found.items():
        print(f"  {name:34} {value:10.2f}")
    if chromium.BINARY is None:
        print(f"  not opened: {chromium.SKIP_REASON}")
        return
    opened = [_open(out, folder / f"profile-{bare}-{n}") for n in range(options.repeats)]
    for name in opened[0]:
        values = [times[name] for times in opened]
        print(
            f"  {name:34} {statistics.median(values):10.0f}  ({min(values):.0f} to "
            f"{max(values):.0f})"
        )


def _open(out: Path, profile: Path) -> dict[str, float]:
    with chromium.Page(profile, seconds=120) as page:
        start = time.perf_counter()
        page.open(out)
        found = {"load_event_ms (wall)": 1000 * (time.perf_counter() - start)}
        timing = "performance.getEntriesByType('navigation')[0]"
        found["load_event_ms (browser)"] = page.run(f"{timing}.loadEventEnd")
        if page.run("document.getElementById('item-search') !== null"):
            found["first_letter_searched_ms"] = page.run(_TYPED, wait=True)
            found["item_opened_ms"] = page.run(_OPENED, wait=True)
        found["script_memory_mb"] = page.run("performance.memory.usedJSHeapSize") / 1e6
    return found


if __name__ == "__main__":
    main()
