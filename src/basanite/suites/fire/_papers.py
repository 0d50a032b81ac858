"""The benchmark's folder of papers: what an agent is given, and what it must not see."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

from ...errors import InputError
from ...schema import Model
from .._rows import spelt

_INSTRUCTION = Path("instruction", "instruction.txt")
_PLAN = Path("instruction", "instruction_gt.txt")
_TRUTH = Path("conclusion.txt")
_SOURCE = Path("dataset.txt")
_CONFIG = Path("task_config.yaml")
_STATUS = Path("STATUS")
_INSIDE = (Path("benchmark", "papers"), Path("papers"))
_QUESTION = re.compile(r"[\"“](?P<text>[^\"”]+)[\"”]")
_CALLS = re.compile(r"(?P<count>\d[\d,]*)\s+(?:API|LLM)\s+calls", re.IGNORECASE)
_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z /&-]{2,60}):[ \t]*$", re.MULTILINE)
_CLOSING = re.compile(r"^\s*Please\b", re.MULTILINE)


class FirePaper(Model):
    """One task as the agent gets it: its texts, and the names of its data files."""

    task: str
    instruction: str
    dataset_source: str | None = None
    """Where the data come from, `dataset.txt`."""
    config: str | None = None
    """`task_config.yaml`, as it stands there."""
    status: str | None = None
    data_files: tuple[str, ...] = ()
    """Paths in the task's `data` folder. The files themselves stay where they are."""

    @property
    def question(self) -> str | None:
        """The research question: the first text in quotes; None where there is none."""
        found = _QUESTION.search(self.instruction)
        return " ".join(found["text"].split()) if found else None

    @property
    def calls_per_model(self) -> int | None:
        """Calls of each model that are granted; None where no number stands there."""
        found = _CALLS.search(self.instruction)
        return int(found["count"].replace(",", "")) if found else None

    @property
    def sections(self) -> dict[str, str]:
        """Heading to text, such as `Models` and `Datasets`; an empty section is there."""
        heads = list(_SECTION.finditer(self.instruction))
        found = {}
        for here, after in zip_longest(heads, heads[1:]):
            end = after.start() if after else len(self.instruction)
            text = self.instruction[here.end() : end]
            closing = None if after else _CLOSING.search(text)
            found[here["name"]] = (text[: closing.start()] if closing else text).strip()
        return found


class FireTruth(Model):
    """What is known of a task's answer. It never enters the agent's sandbox."""

    task: str
    conclusion: str | None = None
    """The finding that conclusions are held against."""
    plan: str | None = None
    """`instruction_gt.txt`: the instruction with the paper's own design."""


def read_papers(folder: str | Path) -> tuple[list[FirePaper], list[FireTruth]]:
    """Read a folder of tasks: the repository, its `papers`, or one task's folder.

    Returns:
        Tasks, and apart from them the truths that lie in the same folders, by name.

    Raises:
        InputError: there is no task in it, or a task has no instruction, an empty one, or a text
            that is no UTF-8.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError("no such folder", where=str(root), todo="Check the path.")
    root = next((root / inside for inside in _INSIDE if (root / inside).is_dir()), root)
    one = (root / _INSTRUCTION).is_file()
    folders = [root] if one else sorted(path for path in root.iterdir() if path.is_dir())
    folders = [path for path in folders if not path.name.startswith(".")]
    if not folders:
        raise InputError(
            "holds no tasks", where=str(root), todo="Name a folder with TASK/instruction/."
        )
    papers, truths = [], []
    for path in folders:
        instruction = _text(path / _INSTRUCTION)
        if instruction is None or not instruction.strip():
            raise InputError(
                f"{'no' if instruction is None else 'an empty'} instruction/instruction.txt",
                where=str(path),
                todo="Give each task its instruction, or name one task's folder.",
            )
        data = path / "data"
        files = sorted(f.relative_to(data).as_posix() for f in data.rglob("*") if f.is_file())
        papers.append(
            FirePaper(
                task=path.name,
                instruction=instruction,
                dataset_source=_text(path / _SOURCE),
                config=_text(path / _CONFIG),
                status=_text(path / _STATUS),
                data_files=tuple(files),
            )
        )
        conclusion, plan = _text(path / _TRUTH), _text(path / _PLAN)
        if conclusion is not None or plan is not None:
            truths.append(FireTruth(task=path.name, conclusion=conclusion, plan=plan))
    return papers, truths


def write_papers(
    papers: Iterable[FirePaper], folder: str | Path, truths: Iterable[FireTruth] = ()
) -> list[Path]:
    """Write tasks in the published layout, `FOLDER/TASK/instruction/instruction.txt`.

    Args:
        papers: what is written; data files are not copied.
        folder: where; it is made.
        truths: written beside the tasks they belong to. Leave them out where an agent will read.

    Returns:
        The files written.

    Raises:
        InputError: a name that is no folder's, a file that is there, or a truth without a task.
    """
    root = Path(folder)
    texts: dict[Path, str] = {}
    tasks = list(papers)
    names = {one.task for one in tasks}
    for one in tasks:
        for path, text in (
            (_INSTRUCTION, one.instruction),
            (_SOURCE, one.dataset_source),
            (_CONFIG, one.config),
            (_STATUS, one.status),
        ):
            if text is not None:
                texts[folder_of(root, one.task) / path] = text
    for truth in truths:
        if truth.task not in names:
            raise InputError(f"there is no task {spelt(truth.task)} to this truth")
        for path, text in ((_TRUTH, truth.conclusion), (_PLAN, truth.plan)):
            if text is not None:
                texts[folder_of(root, truth.task) / path] = text
    there = next((path for path in texts if path.exists()), None)
    if there is not None:
        raise InputError("is there already", where=str(there), todo="Name another folder.")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return list(texts)


def folder_of(root: Path, *names: str) -> Path:
    """Give a folder inside of another by names that may come from a file.

    Raises:
        InputError: a name is empty or leads elsewhere.
    """
    for name in names:
        if not name or name in {".", ".."} or "/" in name or "\\" in name or "\x00" in name:
            raise InputError(f"{spelt(name)} can't be a folder's name", todo="Name it otherwise.")
    return root.joinpath(*names)


def read_truth_table(path: str | Path) -> tuple[dict[str, str], list[FireTruth]]:
    """Read questions and truths from the evaluation's `utils.py`, which is not run.

    Args:
        path: a Python file with the dictionaries `query` and `gt`, task to text.

    Returns:
        Task to question, and the truths.

    Raises:
        InputError: the file is missing or no Python, or has no such dictionary of texts.
    """
    path = Path(path)
    text = _text(path)
    if text is None:
        raise InputError("no such file", where=str(path), todo="Check the path.")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"is no Python: {error}", where=str(path)) from None
    tables: dict[str, dict[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in {"query", "gt"}:
                tables[name] = _table(node.value, f"{path}, line {node.lineno}")
    if "gt" not in tables:
        raise InputError("has no dictionary `gt`", where=str(path), todo="Name its utils.py.")
    truths = [FireTruth(task=task, conclusion=truth) for task, truth in tables["gt"].items()]
    return tables.get("query", {}), truths


def _table(node: ast.expr, where: str) -> dict[str, str]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict) or not all(
        isinstance(part, str) for pair in value.items() for part in pair
    ):
        raise InputError("is no dictionary of texts", where=where)
    assert isinstance(node, ast.Dict)
    if len(value) < len(node.keys):
        raise InputError("a task stands twice", where=where, todo="Leave one out.")
    return value


def _text(path: Path) -> str | None:
    if not path.is_file():
        return None
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8", where=str(path), todo="Convert it to UTF-8."
        ) from None
