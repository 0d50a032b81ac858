"""`metrics`, `report` and `export`: what is done with labels and runs, without any model."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..errors import InputError
from ._console import check_output_file, print_json, reported, stderr, stdout

if TYPE_CHECKING:
    from ..store import RunFolder

Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]

metrics_app = typer.Typer(help="Metrics from labels that a file already holds; no model.")


class ExportFormat(StrEnum):
    """What a run can be exported as."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    RAGCHECKER = "ragchecker"
    HUGGINGFACE = "huggingface"
    INSPECT = "inspect"


def register(app: typer.Typer) -> None:
    """Add this file's commands to the command tree."""
    app.add_typer(metrics_app, name="metrics")
    app.command("report")(reported(_report))
    app.command("export")(reported(_export))


def _ragchecker(
    file: Annotated[Path, typer.Argument(help="RAGChecker's output JSON, with labels.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the published shape.")] = False,
) -> None:
    """Compute RAGChecker's metrics afresh from a file's labels, as published.

    Whatever `metrics` the file holds is ignored.
    """
    from ..judges import ragchecker_file

    result = ragchecker_file(read_json(file))
    if as_json:
        print_json(result)
        return
    groups = result["metrics"]
    table = Table("group", "metric", "percent")
    assert isinstance(groups, dict)
    for group, metrics in groups.items():
        for name, percent in metrics.items():
            table.add_row(group, name, f"{percent:.1f}")
    stdout.print(table)


metrics_app.command("ragchecker")(reported(_ragchecker))


def read_json(file: Path) -> object:
    """Read a JSON file.

    Raises:
        InputError: it is missing, a folder, empty, not UTF-8 or not JSON, or a name stands
            twice in one of its objects; the text says which.
    """
    from ..store import unique_names

    if file.is_dir():
        raise InputError("this is a folder, not a file", where=str(file), todo="Name a JSON file.")
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", where=str(file), todo="Check the path.") from None
    if not data.strip():
        raise InputError("the file is empty", where=str(file))
    try:
        value: object = json.loads(
            data.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            object_pairs_hook=unique_names,
        )
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8", where=str(file), todo="Convert the file to UTF-8."
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"not JSON: {error.msg}",
            where=f"{file}, line {error.lineno}, column {error.colno}",
        ) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", where=str(file)) from None
    except ValueError as error:  # NaN, a name that stands twice, thousands of digits
        raise InputError(f"not JSON that can be read: {error}", where=str(file)) from None
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value; leave it out, or write null")


def _report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.", metavar="RUN...")],
    *,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write.")] = Path(
        "report.html"
    ),
    plots: Annotated[
        Path | None,
        typer.Option("--plots", help="Folder for the plots as SVG files.", metavar="FOLDER"),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the runs' summaries and differences on stdout."),
    ] = False,
    force: Force = False,
) -> None:
    """Write one self-contained HTML page on one or several runs, which are compared."""
    from contextlib import ExitStack

    from ..reports import compare_runs, read_runs, write_plots, write_report
    from ..store import RunFolder

    check_output_file(out, what="the report", replaces=is_report, force=force)
    if plots is not None:
        check_plots_folder(plots, force=force)
    with ExitStack() as stack:
        read = read_runs([stack.enter_context(RunFolder.open(run)) for run in runs])
        write_report(read, out)
        stderr.print(f"wrote {out}", markup=False)
        if plots is not None:
            made = write_plots(read, plots)
            stderr.print(f"wrote {len(made)} plots in {plots}", markup=False)
        if as_json:
            print_json(
                {
                    "schema": "basanite.summaries/1",
                    "runs": [{"letter": run.letter, **run.summary.to_json()} for run in read],
                    "comparisons": compare_runs(read).to_json(),
                }
            )


def check_plots_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that can't take plots, or in which one would cost another's drawing."""
    from ..reports import is_plot

    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file, not a folder", where=str(folder), todo="Name a folder.")
    if not folder.parent.exists():
        raise InputError(
            "the folder does not exist", where=str(folder.parent), todo="Make it, or name another."
        )
    strange = [file for file in sorted(folder.glob("*.svg")) if not is_plot(file)]
    if strange and not force:
        raise InputError(
            "a plot might be written over a drawing that is there",
            where=str(strange[0]),
            todo="Name another folder, or give --force.",
        )


def is_report(file: Path) -> bool:
    """Whether a file is an earlier report."""
    with file.open("rb") as opened:
        return b'<meta name="generator" content="basanite ' in opened.read(4096)


def _export(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    *,
    form: Annotated[ExportFormat, typer.Option("--format", help="What to write.")],
    out: Annotated[
        Path | None,
        typer.Option(
            *("-o", "--out"),
            help="File to write (huggingface: folder; inspect: .eval or .json); stdout where "
            "left out.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print counts on stdout; needs -o.")
    ] = False,
    force: Force = False,
) -> None:
    """Write a run's judgments as JSONL, Parquet, RAGChecker's JSON, dataset or Inspect log."""
    from ..store import RunFolder

    if out is None and (as_json or form not in {ExportFormat.JSONL, ExportFormat.RAGCHECKER}):
        raise InputError(
            "there is no file to write to", todo="Name one with -o FILE; stdout can't hold this."
        )
    if out is not None and form is not ExportFormat.HUGGINGFACE:
        check_output_file(out, what="the export", force=force)
    with RunFolder.open(run) as folder:
        counts = _write_export(folder, form, out, force=force)
        if "not_judged" not in counts:
            counts["not_judged"] = max(0, folder.manifest.input.rows - sum(counts.values()))
    text = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    stderr.print(f"{out or 'stdout'}: {text}", markup=False)
    if as_json:
        print_json({"schema": "basanite.export/1", "format": form.value, **counts})


def _write_export(
    folder: RunFolder, form: ExportFormat, out: Path | None, *, force: bool
) -> dict[str, int]:
    from .. import store
    from ..reports import summarise

    if form is ExportFormat.HUGGINGFACE:
        assert out is not None
        return store.export_huggingface(folder, out, summarise, force=force)
    if form is ExportFormat.INSPECT:
        assert out is not None
        return store.export_inspect(folder, out, summarise)
    write = {
        ExportFormat.JSONL: store.export_jsonl,
        ExportFormat.PARQUET: store.export_parquet,
        ExportFormat.RAGCHECKER: store.export_ragchecker,
    }[form]
    return write(folder, out or "-")
