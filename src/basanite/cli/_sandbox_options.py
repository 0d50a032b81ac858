"""What the commands that open a sandbox share: their options, and the policy these ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError, PolicyError

if TYPE_CHECKING:
    from ..sandboxes import SandboxSpec

BROKEN = 125
"""Exit code: the sandbox failed, or could not be opened; what ran in it tells nothing."""
_INPUTS = PurePosixPath("/inputs")

Backend = Annotated[
    str | None,
    typer.Option(help="bubblewrap, oci or gvisor; else the first that works.", metavar="B"),
]
Wall = Annotated[float, typer.Option(help="Seconds until it is killed.", metavar="S")]
CpuTime = Annotated[
    float | None, typer.Option(help="Seconds of CPU, of all processes.", metavar="S")
]
Cpus = Annotated[float | None, typer.Option(help="Cores that may be busy at a time.", metavar="N")]
Memory = Annotated[int, typer.Option(help="MB of memory, of all processes.", metavar="MB")]
Pids = Annotated[int, typer.Option(help="Processes and threads at a time.", metavar="N")]
Disk = Annotated[int, typer.Option(help="MB in the work folder.", metavar="MB")]
Workdir = Annotated[
    str, typer.Option(help="Where the work folder lies: memory or disk.", metavar="WHERE")
]
Inputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--input",
        help="File or folder, seen as /inputs/NAME and never writable; may be given several times.",
        metavar="PATH",
    ),
]
Env = Annotated[
    list[str] | None,
    typer.Option(help="A variable inside; may be given several times.", metavar="NAME=VALUE"),
]
Gpu = Annotated[list[int] | None, typer.Option(help="A GPU inside, by its index.", metavar="N")]
Floor = Annotated[
    list[str] | None,
    typer.Option(
        help="A guarantee without which nothing is run: strict_limits or own_kernel.",
        metavar="NAME",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Folder for the files of the work folder; it must be new or empty.",
        metavar="DIR",
    ),
]


def specification(
    profile: str | None,
    *,
    inputs: list[Path] | None,
    env: list[str] | None,
    limits: dict[str, object],
    **fields: object,
) -> SandboxSpec:
    """Give the policy that a command's options ask for.

    Raises:
        PolicyError: it contradicts itself.
        InputError: the profile is not built here.
    """
    from ..sandboxes import SandboxSpec

    spec = SandboxSpec.create(
        mounts=list(_mounts(inputs or [])),
        environment=dict(map(_variable, env or [])),
        limits=limits,
        **{name: value for name, value in fields.items() if value is not None},
    )
    return with_profile(spec, profile)


def with_profile(spec: SandboxSpec, profile: str | None) -> SandboxSpec:
    """Give a policy with the Python of a profile; as it is where none is named.

    Raises:
        InputError: the profile is not built here.
    """
    from ..sandboxes import find_profile

    if profile is None:
        return spec
    found = find_profile(profile)
    if found is None:
        raise InputError(
            f"the profile {profile!r} is not built here",
            where="--profile",
            todo=f"basanite sandbox profile build {profile}",
        )
    return found.apply(spec)


def _mounts(paths: list[Path]) -> Iterator[dict[str, object]]:
    seen: dict[str, Path] = {}
    for path in paths:
        # By its own name, also where it is a link: stores of data are full of these.
        source, name = path.resolve(), path.absolute().name or path.resolve().name
        if name == "..":
            name = source.name
        if name in seen:
            raise PolicyError(
                f"two inputs have the name {name!r}: {seen[name]} and {source}",
                where="--input",
                todo="Give the folder above them, or rename one.",
            )
        seen[name] = source
        yield {"source": source, "target": _INPUTS / name, "kind": "input"}


def _variable(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise PolicyError(f"{text!r} is no NAME=VALUE", where="--env")
    return name, value


def check_output(output: Path | None) -> None:
    """Refuse an output folder that holds something, before any work is done."""
    if output is None:
        return
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError("is not an empty folder", where=str(output), todo="Name another one.")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"can't be made ({error.strerror})", where=str(output), todo="Name another folder."
        ) from None


__all__ = [
    "BROKEN",
    "Backend",
    "CpuTime",
    "Cpus",
    "Disk",
    "Env",
    "Floor",
    "Gpu",
    "Inputs",
    "Memory",
    "Output",
    "Pids",
    "Wall",
    "Workdir",
    "check_output",
    "specification",
]
