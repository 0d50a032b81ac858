"""`basanite sandbox kernel`: cells from a pipe and from a terminal."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from basanite.cli._app import app
from basanite.cli._kernel_input import unfinished
from support.command import Done, basanite
from support.sandboxing import profile_or_skip, skip_without_bubblewrap

needs_kernel = pytest.mark.usefixtures("kernel")
SLEEP = "print('go', flush=True)\nimport time\ntime.sleep(30)\n\n"
STUBBORN = """
words = ['on']
while True:
    try:
        while words:
            print(words.pop(), flush=True)
        time.sleep(1)
    except KeyboardInterrupt:
        print('no')

"""
PICTURE = "display({'image/png': 'iVBORw0KGgo=', 'text/plain': 'a dot'}, raw=True)\n\n"


@pytest.fixture(scope="module")
def kernel() -> None:
    profile_or_skip("base")
    skip_without_bubblewrap()


def piped(text: str, *arguments: object) -> Done:
    command = ["sandbox", "kernel", *(str(argument) for argument in arguments)]
    result = CliRunner().invoke(app, command, input=text)
    return Done(result.exit_code, result.stdout, result.stderr)


class Started:
    """The command in a process of its own, whose input stays open."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "basanite", "sandbox", "kernel", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | environment,
        )

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def interrupt(self) -> None:
        """Press Ctrl-C while the cell sleeps: ipykernel may lose one in the middle of a print."""
        time.sleep(1)
        self.process.send_signal(signal.SIGINT)

    def read(self, text: str) -> None:
        """Read one line, which has to be this one."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        assert ready, f"nothing came where {text!r} was expected"
        line = self.process.stdout.readline()
        if not line:
            _, error = self.process.communicate(timeout=30)
            pytest.fail(f"it ended ({self.process.returncode}): {error.decode()}")
        assert line == f"{text}\n".encode()

    def end(self) -> tuple[int, str, str]:
        """Close its input; gives exit code, output and messages."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def started() -> Iterator[list[Started]]:
    running: list[Started] = []
    yield running
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["f(1,"], True),
        (["f(1,", "  2)"], False),
        (["text = '''one", "two"], True),
        (["text = '''one", "two'''"], False),
        (["def f():", "    return 1"], False),
        (["x = (", "# )"], True),
        (['!echo \'((\' """'], False),
        (["%%bash", "echo ("], False),
        (["if x:", "        1", "    2"], False),
    ],
)
def test_where_a_cell_goes_on_after_an_empty_line(lines: list[str], expected: bool) -> None:
    assert unfinished(lines) is expected


@needs_kernel
def test_cells_from_a_pipe(tmp_path: Path) -> None:
    text = "\n\nx = [\n\n41]\nprint('hello')\n\n\nx[0] + 1\n\nprint('no empty line')"
    done = piped(text, "--figures", tmp_path / "figures")
    assert (done.code, done.out, done.err) == (0, "hello\n42\nno empty line\n", "")
    assert not (tmp_path / "figures").exists()


@needs_kernel
def test_failures_are_shown_and_do_not_end_it() -> None:
    text = "y = 1\n1 / 0\n\nimport os; os._exit(4)\n\n'y' in globals()"
    done = piped(text)
    assert done.code == 1
    assert "ZeroDivisionError: division by zero" in done.err
    assert "the kernel ended (exited with exit code 4)" in done.err
    assert done.out == "False\n"


@needs_kernel
def test_a_cell_has_a_limit_of_time() -> None:
    done = piped(f"{SLEEP}print('after')", "--timeout", "0.4")
    assert (done.code, done.out) == (1, "go\nafter\n")
    assert "--timeout" in done.err


@needs_kernel
def test_figures_and_files_are_kept(tmp_path: Path) -> None:
    figures, files = tmp_path / "figures", tmp_path / "files"
    figures.mkdir()
    target = tmp_path / "target"
    (figures / "figure-001.png").symlink_to(target)
    text = f"{PICTURE}import os\nopen('a.txt', 'w').write('kept')\nos.symlink('/etc', 'link')\n"
    done = piped(text, "--figures", figures, "-o", files)
    assert done.code == 0
    assert done.out == "a dot\n"
    assert not target.exists()
    assert (figures / "figure-002.png").read_bytes() == b"\x89PNG\r\n\x1a\n"
    assert f"figure: {figures / 'figure-002.png'}" in done.err
    assert (files / "a.txt").read_text("utf-8") == "kept"
    assert "not taken: link: a symbolic link" in done.err
    assert piped("1", "-o", files).code == 2


def test_a_profile_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASANITE_PROFILES", str(tmp_path))
    done = basanite("sandbox", "kernel")
    assert done.code == 2
    assert "basanite sandbox profile build base" in done.err


@needs_kernel
def test_ctrl_c_interrupts_and_a_second_one_kills(started: list[Started]) -> None:
    one = Started()
    started.append(one)
    one.write(SLEEP)
    one.read("go")
    one.interrupt()
    one.write("print('after')\n\n")
    one.read("after")
    one.write(STUBBORN)
    one.read("on")
    one.interrupt()
    one.read("no")
    one.interrupt()
    one.write("print('new')\n\n")
    one.read("new")
    code, out, err = one.end()
    assert (code, out) == (1, "")
    assert "the cell was interrupted\n" in err
    assert "the kernel ended (cancelled)" in err
    assert "Traceback" not in err


@needs_kernel
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_end_leaves_nothing(started: list[Started], number: signal.Signals) -> None:
    root = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="basanite-test-"))
    root.chmod(0o711)
    try:
        one = Started(BASANITE_SANDBOXES=str(root))
        started.append(one)
        one.write("print('go', flush=True)\n\n")
        one.read("go")
        assert len([path for path in root.iterdir() if path.name != "users"]) == 1
        if number == signal.SIGTERM:
            one.write(SLEEP)
            one.read("go")
        for _ in range(4):  # Ctrl-C is the cell's until that has ended
            one.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.process.wait(5)
                break
        code, _, err = one.end()
        assert code == 128 + number
        assert "Traceback" not in err
        assert [path for path in root.iterdir() if path.name != "users"] == []
    finally:
        shutil.rmtree(root)


@needs_kernel
def test_at_a_terminal() -> None:
    ours, theirs = os.openpty()
    command = ["setsid", "--ctty", sys.executable, "-m", "basanite", "sandbox", "kernel"]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "dumb"}
    )
    os.close(theirs)
    seen = b""

    def until(text: str, again: str = "") -> str:
        nonlocal seen
        deadline = time.monotonic() + 30
        while text.encode() not in seen:
            assert time.monotonic() < deadline, seen
            ready, _, _ = select.select([ours], [], [], 1)
            if ready:
                seen += os.read(ours, 65536)
            else:
                type_in(again)
        found, _, seen = seen.partition(text.encode())
        return found.decode()

    def type_in(text: str) -> None:
        os.write(ours, text.encode())

    try:
        until("In [1]: ")
        type_in("print('\\x1b]0;title\\x07')\n")
        until("...: ")
        type_in("\n")
        shown = until("In [2]: ")
        assert "\\x1b]0;title\\x07\r\n" in shown
        assert "\x1b]0" not in shown
        type_in("half a cell\n")
        until("...: ")
        type_in("\x03")
        # readline hears a Ctrl-C between its prompt and its first wait only with the next key.
        until("In [2]: ", again="\x03")
        type_in("import time; print('g' + 'o', flush=True); time.sleep(30)\n\n")
        until("go\r\n")
        type_in("\x03")
        until("the cell was interrupted")
        until("In [3]: ")
        type_in("6 * 7\n\x04")
        assert "42\r\n" in until("In [4]: ")
        type_in("\x04")
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
