"""Attacks on the less tried doors of the kernel: rare calls, clocks, terminals, IPC."""

from __future__ import annotations

from ._check import Check

_SYSCALLS = """
for name, x86, other, arguments in (
    ("ptrace", 101, 117, (16, -1, None, None)), ("keyctl", 250, 219, (0, -3, 0)),
    ("add_key", 248, 217, (BAD, BAD, None, 0, -1)), ("request_key", 249, 218, (BAD, BAD, None, -1)),
    ("bpf", 321, 280, (99, BAD, 0)), ("perf_event_open", 298, 241, (BAD, 0, -1, -1, 0)),
    ("userfaultfd", 323, 282, (0x7fff0000,)), ("io_uring_setup", 425, 425, (0, BAD)),
    ("io_uring_enter", 426, 426, (-1, 0, 0, 0, None, 0)),
    ("io_uring_register", 427, 427, (-1, 0, None, 0)),
    ("kexec_load", 246, 104, (0, 999, BAD, 0x7fff)),
    ("kexec_file_load", 320, 294, (-1, -1, 0, None, 0x7fff)),
    ("init_module", 175, 105, (BAD, 0, BAD)), ("finit_module", 313, 273, (-1, BAD, 0)),
    ("delete_module", 176, 106, (BAD, 0x800)), ("reboot", 169, 142, (0, 0, 0, None)),
    ("syslog", 103, 116, (99, None, 0)), ("personality", 135, 92, (0x0040000,)),
    ("open_by_handle_at", 304, 265, (-1, BAD, 0)),
    ("name_to_handle_at", 303, 264, (-1, BAD, BAD, BAD, 0)),
    ("fanotify_init", 300, 262, (0x7fff0000, 0)), ("fanotify_mark", 301, 263, (-1, 0, 0, -1, None)),
    ("memfd_secret", 447, 447, (0x7fff,)), ("pidfd_getfd", 438, 438, (-1, -1, 0)),
    ("process_madvise", 440, 440, (-1, BAD, 0, 0, 0)), ("kcmp", 312, 272, (-1, -1, 0, 0, 0)),
    ("move_pages", 279, 239, (-1, 0, BAD, None, None, 0)), ("lookup_dcookie", 212, 18, (0, BAD, 0)),
    ("clone3", 435, 435, (BAD, 64)),
):
    unreachable(name, number(x86, other), *arguments)
"""

_CLOCK = """
for name, x86, other, arguments in (
    ("settimeofday", 164, 170, (BAD, None)), ("clock_settime", 227, 112, (0, BAD)),
    ("adjtimex", 159, 171, (BAD,)), ("clock_adjtime", 305, 266, (0, BAD)),
    ("sethostname", 170, 161, (BAD, 5)), ("setdomainname", 171, 162, (BAD, 5)),
):
    unreachable(name, number(x86, other), *arguments)
"""

_TERMINAL = """
import fcntl, termios
refused("the controlling terminal", lambda: os.close(os.open("/dev/tty", os.O_RDWR)))
for descriptor in (0, 1, 2):
    if os.isatty(descriptor):
        escaped("descriptor %d is a terminal of the host" % descriptor)
    for name, request in (("TIOCSTI", 0x5412), ("TIOCLINUX", 0x541C), ("TIOCSCTTY", 0x540E)):
        refused(name, lambda: fcntl.ioctl(descriptor, request, b"\\0"))
try:
    leader, follower = os.openpty()
except OSError as error:
    absent("no terminal can be made: " + _error(error))
else:
    # A terminal of one's own: put a byte back into it, as an attack would into a shell's.
    def child():
        os.setsid()
        fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
        try:
            fcntl.ioctl(follower, termios.TIOCSTI, b"x")
        except OSError:
            return 0
        return 1
    code, _ = in_child(child)
    escaped("TIOCSTI into a terminal") if code == 1 else held("TIOCSTI")
"""

_OTHER_ABI = """
if not _X86:
    absent("only x86-64 has other kinds of system calls")
else:
    import mmap
    def foreign(text):
        area = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                         mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        area.write(text)
        address = ctypes.addressof(ctypes.c_char.from_buffer(area))
        return ctypes.CFUNCTYPE(ctypes.c_long)(address)()
    # getpid of the 32-bit interface by `int 0x80`, whose numbers a 64-bit filter does not know.
    code, sent = in_child(lambda: 1 if foreign(b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3") > 0 else 0)
    held("32-bit calls: signal %s" % sent) if code != 1 else escaped("32-bit calls pass the filter")
    def x32():
        try:
            return 1 if syscall(0x40000000 + 39) > 0 else 0
        except OSError:
            return 0
    code, sent = in_child(x32)
    held("x32 calls: signal %s" % sent) if code != 1 else escaped("x32 calls pass the filter")
"""

_SHARED_IPC = """
if bait["segment"]:
    refused("the host's shared memory", syscall, number(29, 194), bait["segment"], 0, 0)
else:
    absent("this kernel has no System V shared memory")
table = "/proc/sysvipc/shm"
segments = open(table).read().splitlines()[1:] if os.path.exists(table) else []
escaped("segments of others are listed") if segments else held(table + " is empty")
rt = ctypes.CDLL(None, use_errno=True)
def queue():
    rt.mq_open.restype = ctypes.c_int
    ctypes.set_errno(0)
    made = rt.mq_open(b"/basanite", os.O_CREAT | os.O_RDWR, 0o600, None)
    if made < 0:
        raise OSError(ctypes.get_errno(), "refused")
refused("a message queue, whose memory no group counts", queue)
"""

_WATCHING = """
def watched(path):
    ctypes.set_errno(0)
    descriptor = _libc.inotify_init1(0o4000)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "refused")
    if _libc.inotify_add_watch(descriptor, path.encode(), 0xfff) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return descriptor
refused("watch the secret", watched, bait["secret"])
refused("watch the host's folder", watched, bait["folder"])
instances = 0
try:
    for _ in range(400):
        descriptor = _libc.inotify_init1(0o4000)
        if descriptor < 0:
            break
        instances += 1
finally:
    fact("inotify", instances)
held("inotify instances: %d" % instances)
refused("fanotify", lambda: syscall(number(300, 262), 0, 0))
"""

CHECKS = (
    Check(
        "system_calls",
        "Calls that have been the door of exploits are refused before they are looked at.",
        _SYSCALLS,
        ("syscalls",),
        host_kernel=True,
    ),
    Check(
        "clock_and_names",
        "The machine's clock and name can't be set.",
        _CLOCK,
        ("syscalls", "privileges"),
        host_kernel=True,
    ),
    Check(
        "terminal",
        "There is no terminal of the host, and none can be fed.",
        _TERMINAL,
        ("syscalls", "devices"),
        host_kernel=True,
    ),
    Check(
        "other_call_interfaces",
        "32-bit and x32 calls don't pass by the filter.",
        _OTHER_ABI,
        ("syscalls",),
        host_kernel=True,
    ),
    Check(
        "shared_ipc",
        "Shared memory and message queues of the host are not there.",
        _SHARED_IPC,
        ("processes_seen",),
    ),
    Check("watching", "Files of the host can't be watched.", _WATCHING, ("files",)),
)

__all__ = ["CHECKS"]
