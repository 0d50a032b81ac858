"""Runs that are done: one file each, by a hash of configuration, code and environment."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from ...schema import Model, digest

if TYPE_CHECKING:
    from ._workflow import Workflow

_SHA256 = r"^[0-9a-f]{64}$"


class CellRun(Model):
    """One run of a workflow with one configuration and one seed."""

    version: Literal["basanite.whatworked.cell/1"] = "basanite.whatworked.cell/1"
    key: str = Field(pattern=_SHA256)
    workflow: str
    mask: str
    config: dict[str, str]
    seed: int
    score: float = Field(allow_inf_nan=False)
    """In the workflow's own unit."""
    metrics: dict[str, float] = Field(default_factory=dict)
    output_sha256: str | None = Field(default=None, pattern=_SHA256)
    """Hash of what was put out; None where the workflow gave nothing."""
    warnings: tuple[str, ...] = ()
    """What Python's `warnings` said, each text once; the first 20."""
    wall_s: float = Field(gt=0)
    """Seconds of the run itself; of a command, from its start to its end."""
    backend: str
    policy_hash: str
    """What held it; see `sandboxes.ExecResult`."""


class CellCache:
    """A folder of `CellRun`s. Several processes may use it at once."""

    def __init__(self, folder: str | Path, environment: str) -> None:
        self.folder = Path(folder)
        self.environment = environment
        self.folder.mkdir(parents=True, exist_ok=True)

    def key(self, workflow: Workflow, mask: str, seed: int) -> str:
        """Give the name of a run: equal for equal configuration, seed, code and environment."""
        return digest(
            {
                "config": workflow.config(mask),
                "seed": seed,
                "code": workflow.code_sha256,
                "environment": self.environment,
            }
        )

    def get(self, workflow: Workflow, mask: str, seed: int) -> CellRun | None:
        """Give a run that is done. A file that can't be read counts as not done."""
        key = self.key(workflow, mask, seed)
        try:
            text = (self.folder / f"{key}.json").read_text(encoding="utf-8")
            found = CellRun.model_validate_json(text)
        except (OSError, ValidationError, UnicodeDecodeError):
            return None
        # Another workflow of the same code may have run it, its factors in another order.
        told = {"workflow": workflow.name, "mask": mask}
        return found.model_copy(update=told) if found.key == key else None

    def put(self, run: CellRun) -> None:
        """Write a run; after a kill in the middle it is there whole or not at all."""
        descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(run.model_dump_json(indent=1) + "\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.folder / f"{run.key}.json")
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
