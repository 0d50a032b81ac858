"""`suite whatworked episode`: the protocol as a host process and its clients."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError, SetupError
from . import _options as opt
from ._console import print_json, reported, stderr, stdout
from ._suite_whatworked_tasks import NAME

if TYPE_CHECKING:
    from ..suites.whatworked import Reference

app = typer.Typer(
    help="One agent on one workflow, with a budget of measurements.", no_args_is_help=True
)


class ViewChoice(StrEnum):
    """What the agent sees of a workflow."""

    FULL = "full"
    OPAQUE = "opaque"
    RULES = "rules"


Task = Annotated[
    str,
    typer.Argument(
        help="Name of a published task, or the file of a reference.", show_default=False
    ),
]


def register(suite: typer.Typer) -> None:
    """Add these commands to the suite's."""
    for name, command in (
        ("host", _host),
        ("call", _call),
        ("tools", _tools),
        ("client", _client),
        ("score", _score),
    ):
        app.command(name)(reported(command))
    suite.add_typer(app, name="episode")


def _reference(task: str) -> Reference:
    from ..suites.whatworked import (
        WORKFLOWS,
        published_references,
        read_reference,
        shipped_reference,
    )

    if task in WORKFLOWS:
        return shipped_reference(task)
    for one in published_references():
        if one.name == task:
            return one
    if not Path(task).is_file():
        raise InputError(
            f"there is no task {task[:60]!r}, and no such file",
            todo="`basanite suite whatworked list` names the published ones, `workflows` ours.",
        )
    return read_reference(task)


def _code(task: str, view: ViewChoice, path: Path | None) -> str | None:
    from ..suites.whatworked import WORKFLOWS, shipped_workflow

    if path is not None:
        return path.read_text(encoding="utf-8")
    return shipped_workflow(task).code if view is ViewChoice.FULL and task in WORKFLOWS else None


def _host(
    task: Task,
    *,
    state: Annotated[Path, typer.Option(help="State file; one that is there goes on.")],
    socket: Annotated[Path, typer.Option(help="Unix socket for the agent.")],
    budget: Annotated[float, typer.Option(help="Measurements beyond the anchors.", min=0)] = 8,
    view: Annotated[ViewChoice, typer.Option(help="What the agent sees.")] = ViewChoice.OPAQUE,
    code: Annotated[
        Path | None,
        typer.Option(help="The workflow's code, for the view full; known of shipped ones."),
    ] = None,
    helpers: Annotated[
        bool, typer.Option(help="Let the agent ask for fits and suggestions.")
    ] = True,
    calculate_calls: Annotated[int, typer.Option(help="Calculations allowed.", min=0)] = 20,
    calculate_seconds: Annotated[
        float, typer.Option(help="CPU seconds of all calculations together.", min=0)
    ] = 10.0,
    any_user: Annotated[
        bool,
        typer.Option("--any-user", help="Let an agent in a sandbox, another user, connect."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Of a noisy workflow's errors.", min=0)] = 0,
) -> None:
    """Serve an episode until its submission. The reference stays in this process."""
    from ..suites.whatworked import EpisodeHost, EpisodeOptions, serve

    options = EpisodeOptions(
        budget=budget,
        view=view.value,
        code=_code(task, view, code),
        helpers=helpers,
        calculate_calls=calculate_calls,
        calculate_cpu_s=calculate_seconds,
        seed=seed,
    )
    with EpisodeHost(state, _reference(task), options) as host:
        if host.submitted:
            raise InputError("the episode is closed", where=str(state), todo="Score it.")
        stderr.print(f"serving on {socket}", markup=False)
        serve(host, socket, any_user=any_user)


def _call(
    socket: Annotated[Path, typer.Argument(help="The host's socket.", show_default=False)],
    tool: Annotated[str, typer.Argument(help="task, measure, status, …", show_default=False)],
    arguments: Annotated[str, typer.Argument(help="Arguments as a JSON object.")] = "{}",
) -> None:
    """Call one tool of an episode and print its JSON."""
    import json

    from ..store import unique_names
    from ..suites.whatworked import EpisodeClient, EpisodeRefused

    try:
        given = json.loads(arguments, object_pairs_hook=unique_names)
    except json.JSONDecodeError:
        given = None
    except ValueError as error:
        raise InputError(f"the arguments can't be read: {error}") from None
    if not isinstance(given, dict):
        raise InputError("the arguments are no JSON object", todo='Such as {"masks": ["0110"]}.')
    try:
        print_json(EpisodeClient(str(socket)).call(tool, given))
    except EpisodeRefused as error:
        raise InputError(f"refused ({error.code}): {error}") from None
    except OSError as error:
        raise SetupError(f"the host can't be reached: {error}", where=str(socket)) from None


def _tools() -> None:
    """Print the tools as OpenAI-compatible servers take them."""
    from ..suites.whatworked import TOOLS

    print_json({"schema": f"basanite.suite.{NAME}.tools/1", "tools": list(TOOLS)})


def _client() -> None:
    """Print the client, one file of Python that needs no basanite, for an agent's sandbox."""
    import sys
    from importlib.resources import files

    source = files("basanite.suites.whatworked").joinpath("_client.py")
    sys.stdout.write(source.read_text(encoding="utf-8"))


def _score(
    task: Task,
    state: Annotated[Path, typer.Argument(help="The episode's state file.", show_default=False)],
    *,
    agent: Annotated[str, typer.Option(help="Name of the agent.")] = "agent",
    as_json: opt.AsJson = False,
) -> None:
    """Score an episode: the table that was handed in, and estimators on its measurements."""
    from ..suites.whatworked import episode_submission, estimator_named, score_submission

    estimators = [estimator_named(name) for name in ("gp", "ard")]
    found = score_submission(episode_submission(state, _reference(task), agent=agent), estimators)
    if as_json:
        print_json({"schema": f"basanite.suite.{NAME}.episode/1"} | found.to_json())
        return
    delivered = found.delivered
    shown = "none handed in" if delivered is None else f"{delivered.recovery:.3f}"
    stdout.print(f"recovery of the table: {shown}", markup=False)
    for name, score in found.replayed.items():
        stdout.print(f"recovery by {name} on its measurements: {score.recovery:.3f}", markup=False)
