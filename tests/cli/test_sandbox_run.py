"""`sandbox run`, `sandbox probe` and `doctor` as a user types them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from basanite.cli import _sandbox, _sandbox_run
from basanite.cli._console import reported
from basanite.cli._terminal import harmless
from basanite.errors import SandboxUnavailable
from basanite.sandboxes import (
    BackendReport,
    ExecResult,
    Limits,
    ProbeReport,
    SandboxSpec,
    Status,
    Usage,
)
from support.command import basanite, start
from support.sandboxing import skip_without_bubblewrap

HIT = ("wall", "cpu_time", "memory", "processes", "disk", "inodes")
"""Names that `limits_hit` can hold for a command without endpoints, beside `output`."""


@pytest.fixture(scope="module", autouse=True)
def _needs_bubblewrap() -> None:
    skip_without_bubblewrap()


def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "basanite", "sandbox", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=60)


def test_output_and_exit_code_are_the_commands() -> None:
    done = run("--", "sh", "-c", "printf 'out\\377'; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\xff", b"err\n")


def test_options_after_the_command_are_its_own() -> None:
    done = run("echo", "--json", "-h")
    assert (done.returncode, done.stdout) == (0, b"--json -h\n")


def test_inputs_variables_and_files(tmp_path: Path) -> None:
    given = tmp_path / "given.txt"
    given.write_text("data", encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "more.txt").write_text("more", encoding="utf-8")
    out = tmp_path / "new" / "out"
    shell = """
cat /inputs/given.txt /inputs/folder/more.txt && echo " $WHAT"
touch /inputs/given.txt 2>/dev/null || echo read-only
mkdir -p sub && echo kept >sub/file.txt && ln -s /etc/passwd link
"""
    done = run(
        *("--input", given, "--input", folder, "--env", "WHAT=seen", "-o", out),
        *("--", "sh", "-c", shell),
    )
    assert done.stdout == b"datamore seen\nread-only\n"
    assert done.returncode == 0
    assert b"not taken: link: a symbolic link" in done.stderr
    assert [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()] == [
        "sub/file.txt"
    ]
    again = run("-o", out, "--", "true")
    assert again.returncode == 125
    assert b"is not an empty folder" in again.stderr


def test_an_input_has_its_own_name_also_where_it_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "store-1f3a").write_text("data", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(tmp_path / "store-1f3a")
    done = run("--input", tmp_path / "link.csv", "--", "cat", "/inputs/link.csv")
    assert (done.returncode, done.stdout) == (0, b"data")


@pytest.mark.skipif(os.getuid() != 0, reason="only root's sandboxes run as another user")
def test_an_input_that_can_not_be_read_inside_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "file").write_text("data", encoding="utf-8")
    done = run("--input", closed, "--", "true")
    assert done.returncode == 125
    assert b"which may not read it. chmod -R o+rX" in done.stderr
    assert run("--input", closed / "file", "--", "cat", "/inputs/file").stdout == b"data"


def test_a_folder_that_can_not_be_made_is_found_before_the_command_runs() -> None:
    done = run("-o", "/proc/1/out", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (125, b"")
    assert b"/proc/1/out: can't be made" in done.stderr


@pytest.mark.parametrize(
    ("options", "command", "code", "said"),
    [
        (("--wall", 1), "sleep 60", 124, "limit hit: wall: 1 s (--wall)"),
        (
            ("--memory", 64),
            "python3 -c 'x = bytearray(200 << 20)'",
            None,
            "limit hit: memory: 64 MB of memory (--memory)",
        ),
        (
            ("--disk", 1),
            "for n in 1 2 3; do head -c 500000 /dev/zero >$n || exit 9; done",
            9,
            "limit hit: disk: 1 MB",
        ),
    ],
)
def test_a_limit_is_named_on_stderr(
    options: tuple[object, ...], command: str, code: int | None, said: str
) -> None:
    done = run(*options, "--", "sh", "-c", command)
    if code is None:
        # Killed by its group, or refused the memory by the rlimit where there are no groups.
        assert done.returncode in {137, 1}
        if done.returncode == 1:
            assert b"MemoryError" in done.stderr
            return
    else:
        assert done.returncode == code
    assert said in done.stderr.decode()


def test_json_holds_the_result_and_nothing_else() -> None:
    done = run("--json", "--", "sh", "-c", "echo hi; echo x >file; exit 3")
    found = json.loads(done.stdout)
    assert done.returncode == 3
    assert found["schema"] == "basanite.sandbox.run/1"
    assert (found["status"], found["exit_code"]) == ("exited", 3)
    assert found["stdout"]["text"] == "hi\n"
    assert "log" not in found["stdout"]
    assert [one["path"] for one in found["artifacts"]] == ["file"]
    assert "file" not in found["artifacts"][0]
    assert found["enforced"]["network"]["strength"] == "strict"
    assert len(found["policy_hash"]) == 64


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--backend", "nope"), "there is no backend 'nope'"),
        (("--input", "nothing/here"), "the source of a mount does not exist"),
        (("--wall", -1), "limits.wall_s: Input should be greater than 0"),
        (("--cpus", 0.001), "limits.cpus: Input should be greater than or equal to 0.01"),
        (("--env", "A"), "'A' is no NAME=VALUE"),
        (("--env", "A-B=1"), "'A-B' is no name of a variable"),
        (("--profile", "nope"), "there is no profile 'nope'"),
        (("--floor", "own_kernel", "--backend", "bubblewrap"), "the kernel is the host's"),
        (("--floor", "high"), "floor"),
        (("--workdir", "tape"), "workdir: Input should be 'memory' or 'disk'"),
    ],
)
def test_what_can_not_be_run_is_125(arguments: tuple[object, ...], said: str) -> None:
    done = basanite("sandbox", "run", *arguments, "--", "true")
    assert done.code == 125
    assert said in done.err


def test_a_profile_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_PROFILES", str(tmp_path))
    done = basanite("sandbox", "run", "--profile", "base", "--", "true")
    assert done.code == 125
    assert "basanite sandbox profile build base" in done.err


def test_no_sandbox_is_125(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*arguments: object, **options: object) -> None:
        raise SandboxUnavailable("no sandbox can be opened here", todo="Run the probe.")

    monkeypatch.setattr("basanite.sandboxes.open_sandbox", refused)
    done = basanite("sandbox", "run", "--", "true")
    assert (done.code, "no sandbox can be opened here" in done.err) == (125, True)


def test_stdin_is_given_only_when_asked_for() -> None:
    command = [sys.executable, "-m", "basanite", "sandbox", "run"]
    for options, expected in (([], b""), (["--stdin"], b"text")):
        done = subprocess.run(
            [*command, *options, "--", "cat"],
            input=b"text",
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert done.stdout == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_its_files_are_kept(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shell = "echo kept >file; echo ready; sleep 60"
    process = start("sandbox", "run", "-o", out, "--", "sh", "-c", shell)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    began = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=30)
    assert time.monotonic() - began < 20  # the command itself would sleep for a minute
    assert process.returncode == 128 + number
    assert (out / "file").read_text(encoding="utf-8") == "kept\n"


def test_a_reader_that_goes_away_ends_it() -> None:
    with start("sandbox", "run", "--", "yes") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"y\n"
        process.stdout.close()
        process.wait(timeout=30)
    assert process.returncode == 128 + signal.SIGPIPE


def test_a_terminal_is_not_obeyed() -> None:
    """On a terminal what the code prints can't rewrite what is there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "basanite", "sandbox", "run", "--"]
    evil = "printf '\\033]0;title\\007\\033[2Jfine\\n'"
    process = subprocess.Popen([*command, "sh", "-c", evil], stdout=theirs, stderr=theirs)
    os.close(theirs)
    process.wait(timeout=60)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert shown == b"\\x1b]0;title\\x07\\x1b[2Jfine\r\n"


def test_harmless_text() -> None:
    assert harmless("tab\tline\r\nnext\r") == "tab\tline\nnext\\r"
    assert harmless("\u202ex\u200b") == "\\u202ex\\u200b"
    assert harmless("naïve λ") == "naïve λ"


def test_probe_shows_each_aspect() -> None:
    done = basanite("sandbox", "probe", "--backend", "bubblewrap")
    assert done.code == 0
    for word in ("bubblewrap", "network namespace", "memory", "strict"):
        assert word in done.out
    found = basanite("sandbox", "probe", "--json").json()
    assert found["schema"] == "basanite.sandbox.probe/1"
    assert isinstance(found["backends"], list)
    assert found["backends"][0]["name"] == "bubblewrap"
    assert "strength" in found["backends"][0]["enforced"]["memory"]


def test_probe_where_nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(names: object = None) -> ProbeReport:
        blocked = BackendReport(
            name="bubblewrap", available=False, why="[blocked]", todo="sysctl -w this=1"
        )
        return ProbeReport(
            platform="Linux", user="unprivileged", groups="none", groups_found="v1: none",
            backends=(blocked,),
        )  # fmt: skip

    monkeypatch.setattr("basanite.sandboxes.probe", nothing)
    done = basanite("sandbox", "probe")
    assert done.code == _sandbox.NONE_WORKS
    assert "not available: [blocked]" in done.out
    assert "sysctl -w this=1" in done.out
    doctor = basanite("doctor", "--json").json()
    assert isinstance(doctor["findings"], list)
    sandbox = next(one for one in doctor["findings"] if one["name"] == "sandbox: bubblewrap")
    assert (sandbox["state"], sandbox["todo"]) == ("optional", "sysctl -w this=1")


def test_each_limit_is_named_with_its_amount() -> None:
    """Whatever limit the engine can report, its note says more than its name."""
    result = ExecResult(
        status=Status.EXITED, exit_code=0, limits_hit=("output", *HIT), usage=Usage(wall_s=1),
        backend="bubblewrap", policy_hash="0" * 64,
    )  # fmt: skip
    asked = _sandbox_run.Asked(SandboxSpec(limits=Limits(cpu_s=5)), None, None, None, live=True)
    notes = list(_sandbox_run._notes(result, asked))
    assert len(notes) == len(HIT) + 1
    for name, note in zip(result.limits_hit, notes, strict=True):
        said = note.removeprefix(f"basanite: limit hit: {name}: ")
        assert re.search(r"\d", said), note


def test_ctrl_c_names_resume_only_where_there_is_one() -> None:
    def plain() -> None:
        raise KeyboardInterrupt

    def run(*, resume: bool = False) -> None:
        raise KeyboardInterrupt

    for command, said in ((plain, "stopped\n"), (run, "Go on with --resume.\n")):
        app = typer.Typer()
        app.command()(reported(command))
        done = CliRunner().invoke(app, [])
        assert done.exit_code == 130
        assert done.stderr.endswith(said)
