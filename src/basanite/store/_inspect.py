"""Export in the log format of Inspect (inspect_ai), version 2, as `.eval` or as `.json`.

An `.eval` file is a zip: `_journal/start.json` (how the run was made), `samples/ID_epoch_N.json`,
`summaries.json` (the samples in short) and `header.json` (all but the samples). It is written with
deflate, which every reader knows; Inspect itself writes zstandard. `inspect_ai/log/_log.py`
holds the shapes, `inspect_ai/log/_recorders/eval.py` the names of the members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from ..errors import InputError
from ..schema import NOT_JUDGED, NOT_VALIDATED, Sampling
from ._files import atomic_file
from ._folder import RunFolder
from ._inspect_epochs import Epochs
from ._inspect_files import write_eval, write_json
from ._inspect_sample import Json, Samples
from ._inspect_scores import left_out, result_scores, shown_scores
from ._numbers import RunNumbers
from ._ordered import items_in_order
from ._public import public_fingerprint

_VERSION = 2


def export_inspect(
    folder: RunFolder, out: str | Path, summarise: Callable[[RunFolder], RunNumbers]
) -> dict[str, int]:
    """Write a run as a log that `inspect view` shows and `read_eval_log` reads.

    Rows that could not be scored are samples whose scores are unscored, never 0. Rows that the
    run has not come to are so too, and the log then has the status `cancelled`. Texts are
    read and written one sample at a time.

    Args:
        folder: the run.
        out: a file that ends in `.eval` or `.json`.
        summarise: gives the run's scores, the log's metrics; it is called once the path is known
            to be fit.

    Returns:
        `items` with a judgment, and `not_judged`.

    Raises:
        InputError: the name ends otherwise, or the path can't be a file.
        StorageError: it can't be written.
    """
    path = Path(out)
    writers = {".eval": write_eval, ".json": write_json}
    if path.suffix not in writers:
        raise InputError(
            "Inspect knows a log by its name's end", where=str(path), todo="Use .eval or .json."
        )
    counts = {"items": 0, "not_judged": 0}
    with atomic_file(path) as file:
        numbers = summarise(folder)
        epochs = Epochs(folder.answers())
        header = _header(folder, numbers, epochs)
        writers[path.suffix](file, header, _samples(folder, numbers, epochs, counts))
    unseen = folder.manifest.input.rows - counts["items"] - counts["not_judged"]
    counts["not_judged"] += max(0, unseen)
    return counts


def _samples(
    folder: RunFolder, numbers: RunNumbers, epochs: Epochs, counts: dict[str, int]
) -> Iterator[Json]:
    samples = Samples(folder.manifest, numbers)
    for item in items_in_order(folder):
        counts["not_judged" if item.judgment is None else "items"] += 1
        if item.row is not None:
            id_, epoch = epochs.place(item.row)
        else:
            assert item.judgment is not None
            id_, epoch = item.judgment.subject_id, 1
        yield samples.sample(item, id_, epoch)


def _header(folder: RunFolder, numbers: RunNumbers, epochs: Epochs) -> Json:
    """Give an `EvalLog` without its samples; the order of its fields is part of the format."""
    primary = {"scorer": numbers.primary, "score": numbers.primary, "metric": "mean"}
    scores = result_scores(numbers)
    not_judged = numbers.scores[numbers.primary].unscored.get(NOT_JUDGED, 0)
    return {
        "version": _VERSION,
        "status": "cancelled" if not_judged else "success",
        "eval": _eval(folder, numbers, epochs) | {"headline_metric": primary},
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": numbers.n_total,
            "completed_samples": numbers.n_total - not_judged,
            "scores": scores,
            "headline": primary if scores[0]["metrics"] else None,
        },
        "stats": {
            "started_at": folder.manifest.created,
            "completed_at": folder.ledger.latest(folder.run, "judgment") or "",
            **Samples(folder.manifest, numbers).usage(numbers.usage),
        },
    }


def _eval(folder: RunFolder, numbers: RunNumbers, epochs: Epochs) -> Json:
    """Give the `EvalSpec`. What is evaluated is the agent; the judge's model is the grader."""
    manifest = folder.manifest
    judge = manifest.judge
    models = Samples(manifest, numbers).role_models
    config = _sampling(judge.sampling)
    roles = {role: {"model": name, "config": config, "args": {}} for role, name in models.items()}
    metrics = [{"name": "mean"}, {"name": "stderr", "options": {"cluster": "task"}}]
    return {
        "eval_id": manifest.run,
        "run_id": manifest.run,
        "created": manifest.created,
        "task": f"basanite/{judge.judge}",
        "task_id": manifest.run,
        "task_version": 0,
        "task_args": {},
        "dataset": {"name": _input_name(manifest.input.path), "samples": epochs.samples},
        "model": _agent(epochs.agents),
        "model_roles": roles or None,
        "config": {"epochs": epochs.epochs},
        "packages": {"basanite": manifest.basanite},
        "scorers": [{"name": name, "metrics": metrics} for name in shown_scores(numbers)],
        "metadata": {
            "made_by": "basanite export --format inspect",
            "validation": NOT_VALIDATED,
            "fingerprint": manifest.fingerprint_digest,
            "judge": public_fingerprint(judge, manifest),
            "input_sha256": manifest.input.sha256,
            "scores_left_out": left_out(numbers) or None,
        },
    }


def _agent(agents: set[str]) -> str:
    if len(agents) == 1:
        return next(iter(agents))
    return f"{len(agents)} agents" if agents else "unknown"


def _input_name(path: str) -> str:
    return PurePath(path.replace("\\", "/")).name


def _sampling(sampling: Sampling | None) -> Json:
    """Give Inspect's `GenerateConfig`."""
    return {} if sampling is None else sampling.model_dump(mode="json")
