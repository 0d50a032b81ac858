"""Limits of an execution: which end it, which are only met, and what the result says of them."""

from __future__ import annotations

import time

import pytest

from basanite.sandboxes import ExecResult, Status
from basanite.sandboxes._cgroup_find import find_groups
from support.sandboxing import opened, ran

pytestmark = pytest.mark.usefixtures("needs_bubblewrap")

BURN = "while True: pass"
GRAB = "kept = [bytearray(b'x' * 10_000_000) for _ in range(30)]; print('lived')"
CHILDREN = (
    "import os, time\n"
    "for _ in range(6):\n"
    "    if os.fork() == 0:\n"
    "        kept = bytearray(b'x' * 40_000_000); time.sleep(5); os._exit(0)\n"
    "time.sleep(5); print('lived')"
)


@pytest.fixture(params=["with groups", "without groups"])
def held(request: pytest.FixtureRequest) -> str:
    """Run a test with the kernel's groups, where there are some, and without."""
    if request.param == "without groups":
        request.getfixturevalue("no_groups")
    elif find_groups().maker is None:
        return "without groups"
    return str(request.param)


async def _ended(code: str, **limits: object) -> ExecResult:
    """Run code and see that the next execution works."""
    async with opened(limits=limits) as sandbox:
        result = await sandbox.execute(code=f"open('partial.txt', 'w').write('abc')\n{code}")
        assert result.exit_code is None or result.status is Status.EXITED
        assert result.artifact("partial.txt").size == 3
        assert (await sandbox.execute(["true"])).ok
        return result


async def test_time(held: str) -> None:
    began = time.monotonic()
    result = await _ended("import time; time.sleep(60)", wall_s=0.5)
    assert (result.status, result.limits_hit) == (Status.TIMEOUT, ("wall",))
    assert 0.5 <= result.usage.wall_s < 10
    assert time.monotonic() - began < 20


async def test_time_of_one_execution_alone() -> None:
    async with opened() as sandbox:
        result = await sandbox.execute(["sleep", "60"], wall_s=0.3)
        assert result.status is Status.TIMEOUT
        assert (await sandbox.execute(["sleep", "0.4"])).ok


async def test_cpu_time(held: str) -> None:
    result = await _ended(BURN, cpu_s=0.5, wall_s=15)
    assert (result.status, result.limits_hit) == (Status.CPU_TIME, ("cpu_time",))
    assert result.usage.cpu_s is not None
    assert 0.5 <= result.usage.cpu_s < 1.2


async def test_memory_of_one_process(held: str) -> None:
    result = await _ended(GRAB, memory_mb=100)
    assert "lived" not in result.stdout.text
    if held == "with groups":
        assert (result.status, result.limits_hit) == (Status.OUT_OF_MEMORY, ("memory",))
        assert result.usage.peak_memory_bytes == 100 << 20
    else:
        # Python is refused the memory, and says so by itself.
        assert "MemoryError" in result.stderr.text


async def test_memory_of_all_processes(held: str) -> None:
    result = await _ended(CHILDREN, memory_mb=100)
    assert (result.status, result.limits_hit) == (Status.OUT_OF_MEMORY, ("memory",))
    assert "lived" not in result.stdout.text


async def test_pages_that_processes_share_count_once(held: str) -> None:
    code = (
        "import os, time\n"
        "kept = bytes(60_000_000)\n"
        "children = [os.fork() for _ in range(1)]\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0: time.sleep(0.4); os._exit(0)\n"
        "time.sleep(0.5); print('lived')"
    )
    result = await _ended(code, memory_mb=150)
    assert "lived" in result.stdout.text


async def test_processes_are_refused_not_killed(held: str) -> None:
    code = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    for _ in range(40):\n"
        "        if os.fork() == 0: time.sleep(1); os._exit(0)\n"
        "        made += 1\n"
        "except BlockingIOError: print(made)"
    )
    result = await _ended(code, processes=10)
    assert result.ok
    # One of the ten is the interpreter itself; the first process may count as another.
    assert int(result.stdout.text) in (8, 9)
    if held == "with groups":
        assert result.limits_hit == ("processes",)
        assert result.usage.peak_processes == 10


@pytest.mark.parametrize("workdir", ["memory", "disk"])
async def test_disk(held: str, workdir: str) -> None:
    code = (
        "import time\n"
        "try:\n"
        "    for n in range(10):\n"
        "        open(f'/work/{n}', 'wb').write(b'x' * 1_000_000); time.sleep(0.05)\n"
        "    time.sleep(5); print('lived')\n"
        "except OSError as error: print(error.errno)"
    )
    async with opened(limits={"disk_mb": 4}, workdir=workdir) as sandbox:
        result = await sandbox.execute(code=code)
    assert result.limits_hit == ("disk",)
    if workdir == "memory":
        assert (result.status, result.stdout.text) == (Status.EXITED, "28\n")
    else:
        assert (result.status, result.stdout.text) == (Status.DISK_LIMIT, "")


async def test_number_of_files() -> None:
    code = (
        "try:\n"
        "    for n in range(30): open(f'/work/{n}', 'w').close()\n"
        "except OSError as error: print(n, error.errno)"
    )
    async with opened(limits={"inodes": 20}) as sandbox:
        result = await sandbox.execute(code=code)
    assert result.stdout.text == "20 28\n"
    assert result.limits_hit == ("inodes",)


async def test_size_of_one_file() -> None:
    code = (
        "import signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "try: open('/work/x', 'wb').write(b'x' * 3_000_000)\n"
        "except OSError as error: print(error.errno)"
    )
    assert (await ran(code, limits={"file_mb": 1})).stdout.text == "27\n"


async def test_cores() -> None:
    burn = (
        "import os, threading, time, hashlib\n"
        "end = time.monotonic() + 0.6\n"
        "def burn():\n"
        "    while time.monotonic() < end: hashlib.sha256(bytes(1 << 20)).digest()\n"
        "threads = [threading.Thread(target=burn) for _ in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(len(os.sched_getaffinity(0)))"
    )
    result = await ran(burn, limits={"cpus": 0.5})
    assert result.ok
    if find_groups().maker is not None:
        assert result.usage.cpu_s is not None
        assert result.usage.cpu_s < 0.5 * result.usage.wall_s + 0.25


async def test_cores_without_groups_are_whole_and_pinned(no_groups: None) -> None:
    code = (
        "import os\n"
        "print(len(os.sched_getaffinity(0)))\n"
        "try: os.sched_setaffinity(0, range(64))\n"
        "except OSError as error: print(error.errno)"
    )
    assert (await ran(code, limits={"cpus": 0.5})).stdout.text == "1\n1\n"


async def test_what_was_used(held: str) -> None:
    code = (
        "import os, time\n"
        "kept = bytearray(b'x' * 50_000_000)\n"
        "if os.fork() == 0: time.sleep(0.3); os._exit(0)\n"
        "end = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass\n"
        "os.wait()"
    )
    usage = (await ran(code)).usage
    assert usage.cpu_s is not None
    assert usage.peak_memory_bytes is not None
    assert usage.peak_processes is not None
    assert 0.3 <= usage.cpu_s < 1
    assert 50_000_000 < usage.peak_memory_bytes < 120_000_000
    assert 2 <= usage.peak_processes <= 3


@pytest.mark.parametrize(
    ("aspect", "with_groups", "without"),
    [
        ("memory", "strict", "best_effort"),
        ("processes", "strict", "strict"),
        ("cpus", "strict", "best_effort"),
        ("cpu_time", "strict", "best_effort"),
        ("wall", "strict", "strict"),
        ("disk", "strict", "strict"),
        ("output", "strict", "strict"),
        ("kernel", "none", "none"),
    ],
)
async def test_the_result_says_how_firmly_each_limit_held(
    held: str, aspect: str, with_groups: str, without: str
) -> None:
    result = await ran("pass")
    expected = with_groups if held == "with groups" else without
    assert result.enforced[aspect].strength == expected
    if expected != "strict":
        assert result.enforced[aspect].residual


async def test_a_work_folder_on_disk_is_watched_and_says_so() -> None:
    result = await ran("pass", workdir="disk")
    for aspect in ("disk", "inodes"):
        assert result.enforced[aspect].by == "watchdog"
        assert result.enforced[aspect].strength == "best_effort"
