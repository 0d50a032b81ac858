"""What an execution runs, as a program and its arguments."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import PolicyError
from ._runtime import CODE

_ARGUMENT_BYTES = 128 * 1024
"""What Linux takes as one argument (MAX_ARG_STRLEN)."""
_ARGUMENTS_BYTES = 1024 * 1024


def arguments_of(
    command: Sequence[str] | None, code: str | None, *, python: str, isolated: bool
) -> tuple[str, ...]:
    """Give a program and its arguments for a command, or for Python source.

    Raises:
        PolicyError: nothing or two things to run, or more than the system passes on.
    """
    if (command is None) == (code is None):
        raise PolicyError(
            "there is nothing to run" if code is None else "both a command and code are given",
            where="sandbox",
            todo="Give a command or Python code, one of them.",
        )
    if code is not None:
        return (python, *(["-I"] if isolated else []), CODE)
    if isinstance(command, str):
        raise PolicyError(
            "a command is a list of texts, not one text",
            where="sandbox",
            todo='Give ["sh", "-c", command] for the shell to read it.',
        )
    arguments = tuple(command or ())
    if not arguments or any(not isinstance(a, str) or "\0" in a for a in arguments):
        raise PolicyError("a command is a list of texts without NUL bytes", where="sandbox")
    sizes = [len(argument.encode("utf-8", "surrogatepass")) for argument in arguments]
    if max(sizes) >= _ARGUMENT_BYTES or sum(sizes) >= _ARGUMENTS_BYTES:
        raise PolicyError(
            f"a command's arguments take {sum(sizes)} bytes, the longest {max(sizes)}: "
            "more than the system passes on",
            where="sandbox",
            todo="Give Python source as `code`, upload a file, or give a standard input.",
        )
    return arguments


__all__ = ["arguments_of"]
