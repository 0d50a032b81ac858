"""Sessions: limits, and what hostile code in a kernel can't do to its caller."""

from __future__ import annotations

import asyncio
import os
import textwrap

import pytest

from basanite.sandboxes import CellStatus, Status
from support.kernels import open_kernel

pytestmark = pytest.mark.usefixtures("needs_bubblewrap")


async def test_a_cell_that_ignores_interrupts_costs_its_kernel() -> None:
    stubborn = """
        import time
        while True:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                pass
    """
    async with await open_kernel() as session:
        result = await session.execute(textwrap.dedent(stubborn), timeout_s=0.2)
        dead = await session.execute("1")
        await session.restart()
        fresh = await session.execute("1")
    assert result.status is CellStatus.TIMEOUT
    assert not result.alive
    assert dead.status is CellStatus.KERNEL_DIED
    assert dead.death is Status.CANCELLED
    assert fresh.outputs[0].text == "1"


async def test_memory_has_a_limit() -> None:
    code = "kept = bytearray(350 * 2**20)"
    async with await open_kernel(limits={"memory_mb": 250}) as session:
        result = await session.execute(code, timeout_s=20)
    if session.sandbox.enforced["memory"].by.startswith("cgroup"):
        assert result.status is CellStatus.KERNEL_DIED
        assert result.death is Status.OUT_OF_MEMORY
        assert result.limits_hit == ("memory",)
    else:
        assert result.error is not None
        assert result.error.name == "MemoryError"


async def test_a_flood_is_interrupted_and_cut() -> None:
    limits = {"log_mb": 1, "output_bytes": 1000}
    async with await open_kernel(limits=limits) as session:
        result = await session.execute("while True: print('y' * 1000)", timeout_s=20)
        after = await session.execute("1")
    assert result.status is CellStatus.OUTPUT_LIMIT
    assert result.limits_hit == ("output",)
    assert result.stdout.truncated
    assert len(result.stdout.text) < 1100
    assert "bytes left out" in result.stdout.text
    assert after.ok
    assert after.stdout.text == ""


async def test_long_output_comes_whole_where_the_limit_allows_it() -> None:
    limits = {"log_mb": 32, "output_bytes": 1000}
    async with await open_kernel(limits=limits) as session:
        result = await session.execute("print('y' * 12_000_000)")
    assert result.ok
    assert (result.stdout.total_bytes, result.stdout.truncated) == (12_000_001, True)


async def test_rich_outputs_have_a_number_and_a_size() -> None:
    code = """
        for i in range(110):
            display({"text/plain": str(i)}, raw=True)
        display({"image/png": "this is no base64!"}, raw=True)
    """
    large = "display({'text/html': 'h' * (9 * 2**20)}, raw=True)"
    async with await open_kernel(limits={"log_mb": 32}) as session:
        many = await session.execute(textwrap.dedent(code))
        too_large = await session.execute(large)
    assert len(many.outputs) == 100
    assert many.outputs_left_out == 11
    assert too_large.ok
    assert too_large.outputs == ()
    assert too_large.outputs_left_out == 1


async def test_idle_that_code_says_does_not_end_its_cell() -> None:
    code = """
        import time
        kernel = get_ipython().kernel
        kernel.send_response(kernel.iopub_socket, "status", {"execution_state": "idle"})
        time.sleep(0.5)
        print("after")
    """
    async with await open_kernel() as session:
        result = await session.execute(textwrap.dedent(code))
    assert result.ok
    assert result.stdout.text == "after\n"


async def test_messages_for_nobody_and_malformed_ones_are_not_heard() -> None:
    code = """
        kernel = get_ipython().kernel
        other = {"msg_id": "f" * 32, "msg_type": "execute_request"}
        forged = {"name": "stdout", "text": "forged"}
        kernel.session.send(kernel.iopub_socket, "stream", forged, parent=other)
        send = kernel.iopub_thread.send_multipart
        for parts in (
            [b"garbage"], [b""], [b"<IDS|MSG>"],
            [b"<IDS|MSG>", b"0" * 64, b"{", b"{}", b"{}", b"{}"],
        ):
            send(parts)
        parent = kernel.get_parent()
        for content in (b"[" * 100_000, b"\\xff", b"null", b'{"name": 3, "text": []}'):
            signed = kernel.session.serialize(kernel.session.msg("stream", parent=parent))
            body = [signed[2], signed[3], signed[4], content]
            send([b"<IDS|MSG>", kernel.session.sign(body), *body])
        signed = kernel.session.serialize(kernel.session.msg("stream", parent=parent))
        body = [signed[2], signed[3], signed[4], b'{"name": "stdout", "text": "\\\\ud800 heard"}']
        send([b"<IDS|MSG>", kernel.session.sign(body), *body])
    """
    async with await open_kernel() as session:
        result = await session.execute(textwrap.dedent(code))
        after = await session.execute("1")
    assert result.ok, result.error
    assert "forged" not in result.stdout.text
    assert result.stdout.text == "\\ud800 heard"
    assert result.model_dump_json()
    assert after.outputs[0].text == "1"


async def test_output_of_a_thread_goes_to_the_cell_that_runs() -> None:
    code = """
        import threading, time
        def late():
            time.sleep(0.3)
            print("late", flush=True)
        threading.Thread(target=late).start()
    """
    async with await open_kernel() as session:
        await session.execute(textwrap.dedent(code))
        following = await session.execute("import time\ntime.sleep(0.6)")
    assert following.ok
    assert following.stdout.text == "late\n"


async def test_a_kernel_that_closes_its_sockets_does_not_hang_its_caller() -> None:
    code = "import os, time\nos.closerange(3, 200)\nwhile True: time.sleep(1)"
    async with await open_kernel() as session:
        result = await asyncio.wait_for(session.execute(code, timeout_s=2), 20)
        assert not result.alive
        await session.restart()
        assert (await session.execute("1")).ok


async def test_a_flood_between_cells_is_not_read_for_ever() -> None:
    code = """
        import threading, time
        def flood():
            until = time.monotonic() + 3
            while time.monotonic() < until:
                print("y" * 100_000)
                time.sleep(0.005)
        threading.Thread(target=flood, daemon=True).start()
    """
    async with await open_kernel(limits={"log_mb": 1}) as session:
        await session.execute(textwrap.dedent(code))
        await asyncio.sleep(1)
        before = os.times()
        await asyncio.sleep(1)
        used = os.times().user - before.user
        assert used < 0.3
        await asyncio.sleep(1.5)
        await session.execute("1")  # what had been written meanwhile may cost it its output
        await session.execute("1")
        assert (await session.execute("1", timeout_s=5)).alive


async def test_the_folder_of_the_sockets_is_small_and_no_door() -> None:
    code = """
        import os
        os.chdir("/run/basanite/kernel")
        try:
            with open("filler", "wb") as file:
                file.write(bytes(200_000))
        except OSError as error:
            print(error.strerror)
        for name in os.listdir("."):
            os.unlink(name)
            os.symlink("/run/docker.sock", name)
    """
    async with await open_kernel() as session:
        result = await session.execute(textwrap.dedent(code))
        after = await session.execute("1")
        await session.restart()
        fresh = await session.execute("1")
    assert result.stdout.text == "No space left on device\n"
    assert after.ok
    assert fresh.ok


async def test_the_work_folder_does_not_decide_how_a_kernel_starts() -> None:
    code = """
        import os, pathlib
        mark = "open('/tmp/planted', 'w').close()"
        names = ["ipykernel.py", "traitlets.py", "sitecustomize.py", "usercustomize.py", "json.py"]
        names += [f".ipython/profile_default/{n}.py" for n in ("startup/0", "ipython_config")]
        for name in names:
            path = pathlib.Path("/work", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(mark)
        pathlib.Path("/work/mine.py").write_text("value = 3")
    """
    async with await open_kernel() as session:
        assert (await session.execute(textwrap.dedent(code))).ok
        await session.restart()
        result = await session.execute(
            "import os, mine\n(os.path.exists('/tmp/planted'), mine.value)"
        )
    assert result.outputs[0].text == "(False, 3)"


async def test_nothing_changes_while_files_are_collected() -> None:
    # Two files that a thread writes one after the other: a copy in between would differ by more.
    code = """
        import threading
        def write():
            number = 0
            while True:
                number += 1
                for name in ("a", "b"):
                    with open(name, "r+") as file:
                        file.write(f"{number:010d}")
        for name in ("a", "b"):
            open(name, "w").write("0" * 10)
        threading.Thread(target=write, daemon=True).start()
    """
    async with await open_kernel() as session:
        await session.execute(textwrap.dedent(code))
        for _ in range(5):
            found = await session.collect()
            first, second = (int(a.file.read_text()) for a in found.artifacts if a.file is not None)
            assert first - second in {0, 1}
        alive = await session.execute("1")
    assert alive.ok


async def test_processes_that_wake_each_other_do_not_stop_a_collection() -> None:
    code = """
        import os, signal, time
        open("kept.txt", "w").write("kept")
        until = time.monotonic() + 15
        pids = []
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                others = []
                while time.monotonic() < until:
                    for name in os.listdir("/proc"):
                        if name.isdigit() and int(name) > 2 and int(name) != os.getpid():
                            try:
                                os.kill(int(name), signal.SIGCONT)
                            except OSError:
                                pass
                os._exit(0)
            pids.append(pid)
    """
    async with await open_kernel() as session:
        await session.execute(textwrap.dedent(code))
        found = await session.collect()
        assert [artifact.path for artifact in found.artifacts] == ["kept.txt"]
