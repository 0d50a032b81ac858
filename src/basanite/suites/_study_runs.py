"""Judged runs as the arms of a study: whether their scores may be subtracted at all."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from ..store import RunFolder


def check_runs(folders: Sequence[RunFolder]) -> tuple[str, ...]:
    """Refuse runs whose scores are of different kinds, and say what else differs in their judging.

    An arm that another judge scored differs from the rest by that judge as well, and no pairing
    takes this out.

    Args:
        folders: the runs of all arms.

    Returns:
        Notes for the reader of the study (`CriticStudy.notes`): one if the judge is the same by
        name and its fingerprints differ, as by another model, prompt or setting.

    Raises:
        InputError: the judges or the primary scores of two runs differ.
    """
    kinds = {folder.path: kind for folder in folders if (kind := _kind(folder)) is not None}
    first = next(iter(kinds), None)
    for path, kind in kinds.items():
        if first is not None and kind != kinds[first]:
            raise InputError(
                f"was judged by {kind}, and {first} by {kinds[first]}: their difference says "
                "nothing of the arms",
                where=str(path),
                todo="Judge all arms with one judge and the same settings.",
            )
    if len({folder.manifest.fingerprint_digest for folder in folders}) < 2:
        return ()
    parts = sorted({part for folder in folders for part in _changed(folders[0], folder)})
    return (
        f"The judge of the runs differs in {', '.join(parts)}: a difference "
        "between arms may come from that. Judge them with the same model, prompts and settings.",
    )


def _kind(folder: RunFolder) -> str | None:
    # A run that was stopped before its first judgment has no score that could be of another kind.
    judgment = next(folder.judgments(), None)
    return None if judgment is None else f"{folder.manifest.judge.judge} ({judgment.primary})"


def _changed(one: RunFolder, other: RunFolder) -> list[str]:
    """Name the parts of the fingerprint that differ; of settings, each by its own name."""
    here, there = (each.manifest.judge.model_dump(mode="json") for each in (one, other))
    parts = [name for name in here if name != "options" and here[name] != there[name]]
    options, others = here["options"], there["options"]
    names = {*options, *others}
    return parts + [name for name in names if options.get(name) != others.get(name)]
