"""The report as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from .. import __version__
from ..errors import InputError
from ._items import ItemBook
from ._render import asset, environment, section_body
from ._run import ReadRun, read_runs
from ._section import Section
from ._sections import SECTIONS
from ._view import RunView


def write_report(
    views: Sequence[RunView],
    out: Path,
    *,
    extra: Sequence[Section] = (),
    title: str = "basanite report",
) -> None:
    """Write one HTML page on one or several runs; it needs no other file and no network.

    Judgments are read twice and answers four times, so that only a few numbers per item are
    held. The page holds the texts of at most 10,000 items. The file appears whole
    or not at all.

    Args:
        views: the runs, such as `RunFolder`s, in the order they are shown.
        out: the file to write; an existing one is replaced.
        extra: sections of the caller's own, shown before the manifest.
        title: the page's heading.

    Raises:
        InputError: there is no run, or two sections share an id.
        OSError: the file can't be written.
    """
    if not views:
        raise InputError("a report needs at least one run", todo="Name a run's folder.")
    runs = read_runs(views)
    sections = _sections(runs, extra)
    _write_whole(out, _page(runs, sections, title))


def _sections(runs: Sequence[ReadRun], extra: Sequence[Section]) -> list[Section]:
    made = [section for make in SECTIONS if (section := make(runs)) is not None]
    sections = [*made[:-1], *extra, made[-1]]
    ids = [section.id for section in sections]
    for name in ids:
        if ids.count(name) > 1:
            raise InputError(
                f"two sections have the id {name!r}", todo="Give each section an id of its own."
            )
    return sections


def _page(runs: Sequence[ReadRun], sections: Sequence[Section], title: str) -> Iterator[str]:
    style, script = asset("report.css"), asset("report.js")
    return (
        environment()
        .get_template("page.html.j2")
        .generate(
            title=title,
            version=__version__,
            policy=_policy(style, script),
            # Both are files of this package.
            style=Markup(style),
            script=Markup(script),
            sections=[(section, section_body(section)) for section in sections],
            blocks=ItemBook(runs).blocks(),
        )
    )


def _policy(style: str, script: str) -> str:
    """Give the content security policy: our style and script by their hash, nothing else."""
    return (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    found = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{found}'"


def _write_whole(out: Path, parts: Iterator[str]) -> None:
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(parts)
        # mkstemp makes the file readable for its owner only; a report is meant to be shared
        # as far as the user's umask allows.
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
