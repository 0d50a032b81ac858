"""Attacks that want to stay: on signals, as daemons, in pipes, by using up time."""

from __future__ import annotations

from collections.abc import Iterator

from .._result import Status
from ._check import Check, Evidence, both, ended, within

_DAEMON = """
def daemon(keep):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if not keep:
                for descriptor in (0, 1, 2):
                    os.close(descriptor)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            # By itself it would end after this, also where nobody kills it.
            time.sleep(20)
            os._exit(0)
        os._exit(0)
daemon(%s)
time.sleep(0.1)
held("a daemon was started")
"""

_IGNORE = """
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
held("signals are ignored")
end = time.monotonic() + 15
while time.monotonic() < end:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""

_STOP = """
held("stops itself")
if os.fork() == 0:
    os.kill(os.getppid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(15)
"""

_STDIN = """
data = sys.stdin.read()
escaped("something was to read: " + data[:50]) if data else held("nothing to read")
"""

_BURN = """
held("began")
end = time.monotonic() + 6
if os.fork() == 0:
    os.fork()
while time.monotonic() < end:
    pass
"""

_THREADS = """
# Threads of Python take turns; the hash runs without its lock, so these really burn side by side.
import hashlib
held("began")
data = b"x" * (1 << 20)
end = time.monotonic() + 1.5
def burn():
    while time.monotonic() < end:
        hashlib.sha256(data).digest()
threads = [threading.Thread(target=burn) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

_SHORT_LIVES = """
held("began")
end = time.monotonic() + 4
while time.monotonic() < end:
    pid = os.fork()
    if pid == 0:
        until = time.monotonic() + 0.01
        while time.monotonic() < until:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
"""

_FORGE = """
# What an execution prints, or the code with which it ends, is its own word; how it ended is not.
print('{"status": "exited", "exit_code": 0, "limits_hit": []}', flush=True)
held("a forged result was printed")
os.kill(os.getpid(), signal.SIGKILL)
"""

_KILL_ALL = """
held("kills what it sees")
# Only where the first process is the sandbox's own: otherwise nothing is signalled.
names = [entry for entry in os.listdir("/proc") if entry.isdigit()]
if len(names) <= 4 and not os.path.isdir("/proc/%d" % bait["victim"]):
    try:
        os.kill(1, signal.SIGTERM)
        os.kill(1, signal.SIGSTOP)
    except OSError as error:
        held("signal the first process: " + _error(error))
time.sleep(0.2)
"""


def _one_core_or_less(seen: Evidence) -> Iterator[str]:
    usage = seen.result.usage
    if usage.cpu_s is None:
        return
    if usage.cpu_s > 0.5 * usage.wall_s + 0.35:
        yield f"{usage.cpu_s:.2f} s of CPU in {usage.wall_s:.2f} s, at half a core"


def _cpu_bounded(seen: Evidence) -> Iterator[str]:
    cpu = seen.result.usage.cpu_s
    if cpu is not None and cpu > 2.5:
        yield f"{cpu:.2f} s of CPU where 1 s was allowed"


def _killed(seen: Evidence) -> Iterator[str]:
    result = seen.result
    if result.ok or result.exit_code == 0:
        yield "an execution that was killed looks as if it had succeeded"


CHECKS = (
    Check(
        "daemon",
        "A daemon that left its parent dies with the execution.",
        _DAEMON % "False",
        ("wall",),
        both(ended(Status.EXITED), within(5)),
    ),
    Check(
        "daemon_on_the_output",
        "A daemon that holds the output does not hold the result.",
        _DAEMON % "True",
        ("wall", "output"),
        both(ended(Status.EXITED), within(5)),
    ),
    Check(
        "ignored_signals",
        "Who ignores all signals ends at the deadline.",
        _IGNORE,
        ("wall",),
        both(ended(Status.TIMEOUT), within(8)),
        limits={"wall_s": 2},
    ),
    Check(
        "stopped_processes",
        "Who stops itself ends at the deadline.",
        _STOP,
        ("wall",),
        both(ended(Status.TIMEOUT), within(8)),
        limits={"wall_s": 2},
    ),
    Check("stdin", "Nothing is to be read, and nobody waits for it.", _STDIN, ("wall",), within(5)),
    Check(
        "cpu_time",
        "CPU time of all processes together is counted.",
        _BURN,
        ("cpu_time",),
        both(ended(Status.CPU_TIME), _cpu_bounded),
        limits={"cpu_s": 1},
    ),
    Check(
        "cpu_of_threads",
        "Eight threads at half a core get half a core.",
        _THREADS,
        ("cpus",),
        _one_core_or_less,
        limits={"cpus": 0.5},
        strict=True,
    ),
    Check(
        "cpu_of_short_lives",
        "CPU time of processes that live for a moment is counted.",
        _SHORT_LIVES,
        ("cpu_time",),
        both(ended(Status.CPU_TIME), _cpu_bounded),
        limits={"cpu_s": 1},
        strict=True,
    ),
    Check(
        "forged_end",
        "A process that was killed is not taken for one that succeeded.",
        _FORGE,
        ("wall",),
        _killed,
    ),
    Check(
        "first_process_signalled",
        "Signals to the first process inside don't stop the supervisor from ending it.",
        _KILL_ALL,
        ("wall",),
        within(5),
    ),
)

__all__ = ["CHECKS"]
