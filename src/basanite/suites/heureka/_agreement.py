"""How far a judge's ratings agree with experts', and experts with each other.

The published procedure takes, for each answer, the mode or the median of its experts' ratings as
the truth. A truth of several experts is steadier than any one of them, so that a judge's agreement
with it says little without the same figures for people: each expert against the others' median
stands beside it here.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from ...errors import InputError
from ...stats import Bootstrap, Coefficient, paired_correlation, quadratic_kappa
from ...store import Columns
from .._rows import name_in, name_of, number_in, parsed_rows, spelt
from ._boards import RATINGS

SCHEMA = "basanite.suite.heureka.agreement/1"
_COLUMNS = Columns(
    required=("item", "rater", "rating"), known=frozenset({"item", "rater", "rating", "task"})
)


@dataclass(frozen=True, slots=True)
class ExpertRating:
    """One rating of one answer by an expert or a judge."""

    item: str
    """Which answer was rated."""
    rater: str
    rating: float
    """From 1 to 5; an expert's is a whole number, a judge's may lie between."""
    task: str
    """What intervals are clustered by, such as the question's paper."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """One judge, or the experts one by one, against the rest."""

    n: int
    """Answers (for experts: ratings) that both sides rated."""
    within_one: float | None
    """Share whose ratings differ by at most 1."""
    mean_difference: float | None
    """Mean of the rater's minus the others' rating: above 0 for one who is too kind."""
    spearman: Coefficient
    kappa: Coefficient
    """Quadratic weights, of the ratings as they are."""
    kappa_rounded: Coefficient
    """The same with both sides rounded to whole ratings, halves up."""

    def to_json(self) -> dict[str, JsonValue]:
        """Give it as plain JSON values."""
        found: dict[str, JsonValue] = {
            "n": self.n,
            "within_one": self.within_one,
            "mean_difference": self.mean_difference,
        }
        for name in ("spearman", "kappa", "kappa_rounded"):
            one: Coefficient = getattr(self, name)
            bounds: JsonValue = None
            if one.low is not None and one.high is not None:
                bounds = [one.low, one.high]
            found |= {name: one.value, f"{name}_interval": bounds}
            if one.reason is not None:
                found[f"{name}_reason"] = one.reason
        return found


@dataclass(frozen=True, slots=True)
class ExpertAgreement:
    """Judges against experts, and experts against each other."""

    judges: Mapping[str, Mapping[str, RaterAgreement]]
    """Judge to `mode` and `median`, the two ways to make one truth of several experts."""
    experts: RaterAgreement | None
    """Each expert against the median of an answer's other experts; None without such answers.
    Its ratings are not independent, and its intervals take those of a task together."""
    n_experts: int
    n_items: int
    """Answers that an expert rated."""
    unrated: Mapping[str, tuple[str, ...]]
    """Judge to answers of experts that it has no rating for."""
    unmatched: Mapping[str, tuple[str, ...]]
    """Judge to answers that no expert rated."""
    tied: tuple[str, ...]
    """Answers with several modes; the one nearest to the median is taken, the lower of two."""

    def to_json(self) -> dict[str, JsonValue]:
        """Give all in the envelope `basanite.suite.heureka.agreement/1`."""
        return {
            "schema": SCHEMA,
            "n_experts": self.n_experts,
            "n_items": self.n_items,
            "judges": {
                name: {
                    **{way: one.to_json() for way, one in ways.items()},
                    "unrated": list(self.unrated[name]),
                    "unmatched": list(self.unmatched[name]),
                }
                for name, ways in self.judges.items()
            },
            "experts": None if self.experts is None else self.experts.to_json(),
            "tied_modes": list(self.tied),
        }


def read_ratings(path: str | Path, lowest: float = RATINGS[0]) -> list[ExpertRating]:
    """Read a file of ratings.

    Args:
        path: JSONL, CSV or Parquet with `item`, `rater`, `rating` and perhaps `task`.
        lowest: lowest rating that is taken; see `heureka_boards`.

    Raises:
        RowError: rows can't be used; the message names the first three and the reasons.
        InputError: the file can't be used as a whole.
        MissingExtra: Parquet without pyarrow installed.
    """
    path = Path(path)
    tasks: dict[str, str] = {}

    def parse(record: Mapping[str, object], /, *, in_csv: bool) -> ExpertRating:
        row = _row(record, lowest, in_csv=in_csv)
        if tasks.setdefault(row.item, row.task) != row.task:
            raise InputError(f"another row gives {row.item[:40]!r} another task")
        return row

    rows = parsed_rows(
        path,
        _COLUMNS,
        parse,
        key=lambda row: (row.item, row.rater),
        same="item and rater",
    )
    return [row for _, row in rows]


def expert_agreement(
    ratings: Iterable[ExpertRating],
    judges: Sequence[str],
    bootstrap: Bootstrap | None = None,
) -> ExpertAgreement:
    """Compare judges with experts.

    Args:
        ratings: each rater's of each answer, once.
        judges: which raters are judges; all others are experts.
        bootstrap: of the intervals, clustered by `task`; None for the defaults.

    Raises:
        InputError: a judge without ratings, no judges, no experts, or a rating that stands twice.
    """
    bootstrap = bootstrap or Bootstrap()
    of_item: dict[str, dict[str, float]] = {}
    tasks: dict[str, str] = {}
    for one in ratings:
        held = of_item.setdefault(one.item, {})
        if one.rater in held:
            raise InputError(f"{one.rater[:40]!r} rates {one.item[:80]!r} twice")
        held[one.rater] = one.rating
        tasks[one.item] = one.task
    raters = {rater for held in of_item.values() for rater in held}
    strangers = sorted(set(judges) - raters)
    if strangers or not judges or not raters - set(judges):
        raise InputError(
            f"there is no rater {strangers[0][:40]!r}" if strangers else "needs judge and experts",
            todo=f"Name the judges among the raters: {', '.join(sorted(raters))[:200]}.",
        )
    experts = {
        item: values
        for item, held in of_item.items()
        if (values := [value for rater, value in held.items() if rater not in judges])
    }
    ways: dict[str, Callable[[Sequence[float]], float]] = {
        "mode": _mode,
        "median": statistics.median,
    }
    found: dict[str, dict[str, RaterAgreement]] = {}
    for judge in judges:
        both = [item for item in experts if judge in of_item[item]]
        found[judge] = {
            way: _agreement(
                [(of_item[item][judge], truth(experts[item]), tasks[item]) for item in both],
                bootstrap,
            )
            for way, truth in ways.items()
        }
    left_out = [
        (value, statistics.median(values[:at] + values[at + 1 :]), tasks[item])
        for item, values in experts.items()
        if len(values) > 1
        for at, value in enumerate(values)
    ]
    return ExpertAgreement(
        judges=found,
        experts=_agreement(left_out, bootstrap) if left_out else None,
        n_experts=len(raters - set(judges)),
        n_items=len(experts),
        unrated={
            judge: tuple(item for item in experts if judge not in of_item[item]) for judge in judges
        },
        unmatched={
            judge: tuple(item for item in of_item if item not in experts and judge in of_item[item])
            for judge in judges
        },
        tied=tuple(item for item, values in experts.items() if len(_modes(values)) > 1),
    )


def _agreement(pairs: Sequence[tuple[float, float, str]], bootstrap: Bootstrap) -> RaterAgreement:
    x, y, tasks = [one[0] for one in pairs], [one[1] for one in pairs], [one[2] for one in pairs]
    n = len(pairs)
    gaps = [a - b for a, b in zip(x, y, strict=True)]
    whole_x, whole_y = ([float(math.floor(one + 0.5)) for one in side] for side in (x, y))
    return RaterAgreement(
        n=n,
        within_one=sum(abs(gap) <= 1 + 1e-12 for gap in gaps) / n if n else None,
        mean_difference=math.fsum(gaps) / n if n else None,
        spearman=paired_correlation(x, y, tasks, bootstrap).spearman,
        kappa=quadratic_kappa(x, y, tasks, bootstrap),
        kappa_rounded=quadratic_kappa(whole_x, whole_y, tasks, bootstrap),
    )


def _modes(values: Sequence[float]) -> list[float]:
    counts = Counter(values)
    most = max(counts.values())
    return sorted(value for value, count in counts.items() if count == most)


def _mode(values: Sequence[float]) -> float:
    middle = statistics.median(values)
    return min(_modes(values), key=lambda value: (abs(value - middle), value))


def _row(record: Mapping[str, object], lowest: float, *, in_csv: bool) -> ExpertRating:
    item, rater = name_of(record, "item"), name_of(record, "rater")
    rating = number_in(record, "rating", in_csv=in_csv)
    if rating is None:
        raise InputError("rating is missing", todo="Leave the row out where there is none")
    if not lowest <= rating <= RATINGS[1]:
        raise InputError(f"rating is {spelt(rating)}, not from {lowest:g} to {RATINGS[1]:g}")
    return ExpertRating(item, rater, rating, name_in(record, "task") or item)
