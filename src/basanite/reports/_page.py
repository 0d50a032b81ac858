"""The report as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from .. import __version__
from ..errors import InputError
from ._items import ItemBook
from ._render import asset, environment, section_body
from ._run import ReadRun, read_runs
from ._section import Section
from ._sections import SectionMaker, default_sections
from ._view import RunView

STYLES = ("report.css", "report_plots.css", "report_items.css", "report_board.css")
SCRIPTS = (
    "report_base.js",
    "report_tables.js",
    "report_text.js",
    "report_facts.js",
    "report_item.js",
    "report_list.js",
    "report_start.js",
)
"""Joined in this order, as one script whose hash the page's policy names."""


def write_report(
    views: Sequence[RunView | ReadRun],
    out: Path,
    *,
    sections: Iterable[Section | SectionMaker] | None = None,
    extra: Sequence[Section] = (),
    title: str = "basanite report",
) -> None:
    """Write one HTML page on one or several runs; it needs no other file and no network.

    Judgments are read twice and answers four times, so that only a few numbers per item are
    held. The page holds the texts of at most 10,000 items and 150 million characters of them, and
    none where `items` is not among its sections. The file appears whole or not at all.

    Args:
        views: the runs, such as `RunFolder`s, in the order they are shown; or what `read_runs`
            gives, where there are judge cards, or plots of the same runs.
        out: the file to write; an existing one is replaced.
        sections: what the page shows, in its order: ready sections, or functions that make one
            from the runs. Left out: `default_sections`, whose example shows how to choose.
        extra: sections of the caller's own, shown before the manifest.
        title: the page's heading.

    Raises:
        InputError: there is no run, or two sections share an id.
        OSError: the file can't be written.
    """
    if not views:
        raise InputError("a report needs at least one run", todo="Name a run's folder.")
    runs = _read(views)
    chosen = default_sections().values() if sections is None else sections
    sections_ = _sections(runs, chosen, extra)
    has_items = any(section.id == "items" for section in sections_)
    write_page(sections_, out, title, ItemBook(runs).blocks() if has_items else ())


def write_page(
    sections: Sequence[Section], out: Path, title: str, blocks: Iterable[Markup] = ()
) -> None:
    """Write sections as one HTML page, whole or not at all.

    Args:
        sections: in their order.
        out: the file to write; an existing one is replaced.
        title: the page's heading.
        blocks: data that the page's script reads.

    Raises:
        InputError: two sections share an id.
        OSError: the file can't be written.
    """
    ids = [section.id for section in sections]
    for name in ids:
        if ids.count(name) > 1:
            raise InputError(
                f"two sections have the id {name!r}", todo="Give each section an id of its own."
            )
    _write_whole(out, _page(sections, title, blocks))


def _read(views: Sequence[RunView | ReadRun]) -> list[ReadRun]:
    read = [view for view in views if isinstance(view, ReadRun)]
    if len(read) == len(views):
        return read
    # Read once more if some were, so that no two runs have the same letter.
    return read_runs([view.view if isinstance(view, ReadRun) else view for view in views])


def _sections(
    runs: Sequence[ReadRun], chosen: Iterable[Section | SectionMaker], extra: Sequence[Section]
) -> list[Section]:
    made = [part if isinstance(part, Section) else part(runs) for part in chosen]
    sections = [section for section in made if section is not None]
    end = len(sections)
    if sections and sections[-1].id == "manifest":
        end -= 1
    sections[end:end] = extra
    return sections


def _page(sections: Sequence[Section], title: str, blocks: Iterable[Markup]) -> Iterator[str]:
    style, script = _style(), _script()
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
            blocks=blocks,
        )
    )


def _style() -> str:
    return "".join(asset(name) for name in STYLES)


def _script() -> str:
    parts = "".join(asset(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


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
