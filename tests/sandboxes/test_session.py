"""Sessions: cells and how they end, files, the kernel's death."""

from __future__ import annotations

import asyncio
import os
import signal
import textwrap
import time
from pathlib import Path

import pytest

from basanite.errors import PolicyError, SandboxLost, SetupError
from basanite.sandboxes import (
    CellEvent,
    CellStatus,
    Chunk,
    SandboxSpec,
    Shown,
    Status,
    open_sandbox,
    open_session,
)
from support.kernels import kernel_spec, open_kernel

pytestmark = pytest.mark.usefixtures("needs_bubblewrap")


def left(root: int | None) -> bool:
    """Whether the process above a kernel's is left."""
    return root is not None and Path(f"/proc/{root}").exists()


async def test_state_is_kept_and_results_come_back() -> None:
    async with await open_kernel() as session:
        first = await session.execute("x = 41\nprint('hello')")
        second = await session.execute("x + 1")
    assert first.ok
    assert first.stdout.text == "hello\n"
    assert not first.stdout.truncated
    assert second.outputs[0].kind == "result"
    assert second.outputs[0].text == "42"
    assert (first.execution_count, second.execution_count) == (1, 2)
    assert second.alive


async def test_an_exception_is_a_result() -> None:
    async with await open_kernel() as session:
        result = await session.execute("def f():\n    1 / 0\nf()")
        after = await session.execute("f is not None")
    assert result.status is CellStatus.ERROR
    assert result.error is not None
    assert (result.error.name, result.error.value) == ("ZeroDivisionError", "division by zero")
    assert "line 2" in result.error.traceback
    assert "\x1b" not in result.error.traceback
    assert after.outputs[0].text == "True"


async def test_a_figure_of_matplotlib_is_an_output() -> None:
    """Scripts of a profile draw to files (Agg); a kernel's cells show their figures."""
    code = "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"
    async with await open_kernel() as session:
        result = await session.execute(code)
    assert result.status is CellStatus.OK, result.error
    images = [output.data["image/png"] for output in result.outputs if "image/png" in output.data]
    assert len(images) == 1
    assert isinstance(images[0], bytes)
    assert images[0].startswith(b"\x89PNG")


async def test_output_comes_as_events_while_the_cell_runs() -> None:
    seen: list[tuple[float, CellEvent]] = []
    code = """
        import sys, time
        print("one", flush=True)
        time.sleep(0.6)
        print("two", file=sys.stderr, flush=True)
        display({"image/png": "iVBORw0KGgo=", "text/plain": "a dot"}, raw=True)
    """
    async with await open_kernel() as session:
        result = await session.execute(
            textwrap.dedent(code), on_event=lambda event: seen.append((time.monotonic(), event))
        )
    chunks = [(event.stream, event.data) for _, event in seen if isinstance(event, Chunk)]
    assert chunks == [("stdout", b"one\n"), ("stderr", b"two\n")]
    assert seen[1][0] - seen[0][0] > 0.3
    shown = [event.output for _, event in seen if isinstance(event, Shown)]
    assert shown == list(result.outputs)
    assert shown[0].data == {"image/png": b"\x89PNG\r\n\x1a\n", "text/plain": "a dot"}
    assert '"image/png":"iVBORw0KGgo="' in result.model_dump_json()


async def test_what_children_of_the_kernel_print_is_heard() -> None:
    async with await open_kernel() as session:
        result = await session.execute("import os\nos.system('echo child; echo wrong >&2');")
    assert result.stdout.text == "child\n"
    assert result.stderr.text == "wrong\n"


async def test_a_timeout_interrupts_and_keeps_the_state() -> None:
    async with await open_kernel() as session:
        await session.execute("x = 7")
        began = time.monotonic()
        result = await session.execute("import time\ntime.sleep(30)", timeout_s=0.3)
        took = time.monotonic() - began
        after = await session.execute("x")
    assert result.status is CellStatus.TIMEOUT
    assert result.alive
    assert took < 2
    assert after.outputs[0].text == "7"


@pytest.mark.parametrize("timeout_s", [0, -1.0, float("nan")])
async def test_a_time_that_is_none_is_refused(timeout_s: float) -> None:
    async with await open_kernel() as session:
        with pytest.raises(PolicyError, match="timeout_s"):
            await session.execute("1", timeout_s=timeout_s)


async def test_interrupt_ends_the_cell_that_runs() -> None:
    async with await open_kernel() as session:
        await session.interrupt()  # no cell: nothing happens
        running = asyncio.ensure_future(session.execute("import time\ntime.sleep(30)"))
        await asyncio.sleep(0)
        await session.interrupt()  # perhaps before it has begun
        result = await asyncio.wait_for(running, 5)
        after = await session.execute("1")
    assert result.status is CellStatus.INTERRUPTED
    assert after.ok


async def test_a_cancelled_call_ends_its_cell() -> None:
    async with await open_kernel() as session:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.execute("import time\ntime.sleep(30)"), 0.3)
        began = time.monotonic()
        after = await session.execute("'ready'")
    assert after.outputs[0].text == "'ready'"
    assert time.monotonic() - began < 2


async def test_cells_wait_for_each_other() -> None:
    async with await open_kernel() as session:
        code = "import time\nn = globals().get('n', 0)\ntime.sleep(0.05)\nn += 1\nn"
        results = await asyncio.gather(*(session.execute(code) for _ in range(4)))
    assert [result.outputs[0].text for result in results] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("code", "death", "exit_code"),
    [
        ("import os; os._exit(3)", Status.EXITED, 3),
        ("import os; os.kill(os.getpid(), 9)", Status.EXITED, 137),
    ],
)
async def test_the_kernels_death_is_noticed_at_once(
    code: str, death: Status, exit_code: int
) -> None:
    async with await open_kernel() as session:
        began = time.monotonic()
        result = await session.execute(code)
        assert time.monotonic() - began < 1
        assert result.status is CellStatus.KERNEL_DIED
        assert (result.death, result.exit_code) == (death, exit_code)
        assert not session.alive
        await session.restart()
        assert (await session.execute("1")).ok


async def test_wall_time_is_the_kernels_whole_life() -> None:
    async with await open_kernel(limits={"wall_s": 2.5}) as session:
        result = await session.execute("import time\ntime.sleep(30)")
    assert result.status is CellStatus.KERNEL_DIED
    assert result.death is Status.TIMEOUT
    assert result.limits_hit == ("wall",)


async def test_files_go_in_and_come_out() -> None:
    async with await open_kernel() as session:
        await session.upload("in/data.txt", b"given")
        await session.execute(
            "import os\ntext = open('in/data.txt').read()\n"
            "open('out.txt', 'w').write(text.upper())\nos.symlink('/etc/passwd', 'link')"
        )
        found = await session.collect()
        files = {a.path: a.file.read_bytes() for a in found.artifacts if a.file is not None}
        again = await session.collect()
        assert (await session.execute("1")).ok
    assert files == {"in/data.txt": b"given", "out.txt": b"GIVEN"}
    assert [one.path for one in found.rejected] == ["link"]
    assert len(again.artifacts) == 2


async def test_files_of_a_dead_kernel_are_still_there() -> None:
    async with await open_kernel() as session:
        await session.execute("open('partial.txt', 'w').write('abc')\nimport os\nos._exit(1)")
        found = await session.collect()
    assert [artifact.path for artifact in found.artifacts] == ["partial.txt"]


async def test_commands_run_beside_the_kernel() -> None:
    async with await open_sandbox(kernel_spec()) as sandbox:
        async with await open_session(sandbox) as session:
            await session.execute("open('a.txt', 'w').write('from the kernel')")
            beside = await sandbox.execute(["cat", "a.txt"])
            assert beside.stdout.text == "from the kernel"
        after = await sandbox.execute(["cat", "a.txt"])
    assert after.stdout.text == "from the kernel"


async def test_a_broken_sandbox_is_no_result() -> None:
    async with await open_kernel() as session:
        holder = session.sandbox._holder
        assert holder is not None
        os.kill(holder.pid, signal.SIGKILL)
        assert holder._process is not None
        await asyncio.to_thread(holder._process.wait)
        with pytest.raises(SandboxLost):
            await session.execute("import os; os._exit(1)")
        with pytest.raises(SandboxLost):
            await session.restart()


async def test_closing_leaves_nothing() -> None:
    session = await open_kernel()
    await session.execute("import subprocess\nsubprocess.Popen(['sleep', '60'])")
    root = session._kernel.root_pid
    assert left(root)
    ended = await session.close()
    assert ended is not None
    assert ended.status is Status.CANCELLED
    assert not left(root)
    with pytest.raises(PolicyError, match="closed"):
        await session.execute("1")


async def test_an_interpreter_without_ipykernel_is_an_error_that_says_so() -> None:
    async with await open_sandbox(SandboxSpec.create(limits={"wall_s": 20})) as sandbox:
        seen = await sandbox.execute(["python3", "-I", "-c", "import ipykernel"])
        if seen.ok:
            pytest.skip("the system's Python has ipykernel; remove it: pip uninstall ipykernel")
        with pytest.raises(SetupError, match="Install ipykernel"):
            await open_session(sandbox)
