"""How well a matcher finds the code behind an insight: recall and precision, at k and in whole.

As published, recall is the mean over insights of the share of their files that stand anywhere in
the list that came back. Where the matcher's reply could not be used, its code fell back on all
files; such a list holds every file by construction and counts there as a full success. Precision
was not reported.

Here a list that holds every file there is finds nothing: its hits are 0. A path of no known file
is no hit, also where the insight names it. A list counts each path once, where it stands first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import JsonValue

from ...errors import InputError
from ...stats import Estimate, clustered_mean

SCHEMA = "basanite.suite.heureka.codematcher/1"
CUTS = (1, 3, 5)
"""Where lists are cut unless others are given; the published prompt asks for at most five."""
OWN_CUT = "gold"
"""The cut at as many paths as the insight has files: recall and precision are the same there."""


@dataclass(frozen=True, slots=True)
class FilePool:
    """The files that a matcher could choose from."""

    paths: frozenset[str]
    source: str
    """Where they are known from, for the reader."""
    complete: bool = True
    """False where they are only those that insights name: a path beside them may exist."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Counts of one insight's list, or of a part of it."""

    hits: int
    gold: int
    retrieved: int

    @property
    def recall(self) -> float:
        """Share of the insight's files that were found."""
        return self.hits / self.gold

    @property
    def precision(self) -> float:
        """Share of the list that is right; 0 for an empty list, which finds nothing."""
        return self.hits / self.retrieved if self.retrieved else 0.0


@dataclass(frozen=True)
class MatchedInsight:
    """One insight: what belongs to it, and what came back."""

    id: str
    gold: tuple[str, ...]
    """Paths that belong to it, each once."""
    retrieved: tuple[str, ...]
    """Paths that came back, each once, best first."""
    repeated: tuple[str, ...]
    """Paths that came back more than once."""
    pool: FilePool = field(repr=False)

    @cached_property
    def everything(self) -> bool:
        """Whether the list holds every file of the pool, and the insight has not them all."""
        return set(self.retrieved) >= self.pool.paths > set(self.gold)

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """Paths that came back and are no known files."""
        return tuple(path for path in self.retrieved if path not in self.pool.paths)

    def counts(self, k: int | None = None) -> MatchCounts:
        """Count ours, over the first `k` paths; all of them for None."""
        taken = self.retrieved if k is None else self.retrieved[:k]
        right = set(self.gold) & self.pool.paths
        hits = 0 if self.everything else sum(path in right for path in taken)
        return MatchCounts(hits, len(self.gold), len(taken))

    def published_counts(self) -> MatchCounts:
        """Count as published: whatever stands in the list, however long it is."""
        hits = len(set(self.gold) & set(self.retrieved))
        return MatchCounts(hits, len(self.gold), len(self.retrieved))


@dataclass(frozen=True, slots=True)
class MatchFigures:
    """Means and sums over insights."""

    recall: Estimate
    """Mean over insights, each one a cluster."""
    precision: Estimate
    hits: int
    gold: int
    retrieved: int

    def to_json(self) -> dict[str, JsonValue]:
        """Give them as plain JSON values."""
        found: dict[str, JsonValue] = {}
        for name, one in (("recall", self.recall), ("precision", self.precision)):
            known = one.low is not None and one.high is not None
            found[name] = one.value
            found[f"{name}_interval"] = [one.low, one.high] if known else None
        return found | {
            "recall_micro": self.hits / self.gold if self.gold else None,
            "precision_micro": self.hits / self.retrieved if self.retrieved else None,
            "hits": self.hits,
            "gold": self.gold,
            "retrieved": self.retrieved,
            "n": self.recall.n,
        }


@dataclass(frozen=True)
class CodeMatches:
    """Figures of a matcher over all insights."""

    insights: tuple[MatchedInsight, ...]
    """Those that a list came back for, an empty one included."""
    not_retrieved: tuple[str, ...]
    """Insights that the retrieved file leaves out; in no figure."""
    pool: FilePool
    cuts: tuple[int, ...] = CUTS
    level: float = 0.95

    def figures(self, k: int | str | None = None) -> MatchFigures:
        """Give ours: over whole lists, over the first `k`, or over `gold` paths of each."""
        return self._over(
            one.counts(len(one.gold) if k == OWN_CUT else _cut(k)) for one in self.insights
        )

    def without_everything(self) -> MatchFigures:
        """Give ours over the insights for which not every file came back."""
        return self._over(one.counts() for one in self.insights if not one.everything)

    def published(self) -> MatchFigures:
        """Give the published figures; precision is counted alike and was not published."""
        return self._over(one.published_counts() for one in self.insights)

    def random_recall(self) -> dict[str, float] | None:
        """Give the recall that k files drawn at random have on average, by cut; None where not
        all files are known.
        """
        if not self.pool.complete:
            return None
        size = len(self.pool.paths)
        return {str(k): min(1.0, k / size) for k in self.cuts}

    def notes(self) -> Iterator[str]:
        """Say what a reader should know before believing the figures."""
        whole = sum(one.everything for one in self.insights)
        if whole:
            yield (
                f"{whole} of {len(self.insights)} lists hold every file: the published recall "
                "counts them as full hits, ours as none."
            )
        if not self.pool.complete:
            yield (
                "All files there are were not given: a path that no insight names is shown as "
                "unknown, though it may exist. No figure depends on that; --scripts tells."
            )
        if self.not_retrieved:
            yield f"{len(self.not_retrieved)} insights have no list and are in no figure."

    def to_json(self) -> dict[str, JsonValue]:
        """Give all in the envelope `basanite.suite.heureka.codematcher/1`."""
        cuts: list[int | str] = [*self.cuts, OWN_CUT]
        random = self.random_recall()
        return {
            "schema": SCHEMA,
            "n_insights": len(self.insights) + len(self.not_retrieved),
            "n_scored": len(self.insights),
            "level": self.level,
            "pool": {
                "n": len(self.pool.paths),
                "source": self.pool.source,
                "complete": self.pool.complete,
            },
            **self.figures().to_json(),
            "recall_published": self.published().recall.value,
            "recall_micro_published": self.published().to_json()["recall_micro"],
            "at": {str(k): self.figures(k).to_json() for k in cuts},
            "random_recall": None if random is None else dict(random),
            "without_everything": self.without_everything().to_json(),
            "as_published": self.published().to_json(),
            "returned_everything": [one.id for one in self.insights if one.everything],
            "returned_nothing": [one.id for one in self.insights if not one.retrieved],
            "not_retrieved": list(self.not_retrieved),
            "unknown_paths": {one.id: list(one.unknown) for one in self.insights if one.unknown},
            "repeated_paths": {one.id: list(one.repeated) for one in self.insights if one.repeated},
            "insights": {one.id: _insight_json(one) for one in self.insights},
            "notes": list(self.notes()),
        }

    def _over(self, counts: Iterable[MatchCounts]) -> MatchFigures:
        found = list(counts)
        each = range(len(found))
        return MatchFigures(
            clustered_mean([one.recall for one in found], each, self.level),
            clustered_mean([one.precision for one in found], each, self.level),
            hits=sum(one.hits for one in found),
            gold=sum(one.gold for one in found),
            retrieved=sum(one.retrieved for one in found),
        )


def code_matches(
    gold: Mapping[str, Sequence[str]],
    retrieved: Mapping[str, Sequence[str]],
    pool: FilePool | None = None,
    *,
    cuts: Sequence[int] = CUTS,
    level: float = 0.95,
) -> CodeMatches:
    """Hold the files that a matcher found against those that belong to each insight.

    Args:
        gold: insight to the paths that belong to it.
        retrieved: insight to the paths that came back, best first; an empty list is a result.
        pool: all files there are; None takes those that any insight names.
        cuts: where lists are cut.
        level: confidence level of the intervals.

    Raises:
        InputError: no insights, one without files, a list for an insight that is not there, a
            file of an insight that is not in the pool, or a cut below 1.
    """
    if not gold:
        raise InputError("there are no insights", todo="Give at least one.")
    if not cuts or min(cuts) < 1:
        raise InputError(f"the cuts are {list(cuts)}", todo="Give whole numbers from 1.")
    strangers = [id_ for id_ in retrieved if id_ not in gold]
    if strangers:
        raise InputError(
            f"{len(strangers)} lists are for insights that are not there: "
            f"{', '.join(map(repr, strangers[:3]))}",
            todo="Give the insights that they belong to.",
        )
    named = {id_: tuple(dict.fromkeys(map(plain_path, paths))) for id_, paths in gold.items()}
    if pool is None:
        everyone = frozenset(path for paths in named.values() for path in paths)
        pool = FilePool(everyone, "the files that any insight names", complete=False)
    for id_, paths in named.items():
        _check_gold(id_, paths, pool)
    insights = tuple(
        _matched(id_, paths, retrieved[id_], pool)
        for id_, paths in named.items()
        if id_ in retrieved
    )
    missing = tuple(id_ for id_ in named if id_ not in retrieved)
    return CodeMatches(insights, missing, pool, tuple(sorted(set(cuts))), level)


def plain_path(path: str) -> str:
    """Write a path without white space around it and `./` before it."""
    return path.strip().removeprefix("./")


def _check_gold(id_: str, paths: Sequence[str], pool: FilePool) -> None:
    if not paths or not all(paths):
        raise InputError("names no files, or an empty path", where=id_, todo="Give its files.")
    lost = [path for path in paths if path not in pool.paths]
    if lost:
        raise InputError(
            f"its file {lost[0][:80]!r} is not among the {len(pool.paths)} of {pool.source}",
            where=id_,
            todo="Give all files that there are.",
        )


def _matched(
    id_: str, gold: tuple[str, ...], retrieved: Sequence[str], pool: FilePool
) -> MatchedInsight:
    paths = list(map(plain_path, retrieved))
    if not all(paths):
        raise InputError("an empty path came back", where=id_, todo="Leave it out.")
    once = tuple(dict.fromkeys(paths))
    repeated = tuple(path for path in once if paths.count(path) > 1)
    return MatchedInsight(id_, gold, once, repeated, pool)


def _cut(k: int | str | None) -> int | None:
    return None if k is None else int(k)


def _insight_json(one: MatchedInsight) -> dict[str, JsonValue]:
    ours, theirs = one.counts(), one.published_counts()
    return {
        "gold": ours.gold,
        "retrieved": ours.retrieved,
        "hits": ours.hits,
        "recall": ours.recall,
        "precision": ours.precision,
        "published_hits": theirs.hits,
        "published_recall": theirs.recall,
        "returned_everything": one.everything,
        "unknown_paths": list(one.unknown),
    }
