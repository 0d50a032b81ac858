"""What holds the house together: links, the light import, the doors, the papers in the root."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import basanite
from support.exports import PINNED, as_text, doors, exported

ROOT = Path(__file__).parents[2]

LINKS = ("extractors", "graphs", "judges", "sandboxes", "serving")

HEAVY = (
    "jupyter_client",
    "jupyter_core",
    "langchain_core",
    "langgraph",
    "matplotlib",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "ray",
    "scanpy",
    "scipy",
    "sqlalchemy",
    "torch",
    "vllm",
    "xllamacpp",
)
"""What `import basanite` must not load."""

BACKENDS = ("jupyter_client", "ray", "scanpy", "torch", "vllm")
"""What no door may load by being imported."""

_PROBE = """
import json, sys, time
events = []
sys.addaudithook(lambda event, _: events.append(event) if event.startswith("socket.") else None)
start = time.perf_counter()
for name in sys.argv[1:]:
    __import__(name)
seconds = time.perf_counter() - start
calls = [event for event in events if event != "socket.__new__"]
print(json.dumps({"modules": sorted(sys.modules), "seconds": seconds, "calls": calls}))
"""


def probe(*modules: str) -> tuple[list[str], float, list[str]]:
    """Import modules in a fresh interpreter: all loaded modules, seconds, socket calls."""
    child = subprocess.run(
        # -I: neither the guard nor anything else of this environment is loaded with it.
        [sys.executable, "-I", "-c", _PROBE, *modules],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(child.stdout)
    return found["modules"], found["seconds"], found["calls"]


def loaded(modules: list[str], names: tuple[str, ...]) -> set[str]:
    return {module.partition(".")[0] for module in modules} & set(names)


@pytest.mark.parametrize("link", LINKS)
def test_links_lead_to_the_rooms(link: str) -> None:
    path = ROOT / link
    assert path.is_symlink()
    assert not path.readlink().is_absolute()
    assert path.resolve() == ROOT / "src" / "basanite" / link
    assert (path / "__init__.py").is_file(), "a room that is linked has a door"


def test_import_is_light_and_silent(capsys: pytest.CaptureFixture[str]) -> None:
    modules, seconds, calls = probe("basanite")
    with capsys.disabled():
        print(f"\nimport basanite: {seconds * 1000:.1f} ms, {len(modules)} modules")
    assert len(modules) < 400
    assert not loaded(modules, HEAVY)
    assert not calls


def test_the_probe_can_see_heavy_modules_and_connections() -> None:
    modules, _, _ = probe("numpy")
    assert loaded(modules, HEAVY) == {"numpy"}


def test_no_door_loads_a_backend_or_opens_a_connection() -> None:
    modules, _, calls = probe(*doors())
    assert not loaded(modules, BACKENDS)
    assert not calls


def test_exported_names_are_pinned() -> None:
    pinned = PINNED.read_text(encoding="utf-8")
    assert as_text() == pinned, "meant? then run: python tests/support/exports.py"


def test_the_front_door_is_small() -> None:
    assert len(exported("basanite")) <= 15


def test_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", basanite.__version__)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {basanite.__version__}" in changelog


def _blocks(markdown: str) -> list[str]:
    return re.findall(r"```\w*\n(.*?)```", markdown, flags=re.DOTALL)


def test_readme_is_short_and_starts_with_the_demo() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    blocks = _blocks(text)
    assert "make demo" in blocks[0]
    assert "make test" in blocks[1]


def test_langgraph_json_names_things_that_exist() -> None:
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    assert config["dependencies"]
    assert config["graphs"]
    for target in config["graphs"].values():
        path, _, name = target.partition(":")
        source = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {name}\b|\b{name}\b", source, flags=re.MULTILINE)


def _tracked_text() -> dict[str, str]:
    """All text that is, or would be, committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout: the files to look at are those that git knows")
    texts = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            try:
                texts[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return texts


def _documents() -> dict[str, str]:
    return {name: text for name, text in _tracked_text().items() if name.endswith(".md")}


def test_links_in_the_documents_lead_somewhere() -> None:
    broken = []
    for name, text in _documents().items():
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", target) and not ((ROOT / name).parent / target).exists():
                broken.append(f"{name}: {target}")
    assert not broken


def test_no_path_or_host_of_one_machine_is_written_down() -> None:
    home = re.escape(str(Path.home())) + "/"
    here = re.escape(str(ROOT)) + r"\b"
    # Split so that this file does not find itself.
    hosts = r"files\.python" + r"hosted\.org|py" + r"pi\.org/simple"
    pattern = re.compile("|".join([home, here, hosts]))
    found = [name for name, text in _tracked_text().items() if pattern.search(text)]
    assert not found


def test_pins_are_plain() -> None:
    lines = (ROOT / "constraints" / "core.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 50
    odd = [pin for pin in pins if not re.match(r"[A-Za-z0-9._-]+[=<>~!]=?[^@/]*$", pin)]
    assert not odd, "a pin is name, version and perhaps a marker: no address, no path"


def test_ci_script_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_documents_name_every_score_and_every_reason() -> None:
    from basanite.errors import UnscoredReason
    from basanite.judges import CHOICE_SCORES, CLAIM_SCORES

    text = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` (\|.*)$", text, flags=re.MULTILINE))
    assert not [name for name in (*CLAIM_SCORES, *CHOICE_SCORES) if name not in rows]
    for reason in UnscoredReason:
        assert reason.value in rows, reason
        assert ("| outside |" in rows[reason.value]) is reason.outside, reason


FOREIGN = {"--api-key", "--host", "--log-dir", "--max-model-len", "--port"}
"""Options in the documents that are other programs'."""


def test_documents_show_commands_and_options_that_exist() -> None:
    from typer.main import get_command

    from basanite.cli._app import app

    commands, options = _command_line(get_command(app))
    for page in (
        "README.md",
        "docs/critic-study.md",
        "docs/judging.md",
        "docs/endpoints.md",
        "docs/exports.md",
        "docs/report.md",
        "deploy/README.md",
    ):
        text = (ROOT / page).read_text(encoding="utf-8")
        for line in re.findall(r"^basanite (.+)$", "\n".join(_blocks(text)), flags=re.MULTILINE):
            words = line.split()
            assert {" ".join(words[:n]) for n in (1, 2, 3)} & commands, f"{page}: {line}"
        unknown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - options - FOREIGN
        assert not unknown, page


def _command_line(command: Any, name: str = "") -> tuple[set[str], set[str]]:
    """Give the names of all commands that do something, and all options."""
    options = {option for parameter in command.params for option in parameter.opts}
    children = getattr(command, "commands", {})
    commands = set() if children else {name}
    for child_name, child in children.items():
        below, its_options = _command_line(child, f"{name} {child_name}".strip())
        commands |= below
        options |= its_options
    return commands, options
