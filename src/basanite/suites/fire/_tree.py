"""Trees of research questions in the published JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ...errors import InputError
from ...schema import Model
from ...store import unique_names

_DEPTH = re.compile(r"depth-(?P<depth>\d+) node")
LEAF = frozenset({"leaf node", "leaf"})
ROOT = frozenset({"root node", "root"})


class _Published(BaseModel):
    """A part of a tree; what the published form does not name is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")


class TreePaper(_Published):
    """The paper of a tree."""

    title: str
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: str | int | None = None


class TreeEvidence(_Published):
    """Where a finding stands."""

    figure: str | None = None
    table: str | None = None
    section: str | None = None


class TreeNode(_Published):
    """A question (`node`, `children`) or a leaf, which is an experiment (`task`, `conclusion`)."""

    type: str
    node: str | None = None
    description: str | None = None
    evidence: str | TreeEvidence | None = None
    children: tuple[TreeNode, ...] = ()
    task: str | None = None
    dataset: tuple[str, ...] = ()
    model_or_method: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    protocol_or_setup: str | None = None
    conclusion: str | None = None
    status: str | None = None
    """Empty, or `[uncertain]`."""

    @property
    def is_leaf(self) -> bool:
        """Whether this is an experiment."""
        return self.type in LEAF

    def walk(self, depth: int = 0) -> Iterator[tuple[int, TreeNode]]:
        """Give this node and all below it with their depths, parents first."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


class FireTree(Model):
    """One paper's tree."""

    paper: TreePaper
    problem_tree: TreeNode

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """All experiments, in order."""
        return tuple(node for _, node in self.problem_tree.walk() if node.is_leaf)

    @property
    def counts(self) -> dict[str, int]:
        """Type to number of nodes."""
        return dict(Counter(node.type for _, node in self.problem_tree.walk()))

    def faults(self) -> list[str]:
        """Give what breaks the rules of the form; a tree with faults can be read all the same.

        A root stands at the top alone, a leaf has no children, a task, a conclusion and a
        figure, table or section, and the number in `depth-k node` is the node's depth.
        """
        found = []
        for depth, node in self.problem_tree.walk():
            name = (node.node or node.task or node.type)[:60]
            found += [f"{name}: {fault}" for fault in _faults(depth, node)]
        return found


def _faults(depth: int, node: TreeNode) -> Iterator[str]:
    if (node.type in ROOT) != (depth == 0):
        yield f"a {node.type} at depth {depth}"
    number = _DEPTH.fullmatch(node.type)
    if number and int(number["depth"]) != depth:
        yield f"a {node.type} at depth {depth}"
    if not node.is_leaf:
        if not node.children:
            yield "a question without children"
        return
    if node.children:
        yield "a leaf with children"
    for name in ("task", "conclusion"):
        if not getattr(node, name):
            yield f"a leaf without a {name}"
    evidence = node.evidence
    cited = isinstance(evidence, TreeEvidence) and any(
        (evidence.figure, evidence.table, evidence.section)
    )
    if not cited:
        yield "a leaf that cites no figure, table or section"


def read_trees(path: str | Path) -> list[FireTree]:
    """Read a file of one tree, or of a list of trees.

    Raises:
        InputError: it is missing, no JSON, or not of this form; the message says which tree and
            what in it.
    """
    path = Path(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=unique_names)
    except FileNotFoundError:
        raise InputError("no such file", where=str(path), todo="Check the path.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON: {error}", where=str(path)) from None
    trees = []
    for number, one in enumerate(value if isinstance(value, list) else [value], 1):
        try:
            trees.append(FireTree.model_validate(one))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InputError(
                f"{place or 'it'}: {first['msg']}", where=f"{path}, tree {number}"
            ) from None
    if not trees:
        raise InputError("holds no trees", where=str(path))
    return trees


def tree_json(trees: Iterable[FireTree]) -> str:
    """Give trees in the published form, a list; keys that were not there are not added."""
    plain = [tree.model_dump(mode="json", exclude_unset=True) for tree in trees]
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
