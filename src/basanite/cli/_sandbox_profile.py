"""`profile`: build, list and remove the environments of programs that sandboxes use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from . import _options as opt
from ._console import print_json, reported, stderr, stdout

if TYPE_CHECKING:
    from ..sandboxes import Profile

_MB = 2**20

ProfileName = Annotated[str, typer.Argument(help="base or scanpy.", metavar="NAME")]

profile_app = typer.Typer(
    help="Environments of programs for sandboxes: pinned packages, ready to start.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command tree."""
    app.add_typer(profile_app, name="profile")


def _build(
    name: ProfileName,
    *,
    python: Annotated[
        Path | None,
        typer.Option(
            help="A Python 3.11 to 3.13 that all users may read; the system's where left out.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Build it anew.")] = False,
    as_json: opt.AsJson = False,
) -> None:
    """Build a profile where it is not there yet: minutes, and up to 1 GB."""
    from ..sandboxes import build_profile

    def say(line: str) -> None:
        stderr.print(line, markup=False)

    profile = build_profile(name, python=python, force=force, say=say)
    if as_json:
        print_json({"schema": "basanite.profile/1", **_facts(profile)})
        return
    stdout.print(
        f"{profile.name}: Python {profile.python_version}, {len(profile.packages)} packages, "
        f"{profile.size_bytes / _MB:.0f} MB, built in {profile.build_s:.0f} s\n{profile.prefix}",
        markup=False,
    )


def _list(*, as_json: opt.AsJson = False) -> None:
    """List the profiles that can be built, and those that are."""
    from ..sandboxes import PROFILE_NAMES, built_profiles, find_profile

    current = {name: find_profile(name) for name in PROFILE_NAMES}
    built = list(built_profiles())
    if as_json:
        rows = [{**_facts(one), "current": one == current.get(one.name)} for one in built]
        missing = [name for name, found in current.items() if found is None]
        print_json({"schema": "basanite.profiles/1", "built": rows, "not_built": missing})
        return
    table = Table("profile", "state", "MB", "place")
    for one in built:
        state = "ready" if one == current.get(one.name) else "outdated"
        table.add_row(one.name, state, f"{one.size_bytes / _MB:.0f}", str(one.prefix))
    for name, found in current.items():
        if found is None:
            table.add_row(name, "not built", "", f"basanite sandbox profile build {name}")
    stdout.print(table)


def _remove(
    name: ProfileName,
    *,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Keep the one of today's list of packages.")
    ] = False,
) -> None:
    """Remove a profile, in all its versions. Sandboxes that use it must be closed."""
    from ..sandboxes import remove_profiles

    for profile in remove_profiles(name, outdated=outdated):
        stdout.print(f"removed {profile.prefix}", markup=False)


def _facts(profile: Profile) -> dict[str, object]:
    facts: dict[str, object] = profile.model_dump(mode="json")
    return facts


profile_app.command("build")(reported(_build))
profile_app.command("list")(reported(_list))
profile_app.command("remove")(reported(_remove))
