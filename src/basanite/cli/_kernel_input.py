"""Read cells of code: lines up to an empty one, from a terminal or a pipe."""

from __future__ import annotations

import contextlib
import io
import sys
import tokenize
from collections.abc import Iterator

_MAGIC = ("%", "!")


class Cells:
    """The cells of standard input.

    An empty line ends a cell, unless a bracket or a triple quote is still open; a line of blanks
    does not. At a terminal there is a prompt, and Ctrl-C drops what was typed of a cell.
    """

    def __init__(self, *, prompts: bool) -> None:
        self._prompts = prompts
        self._number = 1
        if prompts:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (gives `input` its keys and its history)
            if isinstance(sys.stdin, io.TextIOWrapper):
                sys.stdin.reconfigure(errors="backslashreplace")

    def __iter__(self) -> Iterator[str]:
        while True:
            try:
                code, more = self._cell()
            except KeyboardInterrupt:
                if not self._prompts:
                    raise
                sys.stdout.write("\n")
                continue
            if code:
                yield code
                self._number += 1
            if not more:
                return

    def _cell(self) -> tuple[str, bool]:
        """Read one cell; gives whether there may be another."""
        lines: list[str] = []
        while True:
            line = self._line(first=not lines)
            if line is None:
                # At a terminal, Ctrl-D ends the cell first and all only where there is none.
                return "\n".join(lines), self._prompts and bool(lines)
            if line or (lines and unfinished(lines)):
                lines.append(line)
            elif lines:
                return "\n".join(lines), True

    def _line(self, *, first: bool) -> str | None:
        if not self._prompts:
            data = sys.stdin.buffer.readline()
            text = data.decode("utf-8", "backslashreplace")
            return text.rstrip("\r\n") if data else None
        prompt = f"In [{self._number}]: "
        try:
            return input(prompt if first else "...: ".rjust(len(prompt)))
        except EOFError:
            sys.stdout.write("\n")
            return None


def unfinished(lines: list[str]) -> bool:
    """Whether lines of Python end within a bracket or a triple-quoted string.

    The lines are split into tokens and not compiled: they may come from anywhere. Those of a
    magic are another language's.
    """
    if lines[0].startswith(_MAGIC):
        return False
    source = io.StringIO("\n".join([*lines, ""]))
    try:
        for _ in tokenize.generate_tokens(source.readline):
            pass
    except tokenize.TokenError as error:
        said = str(error.args[0])
        return "EOF in multi-line" in said or "triple-quoted" in said
    except SyntaxError:
        return False
    return False


__all__ = ["Cells", "unfinished"]
