"""Attacks that use up memory, in each kind that the kernel has.

The limit is 100 MB, and each attack takes at most some 300 MB for some seconds. It counts what it
held at one time; where something watches instead of the kernel it may hold more for a moment,
but then it is killed.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._result import Status
from ._check import Check, Evidence, Verifier

_ONE = """
_say("held", "began")
parts = []
for part in range(30):
    parts.append(touch(10 << 20))
    fact("mb", 10 * (part + 1))
idle(2)
escaped("300 MB in one process")
"""

_CHILDREN = """
_say("held", "began")
for _ in range(8):
    if os.fork() == 0:
        data = touch(36 << 20)
        time.sleep(3)
        os._exit(0)
idle(2)
escaped("8 times 36 MB at a time")
"""

_SHARED = """
import mmap
_say("held", "began")
def shared(size):
    area = mmap.mmap(-1, size, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for at in range(0, size, 4096):
        area[at] = 1
    return area
kept = []
for _ in range(8):
    if os.fork() == 0:
        kept.append(shared(36 << 20))
        time.sleep(3)
        os._exit(0)
idle(2)
escaped("8 times 36 MB of shared memory at a time")
"""

_UNMAPPED = """
# Pages of a shared mapping stay in memory although no process has them mapped any more: what
# looks at the processes alone does not see them.
import mmap
_say("held", "began")
kept = []
for _ in range(30):
    area = mmap.mmap(-1, 10 << 20, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for at in range(0, 10 << 20, 4096):
        area[at] = 1
    area.madvise(mmap.MADV_DONTNEED)
    kept.append(area)
alive = sum(area[0] for area in kept)
idle(2)
escaped("%d MB that no process shows" % (10 * alive))
"""

_MEMFD = """
_say("held", "began")
kept = []
try:
    for _ in range(30):
        descriptor = os.memfd_create("x")
        os.write(descriptor, b"x" * (10 << 20))
        kept.append(descriptor)
except OSError as error:
    held("memfd: " + _error(error))
    os._exit(0)
idle(2)
escaped("300 MB in files without a name")
"""

_SYSV = """
_say("held", "began")
ids = []
_libc.shmat.restype = ctypes.c_void_p
try:
    for _ in range(30):
        ctypes.set_errno(0)
        made = _libc.shmget(0, 10 << 20, 0o1600)
        if made < 0:
            raise OSError(ctypes.get_errno(), "refused")
        ids.append(made)
        at = _libc.shmat(made, None, 0)
        if at in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), "refused")
        ctypes.memset(at, 1, 10 << 20)
        _libc.shmdt(ctypes.c_void_p(at))
except OSError as error:
    held("shmget: " + _error(error))
    for made in ids:
        _libc.shmctl(made, 0, None)
    os._exit(0)
idle(2)
for made in ids:
    _libc.shmctl(made, 0, None)
escaped("300 MB of System V memory")
"""

_PLACES = """
# /tmp, /dev/shm and /work are memory: with what a process has, together within the limit.
_say("held", "began")
written = 0
for name in ("/tmp/a", "/dev/shm/b", "/work/c"):
    try:
        with open(name, "wb", buffering=0) as file:
            for _ in range(60):
                written += file.write(b"x" * (1 << 20))
    except OSError:
        pass
fact("files", written >> 20)
parts = [touch(10 << 20) for _ in range(7)]
idle(1.5)
escaped("%d MB of files and 70 MB of memory" % (written >> 20)) if written >> 20 > 40 else None
"""

_SOCKETS = """
_say("held", "began")
kept, held_bytes = [], 0
block = b"x" * 65536
end = time.monotonic() + 6
try:
    while held_bytes < 300 << 20 and time.monotonic() < end:
        if len(kept) > 200:
            # Descriptors are counted for each process: go on in a child that keeps these.
            if os.fork() != 0:
                time.sleep(6)
                os._exit(0)
            for pair in kept:
                pair[0].close(), pair[1].close()
            kept = []
        pair = socket.socketpair()
        for one in pair:
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
            try:
                while True:
                    held_bytes += one.send(block)
            except BlockingIOError:
                pass
        kept.append(pair)
except OSError as error:
    held("after %d MB: %s" % (held_bytes >> 20, _error(error)))
idle(2)
escaped("%d MB in sockets" % (held_bytes >> 20)) if held_bytes > 160 << 20 else None
"""

_PIPES = """
import fcntl
_say("held", "began")
kept, size = [], 0
try:
    for _ in range(110):
        reader, writer = os.pipe()
        try:
            fcntl.fcntl(writer, 1031, 1 << 20)
        except OSError:
            pass
        os.set_blocking(writer, False)
        try:
            while True:
                size += os.write(writer, b"x" * 65536)
        except BlockingIOError:
            pass
        kept.append((reader, writer))
except OSError as error:
    held("after %d MB: %s" % (size >> 20, _error(error)))
fact("mb", size >> 20)
"""


def _stopped(seen: Evidence) -> Iterator[str]:
    """Either the kernel refused memory to the process or the whole was killed, and is named so."""
    status = seen.result.status
    if status is Status.OUT_OF_MEMORY:
        if "memory" not in seen.result.limits_hit:
            yield "the limit memory is not named in the result"
    elif status is not Status.EXITED:
        yield f"it ended as {status.value}"


def _within_limit(megabytes: int) -> Verifier:
    def verify(seen: Evidence) -> Iterator[str]:
        yield from _stopped(seen)
        entry = seen.enforced.get("memory")
        peak = seen.result.usage.peak_memory_bytes
        strict = entry is not None and entry.strength.value == "strict"
        # The counter's batches of pages may pass it for a moment before they are taken back.
        if strict and peak is not None and peak > (megabytes + 1) << 20:
            yield f"a strict limit was exceeded: {peak >> 20} MB"

    return verify


_LIMITS = {"memory_mb": 100, "tmp_mb": 50, "disk_mb": 50, "wall_s": 10}


def _check(name: str, shows: str, attack: str, *, strict: bool = False) -> Check:
    return Check(
        name, shows, attack, ("memory",), _within_limit(100), limits=_LIMITS, strict=strict
    )


CHECKS = (
    _check("memory_of_one_process", "A process has the memory that was allowed.", _ONE),
    _check("memory_of_many_processes", "Processes have it together.", _CHILDREN),
    _check("shared_memory", "Memory shared between processes counts.", _SHARED),
    _check(
        "unmapped_memory",
        "Shared memory that no process has mapped at the moment counts.",
        _UNMAPPED,
        strict=True,
    ),
    _check("memory_files", "Files without a name in memory count.", _MEMFD),
    _check("system_v_memory", "System V shared memory counts.", _SYSV),
    _check(
        "files_in_memory", "What lies in /tmp, /dev/shm and /work counts.", _PLACES, strict=True
    ),
    _check("socket_buffers", "What waits in sockets counts.", _SOCKETS, strict=True),
    _check("pipe_buffers", "What waits in pipes is bounded.", _PIPES),
)

__all__ = ["CHECKS"]
