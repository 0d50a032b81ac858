"""The command line, one file per command group."""

from __future__ import annotations


def main() -> None:
    """Run `basanite` with the arguments of this process and exit with its code."""
    from ._app import app

    app()


__all__ = ["main"]
