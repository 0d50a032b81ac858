"""The harness' folder of logs, `log/AGENT/MODEL/TASK/TIME/log.log`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...agents.logs import AgentLog, LogHeader, read_log
from ...errors import InputError
from ._papers import folder_of

LOG = "log.log"
_RULE = "=" * 40


@dataclass(frozen=True, slots=True)
class FireRun:
    """One run, and what its log says."""

    agent: str
    model: str
    task: str
    trial: str
    """The name of its own folder, a time."""
    path: Path
    log: AgentLog
    notes: tuple[str, ...] = ()
    """Where the log's header disagrees with the folders, and what was odd about the log."""

    @property
    def name(self) -> str:
        """Agent and model in one, as a board has it."""
        return f"{self.agent} {self.model}"

    @property
    def id(self) -> str:
        """Names this run among all of its folder."""
        return f"{self.agent}/{self.model}/{self.task}/{self.trial}"


def read_run_folders(folder: str | Path) -> Iterator[FireRun]:
    """Give all runs below a folder, in the order of their paths.

    A model's name may hold a slash and so be several folders.

    Args:
        folder: the harness' `log`, or the folder that it lies in.

    Raises:
        InputError: there is no `log.log` below, or one that does not lie four folders deep.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError("no such folder", where=str(root), todo="Check the path.")
    # The harness' other folders, such as those of sandboxes, may hold logs of their own.
    root = root / "log" if (root / "log").is_dir() else root
    paths = sorted(root.rglob(LOG))
    if not paths:
        raise InputError(f"there is no {LOG} below", where=str(root), todo="Check the path.")
    for path in paths:
        parts = path.relative_to(root).parts[:-1]
        if len(parts) < 4:
            raise InputError(
                f"this {LOG} lies {len(parts)} folders deep, not 4",
                where=str(path),
                todo="Name the folder that holds AGENT/MODEL/TASK/TIME.",
            )
        yield _run(path, parts)


def _run(path: Path, parts: tuple[str, ...]) -> FireRun:
    agent, model, task, trial = parts[0], "/".join(parts[1:-2]), parts[-2], parts[-1]
    log = read_log(path)
    notes = list(log.notes)
    if log.header is not None:
        named = (log.header.agent_id, log.header.task_id, log.header.llm_model)
        for what, here, there in zip(
            ("agent", "task", "model"), (agent, task, model), named, strict=True
        ):
            if here != there:
                notes.append(f"the header's {what} is {there[:60]!r}, the folder's {here[:60]!r}")
    return FireRun(agent, model, task, trial, path, log, tuple(notes))


def write_run_folder(folder: str | Path, header: LogHeader, trial: str, output: str) -> Path:
    """Write one run as the harness does: header, a line of 40 `=`, and the agent's output.

    Args:
        folder: the harness' `log`; it is made.
        header: agent, task and model, which are also the folders' names.
        trial: the name of the run's own folder.
        output: what the agent printed.

    Raises:
        InputError: a name that is no folder's, or a log that is there.
    """
    names = (header.agent_id, *header.llm_model.split("/"), header.task_id, trial)
    path = folder_of(Path(folder), *names) / LOG
    if path.exists():
        raise InputError("is there already", where=str(path), todo="Name the trial otherwise.")
    path.parent.mkdir(parents=True, exist_ok=True)
    head = (
        f"agent_id: {header.agent_id}\ntask_id: {header.task_id}\n"
        f"llm_model: {header.llm_model}\n{_RULE}\n"
    )
    path.write_text(head + output, encoding="utf-8", newline="")
    return path
