"""A program named `kubectl` that plays a cluster: it tells of pods what a test wrote down.

It keeps a list of what it was asked for. `exec` and `logs` give what lies in its folder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_PROGRAM = """#!{python} -IS
import json, os, subprocess, sys
home = {home!r}
given = sys.argv[1:]
sent = sys.stdin.read() if "-" in given else ""
with open(home + "/calls", "a") as file:
    file.write(json.dumps([given, sent]) + "\\n")
verb = next(word for word in given if word in ("apply", "get", "logs", "exec", "delete"))
failing = home + "/fail-" + verb
if os.path.exists(failing):
    code, times = map(int, open(failing).read().split())
    if times == 1:
        os.unlink(failing)
    else:
        open(failing, "w").write(f"{{code}} {{times - 1}}")
    sys.exit(print("the server is busy", file=sys.stderr) or code)
if verb == "get":
    states = json.load(open(home + "/pods"))
    json.dump(states[1:] or states, open(home + "/pods", "w"))
    json.dump({{"items": states[0]}}, sys.stdout)
elif verb == "logs":
    sys.stdout.buffer.write(open(home + "/output", "rb").read())
elif verb == "exec":
    script = given[-1].replace("-C /work", "-C " + home + "/work")
    sys.exit(subprocess.run(["sh", "-c", script]).returncode)
"""


class FakeKubectl:
    """The program and its cluster, in one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir(parents=True)
        self.program = home / "bin" / "kubectl"
        self.program.parent.mkdir()
        self.program.write_text(_PROGRAM.format(python=sys.executable, home=str(home)))
        self.program.chmod(0o755)
        self.says(b"")

    def says(self, output: bytes) -> None:
        """Set what the code wrote."""
        (self.home / "output").write_bytes(output)

    def shows(self, *states: Sequence[Mapping[str, object]]) -> None:
        """Set the pods of each look, one after the other; the last one stays."""
        (self.home / "pods").write_text(json.dumps(states))

    def fails(self, verb: str, code: int = 1, times: int = 1000) -> None:
        """Let the next calls with a verb fail."""
        (self.home / f"fail-{verb}").write_text(f"{code} {times}")

    def calls(self) -> list[tuple[list[str], str]]:
        """Give the arguments and the input of each call so far."""
        lines = (self.home / "calls").read_text().splitlines()
        return [(given, sent) for given, sent in map(json.loads, lines)]

    def verbs(self) -> list[str]:
        """Give the verb of each call so far."""
        known = ("apply", "get", "logs", "exec", "delete")
        return [next(w for w in given if w in known) for given, _ in self.calls()]


def pod(
    agent: Mapping[str, object] | None = None, **status: object
) -> dict[str, dict[str, object]]:
    """Give a pod as the API shows it, by the state of its container `agent`."""
    shown: dict[str, object] = {"phase": "Running", **status}
    if agent is not None:
        keeper = {"name": "keeper", "state": {"running": {}}}
        shown["containerStatuses"] = [keeper, {"name": "agent", "state": dict(agent)}]
    return {"metadata": {"name": "basanite-1-xyz"}, "status": shown}


def ended(code: int, *, seconds: int = 2, reason: str = "") -> dict[str, object]:
    """Give the state of a container that has ended."""
    return {
        "terminated": {
            "exitCode": code,
            "reason": reason or ("Completed" if code == 0 else "Error"),
            "startedAt": "2026-01-02T03:04:00Z",
            "finishedAt": f"2026-01-02T03:04:{seconds:02}Z",
        }
    }


__all__ = ["FakeKubectl", "ended", "pod"]
