"""The page on sandboxes: each example runs as it stands there."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
from pathlib import Path

import pytest

from basanite.sandboxes import Strength
from support.sandboxing import profile_or_skip

PAGE = (Path(__file__).parents[2] / "docs" / "sandboxes.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
CALLS = {"cells": "", "graded": "\"open('answer.txt', 'w').write('42')\""}
"""Functions that the page defines and leaves to its reader, with what they take."""


@pytest.mark.usefixtures("needs_bubblewrap")
@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
async def test_each_example_runs_by_itself(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r'find_profile\("(\w+)"\)', block):
        built = profile_or_skip(name)
        if "cells.h5ad" in block:
            site = next((built.prefix / "lib").glob("python3.*/site-packages"))
            shutil.copy(site / "scanpy" / "datasets" / "10x_pbmc68k_reduced.h5ad", "cells.h5ad")
    (tmp_path / "truth.txt").write_text("42\n", encoding="utf-8")
    # A function of the reader's, by the name of one that can be imported in a child.
    names: dict[str, object] = {"__name__": "page", "read_archive": "zipfile:is_zipfile"}
    block = block.replace("asyncio.run(main())", "await main()").replace("list[str]", "bool")
    for name, arguments in CALLS.items():
        if f"async def {name}(" in block:
            block += f"\nanswer = await {name}({arguments})\n"
    code = compile(block, "docs/sandboxes.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    running = eval(code, names)
    if inspect.isawaitable(running):
        await running
    said = capsys.readouterr().out
    if "async def main" in block:
        assert said == "exited gene,fold\nCST3,2.1\n\n ['data.csv', 'out.txt']\n"
    if "async def cells" in block:
        assert said == "ok 42\n"
    if "async def graded" in block:
        assert str(names["answer"]) == "score=1.0"
    if "cells.h5ad" in block:
        assert "700 x 765" in said.replace(",", "") or "700" in said


def test_the_page_has_examples() -> None:
    assert len(BLOCKS) >= 6


def test_the_strengths_are_explained() -> None:
    assert f"`{Strength.STRICT.value}`" in PAGE
    assert f"`{Strength.BEST_EFFORT.value}`" in PAGE
