"""Runs one configuration of a Python workflow inside a sandbox; the standard library alone."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import math
import os
import sys
import time
import traceback
import warnings

REQUEST, RESULT = ".request.json", "result.json"
_MOST_WARNINGS, _LONGEST = 20, 300


def number(value: object) -> float:
    """Give a real number as a float; booleans, NaN and infinities are none."""
    if type(value).__name__ in {"bool", "bool_"}:
        raise ValueError(f"{value!r} is no number")
    found = float(value)  # type: ignore[arg-type]
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is no finite number")
    return found


def output_hash(value: object) -> str:
    """Hash bytes, a text, an array (with its type and shape), or what JSON can hold."""
    made = hashlib.sha256()
    if isinstance(value, bytes | bytearray | memoryview):
        made.update(b"bytes\0" + bytes(value))
    elif hasattr(value, "dtype") and hasattr(value, "tobytes"):
        if value.dtype.hasobject:
            raise TypeError("an output of objects: give it as a list or as bytes")
        made.update(f"array\0{value.dtype.str}\0{list(value.shape)}\0".encode())  # type: ignore[attr-defined]
        made.update(value.tobytes())
    else:
        made.update(b"json\0" + json.dumps(value, sort_keys=True).encode())
    return made.hexdigest()


def ran(request: dict[str, object]) -> dict[str, object]:
    """Import the file, call the function, and take its answer apart."""
    spec = importlib.util.spec_from_file_location("workflow", str(request["file"]))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["workflow"] = module
    spec.loader.exec_module(module)
    began = time.perf_counter()
    answer = getattr(module, str(request["function"]))(request["config"], request["seed"])
    wall_s = time.perf_counter() - began
    body = answer if isinstance(answer, dict) else {"score": answer}
    if "score" not in body:
        raise ValueError("the run's answer has no score")
    if unknown := set(body) - {"score", "output", "metrics"}:
        raise ValueError(f"the run's answer has unknown fields: {sorted(unknown)}")
    metrics = {str(name): number(value) for name, value in body.get("metrics", {}).items()}
    found = {"score": number(body["score"]), "metrics": metrics, "wall_s": wall_s}
    if body.get("output") is not None:
        found["output_sha256"] = output_hash(body["output"])
    return found


def main() -> None:
    """Read the request, run it, and write the result, or why there is none."""
    with open(REQUEST, encoding="utf-8") as file:  # noqa: PTH123 - run without any package
        request = json.load(file)
    os.unlink(REQUEST)  # noqa: PTH108
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = ran(request)
        except Exception as error:  # noqa: BLE001 - the border of the process
            traceback.print_exc()
            result = {"error": f"{type(error).__name__}: {error}"[:_LONGEST]}
    texts = [f"{one.category.__name__}: {one.message}"[:_LONGEST] for one in caught]
    result["warnings"] = list(dict.fromkeys(texts))[:_MOST_WARNINGS]
    with contextlib.suppress(FileNotFoundError):
        os.unlink(RESULT)  # noqa: PTH108 - a link that the workflow left
    with open(RESULT, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(result, file, allow_nan=False)


if __name__ == "__main__":
    main()
