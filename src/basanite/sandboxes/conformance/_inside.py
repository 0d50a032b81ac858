"""What an attack finds inside: the text that is put before its source.

An attack says what it tried. `held` was refused, `escaped` was not, `absent` can't be tried on
this kernel; each is one line of output, written at once, so that it is known although the
attack is killed afterwards. An attack that tried nothing has shown nothing and does not count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

MARK = "@basanite-conformance "

_PRELUDE = '''
import ctypes, errno, json, os, signal, socket, stat, struct, sys, threading, time
bait = json.loads({bait!r})
_MARK = {mark!r}
_libc = ctypes.CDLL(None, use_errno=True)
_X86 = os.uname().machine == "x86_64"
BAD = ctypes.c_void_p(1)

def _say(kind, what, **more):
    os.write(1, (_MARK + json.dumps({{"kind": kind, "what": what, **more}}) + "\\n").encode())

def held(what): _say("held", what)
def escaped(what): _say("escaped", what)
def absent(what): _say("absent", what)
def fact(name, value): _say("fact", name, value=value)

def _error(error):
    return errno.errorcode.get(error.errno, str(error)) if error.errno else str(error)

def refused(what, action, *arguments):
    """Try something that must fail."""
    try:
        value = action(*arguments)
    except (OSError, MemoryError) as error:
        held(what + ": " + (_error(error) if isinstance(error, OSError) else "no memory"))
        return None
    escaped(what)
    return value

def shut(path, flags=os.O_WRONLY):
    """Open a file that must not be opened so, and close it without a byte written."""
    def attempt():
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
    refused("open " + path, attempt)

def look(path, limit=65536):
    """Read what can be read; the host looks for its secrets in it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        held("read " + path + ": " + _error(error))
        return None
    try:
        data = os.read(descriptor, limit)
    except OSError as error:
        held("read " + path + ": " + _error(error))
        return None
    finally:
        os.close(descriptor)
    _say("loot", path, value=data.decode("latin-1"))
    return data

def syscall(number, *arguments):
    """Call the kernel by number, where the C library has no name for it."""
    ctypes.set_errno(0)
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    _libc.syscall.restype = ctypes.c_long
    result = _libc.syscall(ctypes.c_long(number), *values)
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result

_NO = (errno.EPERM, errno.EACCES, errno.ENOSYS)

def unreachable(what, number, *arguments):
    """Call the kernel with arguments that can do no harm; it must refuse before it reads them."""
    def child():
        try:
            syscall(number, *arguments)
        except OSError as error:
            return 0 if error.errno in _NO else error.errno or 253
        return 254
    code, sent = in_child(child)
    if sent is not None:
        held(what + ": killed by signal " + str(sent))
    elif code == 0:
        held(what)
    elif code == 255:
        raise RuntimeError(what + " could not be tried")
    else:
        escaped(what + ": " + ("done" if code == 254 else errno.errorcode.get(code, str(code))))

def in_child(action, seconds=5):
    """Run something in a child of its own: its exit code, or the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            signal.alarm(seconds)
            code = action() or 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None

def number(x86, other):
    return x86 if _X86 else other

def touch(size):
    """Get memory and write to each page of it."""
    data = bytearray(size)
    data[::4096] = b"x" * len(range(0, size, 4096))
    return data

def idle(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.05)
'''


def source(attack: str, bait: Mapping[str, object]) -> str:
    """Give the whole source of an attack.

    Args:
        attack: its own source.
        bait: what it is told about the host's bait: addresses, process ids, paths.
    """
    return _PRELUDE.format(bait=json.dumps(bait), mark=MARK) + attack


__all__ = ["MARK", "source"]
