"""What commands share on the terminal: messages on stderr, one summary on stdout, exit codes."""

from __future__ import annotations

import functools
import inspect
import json
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ParamSpec

import typer
from rich.console import Console

from ..errors import BasaniteError, InputError, StorageError

P = ParamSpec("P")

stderr = Console(stderr=True, highlight=False, soft_wrap=True)
stdout = Console(highlight=False, soft_wrap=True)

UNSCORED_EXIT = 4
"""Exit code: the work is done, but more was left unscored than `--max-unscored` allows."""


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object on stdout; nothing else may be printed there with `--json`."""
    # In ASCII: a lone surrogate, or a terminal with another encoding, must not stop it.
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    sys.stdout.flush()


def fail(error: BasaniteError) -> int:
    """Print an error for a person and give its exit code."""
    stderr.print(f"[bold red]error[/] [dim]({error.code})[/]", end=" ")
    # markup=False: what comes from files and servers may hold square brackets.
    stderr.print(str(error), markup=False)
    return error.exit_code


def reported(command: Callable[P, int | None]) -> Callable[P, None]:
    """Wrap a command: the one place where errors become messages and exit codes.

    The command gives its exit code, or None for 0.
    """
    resumes = "resume" in inspect.signature(command).parameters

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(_exit_code(lambda: command(*args, **kwargs), resumes=resumes))

    return wrapper


def _exit_code(command: Callable[[], int | None], *, resumes: bool) -> int:
    try:
        return command() or 0
    except BasaniteError as error:
        return fail(error)
    except KeyboardInterrupt:
        kept = "; what was finished is kept. Go on with --resume." if resumes else ""
        stderr.print(f"stopped{kept}")
        return 130
    except BrokenPipeError:
        # The reader of our output went away (`| head`); that is not an error of ours.
        return 0
    except OSError as error:
        return fail(from_os_error(error))
    except Exception:
        logging.getLogger("basanite").exception("unexpected error")
        stderr.print("[bold red]error[/] this is a bug in basanite; the traceback is above.")
        return 1


def from_os_error(error: OSError) -> BasaniteError:
    """Say what the system refused as an error of ours, with what to do."""
    where = str(error.filename) if error.filename else None
    what = error.strerror or str(error)
    if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError):
        return InputError(what, where=where, todo="Check the path.")
    return StorageError(
        what, where=where, todo="Check the free space (df -h) and the permissions of that path."
    )


def check_output_file(
    path: Path,
    *,
    what: str,
    replaces: Callable[[Path], bool] = lambda file: False,
    force: bool = False,
) -> None:
    """Refuse an output path that can't become a file, or would cost one, before any work is done.

    Args:
        path: the file to write.
        what: what will be written, for the message.
        replaces: whether a file that is there may be written over.
        force: write over any file but a run's own.

    Raises:
        InputError: the path is a folder, its parent folder does not exist, or a file is there.
    """
    from ..store import is_run_file

    if is_run_file(path):
        raise InputError(
            f"{what} would be written over a part of a run", where=str(path), todo="Name another."
        )
    if path.is_file() and not force and not replaces(path):
        raise InputError(
            f"{what} would be written over a file that is there",
            where=str(path),
            todo="Name another, or give --force.",
        )
    if path.is_dir():
        raise InputError(f"{what} would be written over a folder", where=str(path))
    if not path.parent.exists():
        raise InputError(
            "the folder does not exist", where=str(path.parent), todo="Make it, or name another."
        )
