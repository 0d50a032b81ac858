"""The page's sections as data: what a report shows by default, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._choice_section import choice
from ._comparison_section import comparison
from ._distribution_section import distribution
from ._run import ReadRun
from ._section import Section
from ._sections_groups import agents, tasks
from ._sections_run import costs, items, judges, manifest, overview
from ._sections_scores import agreement, baseline, scores
from ._unscored_section import unscored

SectionMaker = Callable[[Sequence[ReadRun]], Section | None]
"""Makes one section from the runs, or None where it has nothing to say on them."""

SECTIONS: dict[str, SectionMaker] = {
    "overview": overview,
    "scores": scores,
    "distributions": distribution,
    "unscored": unscored,
    "judges": judges,
    "comparison": comparison,
    "choice": choice,
    "baseline": baseline,
    "agreement": agreement,
    "agents": agents,
    "tasks": tasks,
    "costs": costs,
    "items": items,
    "manifest": manifest,
}
"""Id of each section to what makes it; the page has this order."""


def default_sections() -> dict[str, SectionMaker]:
    """Give the sections of a report by their ids, in their order, to choose from.

    Returns:
        A new dictionary; what is done to it changes no other report.

    Example:
        Leave the costs out, put the judges first, and add a section of one's own::

            from basanite.reports import Section, default_sections, write_report

            def sizes(runs):
                texts = [f"{run.letter}: {run.summary.n_total} rows" for run in runs]
                return Section("sizes", "Sizes", "; ".join(texts))

            parts = default_sections()
            del parts["costs"]
            chosen = [parts.pop("judges"), *parts.values(), sizes]
            write_report(runs, out, sections=chosen)
    """
    return dict(SECTIONS)
