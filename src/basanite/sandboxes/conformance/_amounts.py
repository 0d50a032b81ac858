"""Attacks that use up processes, files, output and time.

Each is bounded by itself, so that it does no harm where nothing holds it: at most some 300
processes and some 100 MB, for some seconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._result import Status
from ._check import Check, Evidence, both, ended, hit, made_up, within

_FORK_BOMB = """
_say("held", "began")
made, refusals = 0, 0
end = time.monotonic() + 4
while made < 300 and refusals < 20 and time.monotonic() < end:
    try:
        pid = os.fork()
    except OSError:
        refusals += 1
        continue
    if pid == 0:
        time.sleep(4)
        os._exit(0)
    made += 1
fact("made", made)
escaped("%d processes" % made) if made > 64 else held("a fork after %d" % made)
"""

_THREAD_BOMB = """
made = 0
def rest():
    time.sleep(3)
threading.stack_size(64 * 1024)
try:
    for _ in range(300):
        threading.Thread(target=rest, daemon=True).start()
        made += 1
except RuntimeError:
    held("a thread after %d" % made)
if made > 64:
    escaped("%d threads" % made)
os._exit(0)
"""

_ZOMBIES = """
made = 0
end = time.monotonic() + 4
while made < 300 and time.monotonic() < end:
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        os._exit(0)
    made += 1
escaped("%d zombies" % made) if made > 64 else held("zombies: %d" % made)
"""

_FILL_WORK = """
block, written = b"x" * (1 << 20), 0
try:
    with open("/work/big", "wb", buffering=0) as file:
        for _ in range(64):
            written += file.write(block)
except OSError as error:
    held("after %d MB: %s" % (written >> 20, _error(error)))
try:
    for part in range(64):
        with open("/work/part%d" % part, "wb", buffering=0) as file:
            written += file.write(block)
except OSError as error:
    held("in parts, after %d MB: %s" % (written >> 20, _error(error)))
if written > 17 << 20:
    escaped("%d MB in the work folder" % (written >> 20))
"""

_FILL_DISK = """
# On disk something watches: it may be late, but it comes.
_say("held", "began")
block = b"x" * (1 << 20)
for part in range(100):
    with open("/work/part%d" % part, "wb", buffering=0) as file:
        file.write(block)
    time.sleep(0.03)
idle(5)
escaped("100 MB on disk, and nobody came")
"""

_MANY_ON_DISK = """
_say("held", "began")
for entry in range(3000):
    open("/work/f%d" % entry, "w").close()
idle(5)
escaped("3000 files on disk, and nobody came")
"""

_FILL_ELSEWHERE = """
seen, large = set(), {}
roots = [line.split()[4] for line in open("/proc/self/mountinfo")]
roots += ["/", "/tmp", "/dev/shm", "/run"]
for root in roots:
    if root in seen or not os.path.isdir(root) or root == "/work" or not os.access(root, os.W_OK):
        continue
    seen.add(root)
    size = os.statvfs(root)
    total = size.f_blocks * size.f_frsize
    if total > 16 << 20:
        large[root] = total >> 20
        continue
    written = 0
    try:
        with open(root + "/fill", "wb", buffering=0) as file:
            for _ in range(40):
                written += file.write(b"x" * (1 << 20))
    except OSError as error:
        held("%s after %d MB: %s" % (root, written >> 20, _error(error)))
    if written > total:
        escaped(root + " outgrew its size")
    if os.path.exists(root + "/fill"):
        os.unlink(root + "/fill")
fact("large", large)
held("places that can be written: " + ", ".join(sorted(seen)))
"""

_INODES = """
made = 0
try:
    for made in range(3000):
        os.mkdir("/work/d%d" % made)
except OSError as error:
    held("after %d folders: %s" % (made, _error(error)))
else:
    escaped("3000 folders")
if made > 501:
    escaped("%d folders" % made)
"""

_DEEP = """
depth = 0
try:
    for depth in range(20000):
        os.mkdir("d")
        os.chdir("d")
except OSError as error:
    held("at depth %d: %s" % (depth, _error(error)))
open("deep.txt", "w").close() if depth < 490 else None
if depth > 501:
    escaped("a tree of %d folders" % depth)
"""

_DEEP_ON_DISK = """
held("began")
try:
    for depth in range(1500):
        os.mkdir("d")
        os.chdir("d")
except OSError as error:
    held("at depth %d: %s" % (depth, _error(error)))
"""

_SPARSE = """
def sparse():
    with open("/work/sparse", "wb") as file:
        file.truncate(1 << 40)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
refused("a sparse file of 1 TiB", sparse)
def sought():
    with open("/work/sparse2", "wb") as file:
        file.seek(1 << 40)
        file.write(b"x")
refused("a byte at 1 TiB", sought)
def allocated():
    descriptor = os.open("/work/sparse3", os.O_CREAT | os.O_WRONLY)
    os.posix_fallocate(descriptor, 0, 64 << 20)
refused("allocate 64 MB", allocated)
"""

_FLOOD = """
stream = %d
block = b"y" * 65536
end = time.monotonic() + 3
written = 0
# More than the log may hold, at most some 200 MB.
while written < 200 << 20 and time.monotonic() < end:
    written += os.write(stream, block)
"""

_SLOW_FLOOD = """
_say("held", "began")
while True:
    os.write(1, b"line\\n" * 100)
    os.write(2, b"line\\n" * 100)
    time.sleep(0.001)
"""

_ODD_BYTES = """
os.write(1, b"\\x1b[2J\\x1b]0;title\\x07\\xff\\xfe\\x80 \\xed\\xa0\\x80 \\xe2\\x80\\xae\\0 end\\n")
os.write(2, bytes(range(256)) + b"\\n")
held("bytes of all kinds")
"""

_RLIMITS = """
import resource
for name in ("CORE", "FSIZE", "NOFILE", "MEMLOCK"):
    what = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(what)
    if hard == resource.RLIM_INFINITY:
        escaped(name + " has no limit")
        continue
    def raised():
        try:
            resource.setrlimit(what, (hard + 1, hard + 1))
        except ValueError:
            raise OSError(errno.EPERM, "refused")
    refused("raise " + name, raised)
if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
    escaped("core files can be written")
refused("a better priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
refused("a real-time schedule", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
_libc.mlockall.restype = ctypes.c_int
def locked():
    if _libc.mlockall(3) != 0:
        raise OSError(ctypes.get_errno(), "refused")
refused("lock all memory", locked)
code, sent = in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV))
cores = [name for name in os.listdir("/work") if "core" in name]
escaped("a core file") if cores else held("no core file")
"""

_DESCRIPTORS = """
opened = sorted(int(name) for name in os.listdir("/proc/self/fd"))
# The listing itself holds one, and gives it back.
kept = []
for descriptor in opened:
    if descriptor > 2:
        try:
            target = os.readlink("/proc/self/fd/%d" % descriptor)
        except OSError:
            continue
        escaped("descriptor %d is %s" % (descriptor, target))
held("descriptors: %s" % opened)
try:
    while len(kept) < 5000:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    held("after %d: %s" % (len(kept), _error(error)))
if len(kept) > 256:
    escaped("%d descriptors" % len(kept))
for descriptor in kept:
    os.close(descriptor)
"""

_ARGUMENTS = """
import subprocess
for what, arguments, environment in (
    ("one argument of 1 MB", ["true", "x" * (1 << 20)], None),
    ("arguments of 8 MB", ["true", *["x" * 100_000] * 80], None),
    ("an environment of 8 MB", ["true"], {"V%d" % n: "x" * 100_000 for n in range(80)}),
):
    refused(what, lambda: subprocess.run(arguments, env=environment, check=False))
"""


def _all_on_one_stream(stream: str, status: Status) -> object:
    def verify(seen: Evidence) -> Iterator[str]:
        output = getattr(seen.result, stream)
        if seen.result.status is not status:
            yield f"it ended as {seen.result.status.value}, not {status.value}"
        if output.log_complete or "output" not in seen.result.limits_hit:
            yield "the result does not say that output is missing"
        if output.log is not None and output.log.stat().st_size > 4 << 20:
            yield "the log is larger than allowed"
        if len(output.text) > 1_100_000 or not output.truncated:
            yield "the text is not cut"

    return verify


def _odd_bytes(seen: Evidence) -> Iterator[str]:
    out, err = seen.result.stdout, seen.result.stderr
    if "\\xff\\xfe" not in out.text or err.total_bytes != 257:
        yield "bytes were lost"
    if out.log is None or b"\xff\xfe" not in out.log.read_bytes():
        yield "the log does not hold the bytes as they came"


def _flood(stream: str, number: int, ends: Status) -> Check:
    kills = ends is Status.OUTPUT_LIMIT
    return Check(
        f"flood_{stream}" + ("" if kills else "_kept_on"),
        f"More {stream} than allowed is {'the end' if kills else 'read and left out'}.",
        _FLOOD % number,
        ("output",),
        _all_on_one_stream(stream, ends),  # type: ignore[arg-type]
        limits={"on_output_limit": "kill" if kills else "truncate"},
        silent=True,
    )


def _none_large(seen: Evidence) -> Iterator[str]:
    found = seen.facts.get("large")
    for folder, size in found.items() if isinstance(found, dict) else ():
        if not made_up(seen, folder):
            yield f"{folder} can be written and holds {size} MB"


CHECKS = (
    Check("fork_bomb", "Processes are counted.", _FORK_BOMB, ("processes",), within(8)),
    Check("thread_bomb", "Threads are counted too.", _THREAD_BOMB, ("processes",), within(8)),
    Check("zombies", "Dead processes nobody waited for count.", _ZOMBIES, ("processes",)),
    Check("fill_work", "The work folder has its size.", _FILL_WORK, ("disk",), hit("disk")),
    Check(
        "fill_work_on_disk",
        "A work folder on disk that outgrows its size is the end.",
        _FILL_DISK,
        ("disk",),
        both(ended(Status.DISK_LIMIT), hit("disk")),
        spec={"workdir": "disk"},
    ),
    Check(
        "many_files_on_disk",
        "Too many files on disk are the end.",
        _MANY_ON_DISK,
        ("inodes",),
        both(ended(Status.DISK_LIMIT), hit("inodes")),
        spec={"workdir": "disk"},
    ),
    Check("fill_elsewhere", "Every other place is small or can't be written.",
          _FILL_ELSEWHERE, ("disk", "files"), _none_large),
    Check("inodes", "Files and folders are counted.", _INODES, ("inodes",), hit("inodes")),
    Check("deep_tree", "A deep tree ends at the number of folders.", _DEEP, ("inodes",)),
    Check("deep_tree_on_disk", "A deep tree on disk is collected and removed.", _DEEP_ON_DISK,
          ("inodes",), spec={"workdir": "disk"}, limits={"inodes": 5000}),
    Check("sparse_files", "A file has its largest size.", _SPARSE, ("file_size",)),
    _flood("stdout", 1, Status.OUTPUT_LIMIT),
    _flood("stderr", 2, Status.OUTPUT_LIMIT),
    _flood("stdout", 1, Status.EXITED),
    Check(
        "slow_flood",
        "Who writes and sleeps for ever is ended by the deadline.",
        _SLOW_FLOOD,
        ("wall", "output"),
        both(ended(Status.TIMEOUT), within(8)),
        limits={"wall_s": 2},
    ),
    Check("odd_bytes", "Bytes that are no text are kept and break nothing.", _ODD_BYTES,
          ("output",), _odd_bytes),
    Check("limits_of_a_process", "Limits can't be raised.", _RLIMITS, ("privileges",)),
    Check("descriptors", "No descriptor is inherited, and they are counted.", _DESCRIPTORS,
          ("files",)),
    Check("arguments", "Huge arguments and environments are refused.", _ARGUMENTS, ("memory",)),
)  # fmt: skip

__all__ = ["CHECKS"]
