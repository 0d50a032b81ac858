"""The command line, one file per command group."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run `basanite` with the arguments of this process and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that can't show a character gets its number instead of a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        from ._app import app

        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)


__all__ = ["main"]
