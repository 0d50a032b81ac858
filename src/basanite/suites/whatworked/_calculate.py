"""The calculator of an episode, run in a process of its own with limits."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

_CALCULATOR = Path(__file__).with_name("_calculator.py")
_MOST_OUTPUT = 100_000


def run_calculator(request: str, seconds: int) -> tuple[dict[str, object], float]:
    """Answer one calculation.

    Args:
        request: JSON with `code` and `measured`.
        seconds: limit on CPU time.

    Returns:
        `value` or `error`, and the CPU seconds that it took.
    """
    before = _cpu_of_children()
    try:
        done = subprocess.run(
            # The calculator limits itself before it reads what it is asked.
            [sys.executable, "-I", "-S", str(_CALCULATOR), str(seconds)],
            input=request,
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * seconds + 10,
            env={},
        )
    except subprocess.TimeoutExpired:
        return {"error": "took too long"}, _cpu_of_children() - before
    cpu_s = _cpu_of_children() - before
    if done.returncode != 0 or not done.stdout:
        return {"error": f"was ended by its limits of {seconds} s of CPU and of memory"}, cpu_s
    if len(done.stdout) > _MOST_OUTPUT:
        return {"error": f"its result is longer than {_MOST_OUTPUT} characters"}, cpu_s
    answer: dict[str, object] = json.loads(done.stdout)
    return answer, cpu_s


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
