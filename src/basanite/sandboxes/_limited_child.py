"""The child of `run_limited`: takes its task from stdin, limits itself, calls, answers in JSON.

Run as a script by `python -I`, so it imports nothing of basanite. The task is a pickle, from the
parent to here. What goes back is one line of JSON once the limits hold, then a second one with what
came of the call: that part is written after hostile input was read, and the parent trusts none of
it.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import errno
import faulthandler
import importlib
import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_HEADROOM = 64 * 2**20  # for telling that memory ran out
_CLONE_THREAD = 0x00010000
_PR_SET_NO_NEW_PRIVS, _PR_SET_PDEATHSIG = 38, 1
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_LANDLOCK_VERSION = 1
# Rights that change files, by the version of Landlock that knows them; and binding and
# connecting by TCP. Handled, and allowed nowhere.
_FILE_RIGHTS = {1: 0b1_1111_1111_0010, 2: 1 << 13, 3: 1 << 14}
_NET_RIGHTS, _NET_VERSION = 0b11, 4
_NET_CALLS = ("socket", "socketpair", "io_uring_setup")
_NEW_PROCESS = ("fork", "vfork", "execve", "execveat")
_OTHERS = ("tkill", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open")


def _address_space() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


def _set_limit(name: int, soft: int, hard: int | None = None) -> None:
    ceiling = resource.getrlimit(name)[1]
    wanted = (soft, soft if hard is None else hard)
    if ceiling != resource.RLIM_INFINITY:
        wanted = (min(wanted[0], ceiling), min(wanted[1], ceiling))
    resource.setrlimit(name, wanted)


def _limit(memory: int, cpu_s: int, open_files: int) -> list[str]:
    """Set the limits of this process, and give what holds from now on."""
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_FSIZE, 0)
    _set_limit(resource.RLIMIT_NOFILE, open_files)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(used.ru_utime + used.ru_stime)
    _set_limit(resource.RLIMIT_CPU, spent + cpu_s, spent + cpu_s + 1)
    top = _address_space() + memory
    _set_limit(resource.RLIMIT_AS, top, top + _HEADROOM)
    return ["memory", "cpu", "file_size", "open_files"]


def _forbid_writing() -> bool:
    """By Landlock: no file is written, made or removed, nothing listens or connects by TCP."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)
    if version < 1:
        return False
    files = sum(rights for since, rights in _FILE_RIGHTS.items() if version >= since)
    net = _NET_RIGHTS if version >= _NET_VERSION else 0
    handled = (ctypes.c_uint64 * 2)(files, net)
    size = 16 if net else 8
    ruleset = libc.syscall(_LANDLOCK_CREATE, ctypes.byref(handled), size, 0)
    if ruleset < 0:
        return False
    try:
        return bool(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _pyseccomp() -> Any:
    """Give the package, or None; it looks for its library with other programs' help."""
    try:
        return importlib.import_module("pyseccomp")
    except (ImportError, OSError, RuntimeError):
        return None


def _forbid_calls(seccomp: Any) -> bool:
    """By seccomp: no socket, no new process, no signal to others; threads may start."""
    if seccomp is None:
        return False
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    denied = seccomp.ERRNO(errno.EPERM)
    for name in (*_NET_CALLS, *_NEW_PROCESS, *_OTHERS):
        # Some processors lack some of these calls: there is nothing to deny then.
        with contextlib.suppress(OSError, ValueError):
            rules.add_rule(denied, name)
    for name in ("kill", "tgkill"):
        rules.add_rule(denied, name, seccomp.Arg(0, seccomp.NE, os.getpid()))
    # clone3 hides its flags from a filter; the C library then uses clone.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    thread = seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0)
    rules.add_rule(denied, "clone", thread)
    rules.load()
    return True


def _plain(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a {type(value).__name__} can't be given back as JSON")


def _call(function: Callable[..., object], args: tuple[object, ...]) -> bytes:
    try:
        value = function(*args)
        text = json.dumps({"value": value}, default=_plain, ensure_ascii=False)
    except MemoryError:
        return b'{"memory": true}'
    except BaseException as error:  # noqa: BLE001 - the border of a process: told to the parent
        what = {"type": type(error).__name__, "message": str(error)[:2000]}
        text = json.dumps({"raised": what}, ensure_ascii=False)
    # Half a pair of surrogates is no text that JSON can hold.
    return text.encode("utf-8", "replace")


def _answer(to: int, data: bytes) -> None:
    view = memoryview(data + b"\n")
    while view:
        view = view[os.write(to, view) :]


def main() -> None:
    to = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # what a parser prints must not be taken for an answer
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    faulthandler.enable()
    head = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = head["path"]
    try:
        module = importlib.import_module(head["module"])
        function = getattr(module, head["name"])
        args = pickle.loads(sys.stdin.buffer.read())
        seccomp = _pyseccomp()
        held = _limit(head["memory"], head["cpu_s"], head["open_files"])
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        held += ["files"] if _forbid_writing() else []
        held += ["network", "processes"] if _forbid_calls(seccomp) else []
    except Exception as error:  # noqa: BLE001 - the border of a process: told to the parent
        _answer(to, json.dumps({"unready": f"{type(error).__name__}: {error}"}).encode())
        return
    _answer(to, json.dumps({"held": held}).encode())
    data = _call(function, args)
    # With the memory used up, telling so needs some.
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    _answer(to, data)
    os._exit(0)  # no clean-up code of a parser that has seen hostile input


if __name__ == "__main__":
    main()
