"""The host of one episode: the only one who knows the reference."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np

from ...errors import InputError
from ._calculate import run_calculator
from ._episode_options import EpisodeOptions, check_options
from ._episode_state import EpisodeState, Measurement, StateFile, read_state
from ._methods import ESTIMATORS, METHODS, estimator_named, method_named
from ._observations import Observations
from ._path import affordable
from ._reference import Reference, table_of
from ._submissions import Submission, intervals_of

_MOST_CODE = 20_000


class Refused(InputError):
    """A call that an episode does not allow; it changed nothing.

    But for a calculation that failed, which counts as one.
    """

    def __init__(self, reason: str, what: str, *, todo: str | None = None) -> None:
        super().__init__(what, todo=todo)
        self.reason = reason


class EpisodeHost:
    """One episode on one reference, kept in a state file.

    Opening a file that is there goes on with its episode. `call` is what a tool call, a socket
    or a command ends in.

    Args:
        path: the state file; `PATH.lock` beside it is held until `close`.
        reference: the truth.
        options: budget, view and limits; of an episode that goes on, budget, view and seed must
            be as they were.

    Raises:
        InputError: another host has it, it is of another reference, or the options don't fit.
    """

    def __init__(
        self, path: str | Path, reference: Reference, options: EpisodeOptions | None = None
    ) -> None:
        self.options = options or EpisodeOptions()
        self.reference = reference
        self._turn = threading.Lock()
        check_options(self.options, reference)
        self._file = StateFile(Path(path))
        try:
            self._state = self._begin()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> EpisodeHost:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the state file."""
        self._file.close()

    @property
    def submitted(self) -> bool:
        """Whether the episode is closed."""
        return self._state.submission is not None

    def call(self, tool: str, arguments: Mapping[str, object] | None = None) -> dict[str, object]:
        """Do what a tool call asks.

        Raises:
            Refused: unknown tool or arguments, over budget, closed; nothing has changed.
            StorageError: the state can't be written; nothing has changed then either.
        """
        tools: dict[str, Callable[..., dict[str, object]]] = {
            "task": self._task,
            "measure": self._measure,
            "status": self._status,
            "calculate": self._calculate,
            "fit": self._fit,
            "suggest": self._suggest,
            "submit": self._submit,
        }
        if not isinstance(tool, str) or tool not in tools:  # from outside: of any type
            raise Refused("unknown_tool", f"there is no tool {str(tool)[:40]!r}")
        with self._turn:
            if self.submitted and tool not in ("task", "status"):
                raise Refused("closed", "the episode is closed by its submission")
            given = dict(arguments or {})
            try:
                signature(tools[tool]).bind(**given)
            except TypeError as error:
                raise Refused("arguments", f"{tool}: {error}") from None
            try:
                return tools[tool](**given)
            except Refused:
                raise
            except InputError as error:
                raise Refused("invalid", error.what, todo=error.todo) from None

    def _begin(self) -> EpisodeState:
        found = self._file.read(self.reference)
        options = self.options
        if found is not None:
            now = (options.budget, options.view, options.seed)
            if now != (found.budget, found.view, found.seed):
                raise InputError(
                    "the episode was begun with another budget, view or seed",
                    where=str(self._file.path),
                    todo=f"It had {found.budget:g}, {found.view}, {found.seed}.",
                )
            return found
        state = EpisodeState(
            self.reference.name, self.reference.sha256, options.budget, options.view, options.seed
        )
        for cell in self.reference.space.anchors:
            state.measurements.append(self._run(state, cell, cost=0.0))
        self._file.write(state)
        return state

    def _task(self) -> dict[str, object]:
        reference, options, space = self.reference, self.options, self.reference.space
        full = options.view == "full"
        factors: list[dict[str, object]] = []
        for number, factor in enumerate(reference.factors):
            letter = chr(ord("A") + number)
            if full:
                shown = {"name": factor.name, "description": factor.description}
                factors.append({"letter": letter, **shown, "levels": list(factor.levels)})
            else:
                factors.append({"letter": letter, "levels": list(range(len(factor.levels)))})
        anchors = {one["mask"]: one["value"] for one in self._state.measurements[:2]}
        body: dict[str, object] = {
            "view": options.view,
            "factors": factors,
            "mask": f"{space.k} digits, one level per factor, factor A first",
            "n_masks": space.n_cells,
            "utility": "from 0 to 1, higher is better",
            "anchors": anchors,
            "budget": options.budget,
            "unit": "measurements" if reference.costs is None else "cost",
            "noisy": reference.noise is not None,
            "goal": "predict the utility of every mask; errors of all effects of switching one "
            "factor, whatever the others, are scored",
        }
        if reference.costs is not None:
            body["costs"] = dict(zip(space.masks, reference.costs.tolist(), strict=True))
        if reference.noise is not None:
            body["noise_sd"] = reference.noise.sd
        if full:
            body |= {"name": reference.name, "family": reference.family, "code": options.code}
        if options.view == "rules":
            body["rules"] = [str(rule) for rule in reference.rules]
        return body

    def _measure(self, masks: object) -> dict[str, object]:
        if not isinstance(masks, Sequence) or isinstance(masks, str) or not masks:
            raise Refused("arguments", "masks is no list of masks")
        cells = [self.reference.space.cell(mask) for mask in masks]
        state, noisy = self._state, self.reference.noise is not None
        known = {one["mask"]: one for one in state.measurements}
        price = 0.0
        bought: dict[str, None] = {}
        for mask, cell in zip(masks, cells, strict=True):
            if noisy or (mask not in known and mask not in bought):
                price += self._price(cell)
                bought[mask] = None
        if not affordable(state.spent, price, state.budget):
            raise Refused(
                "over_budget",
                f"this costs {price:g} and {state.left:g} is left; nothing was measured",
                todo="Ask for less.",
            )
        values = []
        state = replace(state, measurements=[*state.measurements], receipts=state.receipts + 1)
        for mask, cell in zip(masks, cells, strict=True):
            if noisy or mask not in known:
                known[mask] = self._run(state, cell, cost=self._price(cell))
                state.measurements.append(known[mask])
            values.append(known[mask]["value"])
        self._keep(state)
        return {
            "receipt": state.receipts,
            "measurements": [
                {"mask": mask, "value": value} for mask, value in zip(masks, values, strict=True)
            ],
            "spent": state.spent,
            "left": state.left,
        }

    def _status(self) -> dict[str, object]:
        state = self._state
        return {
            "measurements": [
                {"mask": one["mask"], "value": one["value"]} for one in state.measurements
            ],
            "spent": state.spent,
            "left": state.left,
            "receipts": state.receipts,
            "calculate_calls_left": self.options.calculate_calls - state.calculate_calls,
            "calculate_cpu_s_left": max(0.0, self.options.calculate_cpu_s - state.calculate_cpu_s),
            "submitted": self.submitted,
        }

    def _calculate(self, code: object) -> dict[str, object]:
        if not isinstance(code, str) or len(code) > _MOST_CODE:
            raise Refused("arguments", f"code is no text of at most {_MOST_CODE} characters")
        state, options = self._state, self.options
        left = options.calculate_cpu_s - state.calculate_cpu_s
        if state.calculate_calls >= options.calculate_calls or left <= 0:
            raise Refused("calculate_used_up", "no calculations are left")
        state = replace(state, calculate_calls=state.calculate_calls + 1)
        self._keep(state)  # a call is counted although the host may die in it
        request = json.dumps({"code": code, "measured": _means(state)})
        answer, cpu_s = run_calculator(request, min(options.calculate_call_s, math.ceil(left)))
        self._keep(replace(state, calculate_cpu_s=state.calculate_cpu_s + cpu_s))
        if "error" in answer:
            raise Refused("calculate", str(answer["error"]))
        return {
            "value": answer["value"],
            "calls_left": options.calculate_calls - state.calculate_calls,
        }

    def _fit(self, estimator: object = "ard") -> dict[str, object]:
        self._need_helpers()
        found = estimator_named(str(estimator)).complete(self._observations())
        masks = self.reference.space.masks
        body: dict[str, object] = {"table": dict(zip(masks, found.table.tolist(), strict=True))}
        if found.cells is not None:
            ends = zip(found.cells.low.tolist(), found.cells.high.tolist(), strict=True)
            body["intervals"] = dict(zip(masks, map(list, ends), strict=True))
            body["level"] = found.cells.level
        return body

    def _suggest(self, method: object = "ard") -> dict[str, object]:
        self._need_helpers()
        design = method_named(str(method), seed=self.options.seed).design
        cell = design.next(self._observations(), self.reference.costs)
        return {"mask": None if cell is None else self.reference.space.masks[cell]}

    def _submit(
        self, table: object = None, estimator: object = None, intervals: object = None
    ) -> dict[str, object]:
        if (table is None) == (estimator is None):
            raise Refused("arguments", "give a table or an estimator, one of the two")
        if estimator is not None:
            fitted = self._fit(estimator)
            table, intervals = fitted["table"], intervals or fitted.get("intervals")
        space = self.reference.space
        values = table_of(space, table, where="table")
        body: dict[str, object] = {
            "table": dict(zip(space.masks, values.tolist(), strict=True)),
            "estimator": estimator,
        }
        if intervals is not None:
            low, high = intervals_of(intervals, self.reference)
            pairs = map(list, zip(low.tolist(), high.tolist(), strict=True))
            body["intervals"] = dict(zip(space.masks, pairs, strict=True))
        self._keep(replace(self._state, submission=body))
        return {"submitted": True, "spent": self._state.spent}

    def _keep(self, state: EpisodeState) -> None:
        """Go on from a new state once it is on the disk; where it can't be, nothing changed."""
        self._file.write(state)
        self._state = state

    def _run(self, state: EpisodeState, cell: int, cost: float) -> Measurement:
        mask, noise = self.reference.space.masks[cell], self.reference.noise
        value = float(self.reference.values[cell])
        if noise is not None:
            # The n-th run of a mask gives the same value, whatever else was measured before.
            run = sum(one["mask"] == mask for one in state.measurements)
            value += float(np.random.default_rng([state.seed, cell, run]).normal(0, noise.sd))
        return {"mask": mask, "value": value, "cost": cost}

    def _price(self, cell: int) -> float:
        return 1.0 if self.reference.costs is None else float(self.reference.costs[cell])

    def _observations(self) -> Observations:
        # Rules are told to the estimator only where they are told to the agent.
        rules = self.options.view == "rules"
        return _observations(self._state, self.reference, rules)

    def _need_helpers(self) -> None:
        if not self.options.helpers:
            raise Refused("no_helpers", "this episode has no such helpers")


def episode_submission(
    path: str | Path, reference: Reference, *, agent: str, trial: str = "1"
) -> Submission:
    """Give what an episode's state file holds, for `score_submission`.

    Raises:
        InputError: the file is damaged or of another reference.
    """
    state = read_state(Path(path), reference)
    given = state.submission or {}
    space = reference.space
    table, intervals = given.get("table"), given.get("intervals")
    ends = None
    if intervals is not None:
        ends = intervals_of(intervals, reference)
    return Submission(
        agent,
        reference,
        trial,
        None if table is None else table_of(space, table, where=str(path)),
        _means(state),
        ends,
        cost=state.spent,
        reason=None if state.submission else "not_submitted",
    )


def _means(state: EpisodeState) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for one in state.measurements:
        found.setdefault(one["mask"], []).append(one["value"])
    return {mask: sum(values) / len(values) for mask, values in found.items()}


def _observations(state: EpisodeState, reference: Reference, rules: bool) -> Observations:
    classes = reference.classes if rules else None
    sums: dict[int, list[float]] = {}
    for one in state.measurements:
        cell = reference.space.cell(one["mask"])
        cell = cell if classes is None else int(classes[cell])
        sums.setdefault(cell, []).append(one["value"])
    return Observations(
        reference.space,
        np.array(list(sums)),
        np.array([float(np.mean(values)) for values in sums.values()]),
        np.array([len(values) for values in sums.values()]),
        None if reference.noise is None else reference.noise.sd,
        classes,
    )


HELPERS = {"fit": ESTIMATORS, "suggest": METHODS}
"""What the two helpers take."""
