"""Executions under bubblewrap: how they end, what they see, what the next one finds."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from basanite.errors import PolicyError, SandboxLost
from basanite.sandboxes import (
    Chunk,
    Event,
    Finished,
    SandboxSpec,
    Started,
    Status,
    open_sandbox,
    run_sandboxed,
)
from support.sandboxing import opened, ran, small

pytestmark = pytest.mark.usefixtures("needs_bubblewrap")


@pytest.mark.parametrize(
    ("command", "exit_code", "signal"),
    [
        (["true"], 0, None),
        (["sh", "-c", "exit 3"], 3, None),
        (["no-such-command"], 127, None),
        (["/work"], 126, None),
        (["sh", "-c", "kill -9 $$"], 137, 9),
        (["sh", "-c", "kill -15 $$"], 143, 15),
        (["sh", "-c", "exit 200"], 200, None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
async def test_how_a_command_ends(command: list[str], exit_code: int, signal: int | None) -> None:
    async with opened() as sandbox:
        result = await sandbox.execute(command)
    assert (result.status, result.exit_code, result.signal) == (Status.EXITED, exit_code, signal)
    assert result.ok == (exit_code == 0)
    assert result.limits_hit == ()


async def test_the_specification_says_what_is_run() -> None:
    result = await run_sandboxed(small(code="print(6 * 7)"))
    assert (result.stdout.text, result.ok) == ("42\n", True)
    result = await run_sandboxed(small(command=["echo", "a b", "$HOME", "ä"]))
    assert result.stdout.text == "a b $HOME ä\n"
    # The files are gone with the sandbox, and so are the paths.
    assert result.stdout.log is None


async def test_an_exception_of_the_code_is_a_result() -> None:
    result = await ran("def f():\n    return 1 / 0\nf()")
    assert (result.status, result.exit_code) == (Status.EXITED, 1)
    assert 'code.py", line 2, in f' in result.stderr.text
    assert "ZeroDivisionError" in result.stderr.text


async def test_many_executions_share_the_work_folder_and_nothing_else() -> None:
    async with opened() as sandbox:
        for number in range(5):
            result = await sandbox.execute(
                code=f"import os, glob\n"
                f"print(sorted(glob.glob('*')), os.listdir('/tmp'), os.listdir('/dev/shm'))\n"
                f"for name in ('f{number}', '/tmp/t', '/dev/shm/s'): open(name, 'w').close()"
            )
            assert result.stdout.text == f"{[f'f{n}' for n in range(number)]} [] []\n"
            assert [a.path for a in result.artifacts] == [f"f{n}" for n in range(number + 1)]


async def test_executions_side_by_side_do_not_see_each_other() -> None:
    async with opened() as sandbox:
        look = (
            "import os, time; time.sleep(0.3)\n"
            "print([p for p in os.listdir('/proc') if p.isdigit()])"
        )
        results = await asyncio.gather(*(sandbox.execute(code=look) for _ in range(3)))
    for result in results:
        assert len(json.loads(result.stdout.text.replace("'", '"'))) == 2  # the first, and itself


async def test_what_it_sees_of_itself() -> None:
    code = (
        "import json, os, socket, sys\n"
        "print(json.dumps([os.getuid(), os.getgid(), os.getgroups(), os.getcwd(), "
        "socket.gethostname(), dict(os.environ), os.listdir('/'), sys.argv, os.umask(0)]))"
    )
    result = await ran(code, environment={"GIVEN": "ä", "LANG": "C"})
    uid, gid, groups, folder, host, variables, root, arguments, mask = json.loads(
        result.stdout.text
    )
    assert (uid, gid, folder, host) == (1000, 1000, "/work", "sandbox")
    assert set(groups) <= {1000, 65534}
    assert arguments == ["/run/basanite/code.py"]
    assert variables.pop("GIVEN") == "ä"
    assert variables.pop("LANG") == "C"
    assert variables == {
        "HOME": "/work",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PWD": "/work",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": "/work",
        "TMPDIR": "/tmp",
        "USER": "agent",
        **({"LC_CTYPE": "C.UTF-8"} if "LC_CTYPE" in variables else {}),
    }
    assert set(root) <= {
        *("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "tmp"),
        *("usr", "work"),
    }
    assert mask == 0o022


async def test_stdin() -> None:
    async with opened() as sandbox:
        read = "import sys; data = sys.stdin.buffer.read(); print(len(data), data[:4])"
        assert (await sandbox.execute(code=read)).stdout.text == "0 b''\n"
        given = b"\0\xff\n\r" * 100_000
        result = await sandbox.execute(code=read, stdin=given)
        assert result.stdout.text == f"400000 {given[:4]!r}\n"
        assert (await sandbox.execute(["cat"], stdin=b"all")).stdout.text == "all"
        write = (
            "import os\n"
            "for descriptor in (0, os.open('/proc/self/fd/0', os.O_RDWR)):\n"
            "    try: os.write(descriptor, b'x')\n"
            "    except OSError as error: print(error.errno)"
        )
        assert (await sandbox.execute(code=write, stdin=b"a")).stdout.text == "9\n1\n"


async def test_an_isolated_interpreter_heeds_nothing_of_the_work_folder() -> None:
    async with opened(environment={"PYTHONSTARTUP": "/work/x.py"}) as sandbox:
        await sandbox.upload("colours.py", b"NAME = 'red'\n")
        code = "import colours; print(colours.NAME)"
        assert (await sandbox.execute(code=code)).stdout.text == "red\n"
        result = await sandbox.execute(code=code, isolated=True)
        assert "ModuleNotFoundError" in result.stderr.text


async def test_mounts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    one = tmp_path / "one.txt"
    one.write_text("one", "utf-8")
    (data / "deep" / "x.csv").write_text("1,2\n", "utf-8")
    for path in (one, data, data / "deep", data / "deep" / "x.csv"):
        path.chmod(0o777)
    mounts = [
        {"source": data, "target": "/inputs"},
        {"source": one, "target": "/data/sub/one.txt", "kind": "cache"},
    ]
    code = (
        "print(open('/inputs/deep/x.csv').read(), open('/data/sub/one.txt').read())\n"
        "for path in ('/inputs/deep/x.csv', '/inputs/new', '/data/sub/one.txt', '/data/new'):\n"
        "    try: open(path, 'a')\n"
        "    except OSError as error: print(error.errno)"
    )
    result = await ran(code, mounts=mounts)
    assert result.stdout.text == "1,2\n one\n30\n30\n30\n30\n"


async def test_a_mount_that_is_not_there_is_named(tmp_path: Path) -> None:
    spec = small(mounts=[{"source": tmp_path / "gone", "target": "/inputs"}])
    with pytest.raises(PolicyError, match=r"gone: the source of a mount does not exist.*Check"):
        await open_sandbox(spec)


@pytest.mark.parametrize("workdir", ["memory", "disk"])
async def test_the_work_folder_is_in_memory_or_on_disk(workdir: str) -> None:
    async with opened(workdir=workdir) as sandbox:
        code = "print([l.split()[2] for l in open('/proc/self/mounts') if l.split()[1] == '/work'])"
        result = await sandbox.execute(code=f"{code}\nopen('kept.bin', 'wb').write(b'x' * 5000)")
        assert ("tmpfs" in result.stdout.text) == (workdir == "memory")
        assert result.artifact("kept.bin").size == 5000
        await sandbox.upload("a/b/c.txt", b"up")
        again = await sandbox.execute(["sh", "-c", "cat a/b/c.txt; wc -c <kept.bin"])
        assert again.stdout.text == "up5000\n"


async def test_events_come_as_they_happen() -> None:
    async with opened() as sandbox:
        seen: list[tuple[float, Event]] = []
        async for event in sandbox.stream(["sh", "-c", "echo a; sleep 0.4; echo b >&2"]):
            seen.append((time.monotonic(), event))
    kinds = [event.kind for _, event in seen]
    assert kinds == ["started", "chunk", "chunk", "finished"]
    first, second = (event for _, event in seen if isinstance(event, Chunk))
    assert (first.stream, first.data, second.stream, second.data) == (
        *("stdout", b"a\n"),
        *("stderr", b"b\n"),
    )
    assert seen[2][0] - seen[1][0] > 0.3
    last = seen[-1][1]
    assert isinstance(seen[0][1], Started)
    assert isinstance(last, Finished)
    assert last.result.ok


async def test_leaving_a_stream_ends_the_execution() -> None:
    async with opened() as sandbox:
        began = time.monotonic()
        stream = sandbox.stream(["sh", "-c", "echo a; sleep 60"])
        async for event in stream:
            if isinstance(event, Chunk):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        assert time.monotonic() - began < 5
        assert (await sandbox.execute(["true"])).ok


async def test_a_task_that_is_cancelled_takes_its_execution_along() -> None:
    async with opened() as sandbox:
        work = asyncio.ensure_future(sandbox.execute(["sleep", "60"]))
        await asyncio.sleep(0.2)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert (await sandbox.execute(["true"])).ok


async def test_cancelling_at_any_moment_leaves_nothing() -> None:
    async with opened() as sandbox:
        for step in range(24):
            work = asyncio.ensure_future(sandbox.execute(["sleep", "60"]))
            await asyncio.sleep(step * 0.0015)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        assert (await sandbox.execute(["true"])).ok


async def test_cancelling_while_it_opens_leaves_nothing() -> None:
    for step in range(12):
        work = asyncio.ensure_future(open_sandbox(small(), backend="bubblewrap"))
        await asyncio.sleep(step * 0.001)
        work.cancel()
        try:
            await (await work).close()
        except asyncio.CancelledError:
            continue


async def test_closing_ends_what_runs_and_gives_its_result() -> None:
    sandbox = await open_sandbox(small(), backend="bubblewrap")
    work = asyncio.ensure_future(sandbox.execute(["sh", "-c", "echo begun; sleep 60"]))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    await sandbox.close()
    assert time.monotonic() - began < 3
    result = await work
    assert (result.status, result.exit_code) == (Status.CANCELLED, None)
    assert result.stdout.text == "begun\n"
    await sandbox.close()  # a second time is as good as once
    with pytest.raises(PolicyError, match="the sandbox is closed"):
        await sandbox.execute(["true"])


async def test_closing_while_something_starts() -> None:
    for step in range(10):
        sandbox = await open_sandbox(small(), backend="bubblewrap")
        work = asyncio.ensure_future(sandbox.execute(["sleep", "60"]))
        await asyncio.sleep(step * 0.002)
        await sandbox.close()
        try:
            assert (await work).status is Status.CANCELLED
        except (PolicyError, SandboxLost) as error:
            assert "closed" in str(error)


async def test_a_stop_ends_all_and_keeps_their_files() -> None:
    async with opened() as sandbox:
        work = [
            asyncio.ensure_future(sandbox.execute(["sh", "-c", f"echo {n} >f{n}; sleep 60"]))
            for n in range(2)
        ]
        await asyncio.sleep(0.3)
        sandbox.stop()
        results = await asyncio.gather(*work)
        assert [result.status for result in results] == [Status.CANCELLED] * 2
        assert {a.path for a in results[1].artifacts} == {"f0", "f1"}


async def test_a_dead_holder_is_a_lost_sandbox() -> None:
    async with opened() as sandbox:
        assert sandbox._holder is not None
        os.kill(sandbox._holder.pid, 9)
        await asyncio.sleep(0.1)
        with pytest.raises(SandboxLost, match="namespace is gone"):
            await sandbox.execute(["true"])


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_no_descriptor_is_lost() -> None:
    async with opened() as sandbox:
        await sandbox.execute(["true"])
        before = _descriptors()
        for _ in range(4):
            await sandbox.execute(code="print(1)", stdin=b"x")
            await sandbox.upload("x", b"x")
        assert _descriptors() == before


async def test_the_parent_environment_reaches_no_process_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_A_TEST", "token-1234")
    code = (
        "import os\nfor p in os.listdir('/proc'):\n"
        "  if p.isdigit(): print(open(f'/proc/{p}/environ').read())"
    )
    result = await ran(code)
    assert "USER=agent" in result.stdout.text
    assert "token-1234" not in result.stdout.text


async def test_one_loop_after_another() -> None:
    """Nothing is kept that belongs to a loop: the command line runs one for each call."""

    def once() -> bool:
        return asyncio.run(run_sandboxed(SandboxSpec(command=("true",)))).ok

    assert await asyncio.to_thread(once)
    assert await asyncio.to_thread(once)


async def test_what_can_not_be_passed_on_is_refused() -> None:
    async with await open_sandbox(SandboxSpec()) as sandbox:
        for command, said in (
            ("echo hi", "a list of texts, not one text"),
            (["echo", "x" * 131_072], "the longest 131072"),
            (["echo", *["x" * 100_000] * 11], "more than the system passes on"),
        ):
            with pytest.raises(PolicyError, match=said):
                await sandbox.execute(command)
        with pytest.raises(PolicyError, match=r"limits\.wall_s"):
            await sandbox.execute(["true"], wall_s=0)
        for path, data in (("a\0b", b""), ("text.txt", "text")):
            with pytest.raises(PolicyError):
                await sandbox.upload(path, data)  # type: ignore[arg-type]
        most = await sandbox.execute(["/bin/echo", "x" * 131_000])
        assert most.stdout.total_bytes == 131_001


async def test_half_a_character_in_code_is_the_codes_fault() -> None:
    async with await open_sandbox(SandboxSpec()) as sandbox:
        result = await sandbox.execute(code="print('\udc80')")
    assert result.exit_code == 1
    assert "SyntaxError" in result.stderr.text
