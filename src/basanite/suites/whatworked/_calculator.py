"""Evaluates arithmetic in a process of its own. Uses the standard library alone.

Reads `{"code": …, "measured": {mask: value}}` from stdin and writes `{"value": …}` or
`{"error": …}`. Assignments and one last expression are allowed, with numbers, text, lists,
tuples, dictionaries, comprehensions, subscripts, arithmetic, comparisons and the functions of
`FUNCTIONS`; `y` holds what was measured, by mask. There are no attributes, imports, definitions
or loops but comprehensions, so that nothing else can be reached. The only argument is the limit on
CPU seconds; memory is limited to 512 MB, and no file can be written.
"""

from __future__ import annotations

import ast
import json
import math
import resource
import statistics
import sys
from collections.abc import Iterable

FUNCTIONS = {
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "floor", "ceil", "isclose")},
    **{name: getattr(statistics, name) for name in ("mean", "median", "stdev", "pstdev")},
    **{f.__name__: f for f in (abs, all, any, bool, dict, enumerate, float, int, len, list, max)},
    **{f.__name__: f for f in (min, range, reversed, round, set, sorted, str, sum, tuple, zip)},
}
_NODES = (
    ast.Module, ast.Expr, ast.Assign, ast.Name, ast.Load, ast.Store, ast.Constant, ast.List,
    ast.Tuple, ast.Dict, ast.Set, ast.Subscript, ast.Slice, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.Not, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.BoolOp, ast.And, ast.Or, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
    ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.IfExp, ast.Call, ast.keyword, ast.Starred,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
)  # fmt: skip


def calculate(code: str, measured: dict[str, float]) -> object:
    """Evaluate the code's statements and give the value of the last.

    Raises:
        ValueError: something in it is not allowed, or it does not end in an expression.
    """
    tree = ast.parse(code, mode="exec")
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ValueError(f"{type(node).__name__} is not allowed")
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            raise ValueError(f"the name {node.id[:40]!r} is not allowed")
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        ):
            raise ValueError(f"functions are {', '.join(sorted(FUNCTIONS))}")
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        raise ValueError("the last line is no expression")
    names: dict[str, object] = {"__builtins__": {}, **FUNCTIONS, "y": dict(measured)}
    last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    exec(compile(tree, "calculate", "exec"), names)
    return eval(compile(last, "calculate", "eval"), names)


def main() -> None:
    """Answer the one request on stdin."""
    seconds, memory = int(sys.argv[1]), 512 * 2**20
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for nothing in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(nothing, (0, 0))
    try:
        request = json.load(sys.stdin)
        value = calculate(request["code"], request["measured"])
        if isinstance(value, Iterable) and not isinstance(value, list | tuple | dict | str):
            value = list(value)
        answer = json.dumps({"value": value}, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - the border of the process: the caller's code
        answer = json.dumps({"error": f"{type(error).__name__}: {error}"[:500]})
    sys.stdout.write(answer)


if __name__ == "__main__":
    main()
