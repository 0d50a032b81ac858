"""What the benchmarks' numbers cost, each beside its goal.

Each `bench/suites_*.py` has `measure()`, which gives figures by name, and `GOALS`, with the
largest allowed value of each (or None) and its unit. All run on one core.

    python bench/suites.py [--only whatworked] [--json]

The exit code is 1 where a figure is above its goal.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from pathlib import Path

# Before numpy is loaded, by which time its library has made its threads.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def main() -> int:
    """Measure, print, and say whether all goals are met."""
    suites = sorted(path.stem.removeprefix("suites_") for path in HERE.glob("suites_*.py"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=suites, action="append")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    rows: dict[str, dict[str, object]] = {}
    missed = False
    for suite in options.only or suites:
        module = importlib.import_module(f"suites_{suite}")
        for name, value in module.measure().items():
            goal, unit = module.GOALS[name]
            met = goal is None or value <= goal
            rows[name] = {"value": value, "goal": goal, "unit": unit, "met": met}
            missed |= not met
            if not options.as_json:
                end = "" if goal is None else f" goal {goal:g}" + ("" if met else "   ABOVE")
                print(f"{name:<55} {value:>10.4g} {unit:<3}{end}", flush=True)
    if options.as_json:
        print(json.dumps(rows, indent=2))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
