"""An agent's side of an episode. Uses the standard library alone.

This file needs no basanite: copy it to where the agent runs, and bind the host's socket there.

    python whatworked_client.py SOCKET task
    python whatworked_client.py SOCKET measure '{"masks": ["0110"]}'
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Mapping, Sequence


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a JSON object whose names stand once; `json` alone keeps the last of two in silence."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


class EpisodeRefused(Exception):
    """The host refused a call; nothing changed. `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EpisodeClient:
    """Calls an episode's tools over the host's socket.

    Args:
        path: the socket.
        timeout_s: longest wait for one answer.
    """

    def __init__(self, path: str, timeout_s: float = 120.0) -> None:
        self.path = path
        self.timeout_s = timeout_s

    def call(self, tool: str, arguments: Mapping[str, object] | None = None) -> dict[str, object]:
        """Call a tool by its name.

        Raises:
            EpisodeRefused: the host refused it.
            OSError: the host is not there, or ended before it answered.
        """
        request = json.dumps({"tool": tool, "arguments": dict(arguments or {})})
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(self.timeout_s)
            connection.connect(str(self.path))
            connection.sendall(request.encode() + b"\n")
            with connection.makefile("r", encoding="utf-8") as stream:
                line = stream.readline()
        if not line.endswith("\n"):
            raise OSError("the host gave no answer")
        answer = json.loads(line, object_pairs_hook=once)
        if "error" in answer:
            raise EpisodeRefused(answer["error"]["code"], answer["error"]["message"])
        result: dict[str, object] = answer["result"]
        return result

    def task(self) -> dict[str, object]:
        """Give what the agent may know: factors, form of masks, anchors, budget, perhaps code."""
        return self.call("task")

    def measure(self, masks: Sequence[str]) -> dict[str, object]:
        """Buy measurements: all of them, or none where the budget does not hold them."""
        return self.call("measure", {"masks": list(masks)})

    def status(self) -> dict[str, object]:
        """Give what was measured and what is left."""
        return self.call("status")

    def calculate(self, code: str) -> object:
        """Evaluate arithmetic over `y`, the measured utilities by mask."""
        return self.call("calculate", {"code": code})["value"]

    def fit(self, estimator: str = "ard") -> dict[str, object]:
        """Give the table that an estimator makes of what was measured."""
        return self.call("fit", {"estimator": estimator})

    def suggest(self, method: str = "ard") -> dict[str, object]:
        """Give the mask that a method would measure next."""
        return self.call("suggest", {"method": method})

    def submit(
        self,
        table: Mapping[str, float] | None = None,
        *,
        estimator: str | None = None,
        intervals: Mapping[str, Sequence[float]] | None = None,
    ) -> dict[str, object]:
        """Hand in a whole table, or the name of an estimator; this closes the episode."""
        given = {"table": table, "estimator": estimator, "intervals": intervals}
        return self.call("submit", {name: one for name, one in given.items() if one is not None})


def main(arguments: Sequence[str]) -> int:
    """Call one tool from a command line and print its JSON."""
    if len(arguments) not in (2, 3):
        sys.stderr.write(f"{(__doc__ or '').strip()}\n")
        return 2
    try:
        given = json.loads("".join(arguments[2:]) or "{}", object_pairs_hook=once)
    except ValueError as error:
        sys.stderr.write(f"the arguments can't be read as JSON: {error}\n")
        return 2
    if not isinstance(given, dict):
        sys.stderr.write('the arguments are no JSON object, such as {"masks": ["0110"]}\n')
        return 2
    try:
        found = EpisodeClient(arguments[0]).call(arguments[1], given)
    except EpisodeRefused as error:
        sys.stderr.write(f"refused ({error.code}): {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"{arguments[0]}: {error}\n")
        return 3
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
