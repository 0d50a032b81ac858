"""The system calls that code inside may not make.

A deny-list: everything that reaches past the namespaces (tracing, keys, mounts, modules, other
address families) or has been the door of kernel exploits (io_uring, userfaultfd, bpf) answers
EPERM, or ENOSYS where programs then fall back to something harmless. `clone3` hides its flags
in memory that a filter can't read, so it answers ENOSYS and the C library uses `clone`.

Netlink stays open for NETLINK_ROUTE: libzmq, and so every Jupyter kernel, aborts without it.
Sources: the defaults of Docker's and Flatpak's filters, and measured attacks.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import IO, Protocol

from ..errors import MissingExtra, SandboxUnavailable

DENIED: tuple[str, ...] = (
    # other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "pidfd_getfd", "kcmp", "move_pages", "migrate_pages", "mbind", "set_mempolicy",
    "set_mempolicy_home_node", "perf_event_open",
    # keys, programs in the kernel, faults handled by user code
    "keyctl", "add_key", "request_key", "bpf", "userfaultfd", "lookup_dcookie",
    # file systems
    "mount", "umount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
    "fspick", "move_mount", "open_tree", "mount_setattr", "open_by_handle_at",
    "name_to_handle_at", "quotactl", "quotactl_fd", "fanotify_init", "fanotify_mark", "swapon",
    "swapoff",
    # namespaces
    "unshare", "setns",
    # the machine
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "create_module", "query_module", "get_kernel_syms", "reboot", "syslog", "acct", "settimeofday",
    "clock_settime", "clock_settime64", "clock_adjtime", "clock_adjtime64", "adjtimex", "stime",
    "sethostname", "setdomainname", "ioperm", "iopl", "vhangup", "personality", "nfsservctl",
    "uselib", "ustat", "sysfs", "_sysctl", "vm86", "vm86old", "modify_ldt",
)  # fmt: skip
NEWER: Mapping[str, int] = {"statmount": 457, "listmount": 458, "open_tree_attr": 467}
"""Numbers, equal on all processors, of calls whose names older versions of libseccomp lack."""
ABSENT: tuple[str, ...] = (
    "io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "memfd_secret",
)  # fmt: skip
UNCOUNTED: tuple[str, ...] = ("shmget", "shmat", "memfd_create")
"""Memory that no per-process limit counts: denied where no group of the kernel counts it."""
UNLIMITED: tuple[str, ...] = ("mq_open", "setpriority")
"""What limits of a process hold under Linux, but not under gVisor."""

NAMESPACE_FLAGS: Mapping[str, int] = {
    "CLONE_NEWTIME": 0x00000080,
    "CLONE_NEWNS": 0x00020000,
    "CLONE_NEWCGROUP": 0x02000000,
    "CLONE_NEWUTS": 0x04000000,
    "CLONE_NEWIPC": 0x08000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
}
FAMILIES: tuple[int, ...] = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_AF_NETLINK = 16
_NETLINK_ROUTE = 0
_LAST_FAMILY = 64
TERMINAL_IOCTLS: Mapping[str, int] = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
_F_SETLEASE = 1024
"""A lease lets whoever holds it keep others from opening the file, for 45 s each time."""
_FILE_TYPE = 0o170000
_DEVICES: tuple[int, ...] = (0o020000, 0o060000)


class _Rules(Protocol):
    """What is used of pyseccomp's filter; the package has no types."""

    def add_rule(self, action: int, call: int | str, *arguments: object) -> None: ...

    def export_bpf(self, file: IO[bytes]) -> None: ...


@lru_cache(maxsize=8)
def filter_program(*, count_memory: bool, pin_cores: bool) -> bytes:
    """Give the filter as a BPF program, as `bwrap --seccomp` reads it.

    Args:
        count_memory: whether a group of the kernel counts all memory; if not, calls that get
            memory which no limit of a process counts are denied.
        pin_cores: whether the cores are pinned by an affinity that may not be changed.

    Raises:
        MissingExtra: pyseccomp is not installed.
        SandboxUnavailable: its library, libseccomp, is not there.
    """
    seccomp = _pyseccomp()
    rules: _Rules = seccomp.SyscallFilter(seccomp.ALLOW)
    no, absent = seccomp.ERRNO(errno.EPERM), seccomp.ERRNO(errno.ENOSYS)
    denied = [*DENIED, *(() if not pin_cores else ("sched_setaffinity",))]
    _deny(rules, no, denied)
    for number in NEWER.values():
        rules.add_rule(no, number)
    _deny(rules, absent, [*ABSENT, *(() if count_memory else UNCOUNTED)])
    arg = seccomp.Arg
    for flag in NAMESPACE_FLAGS.values():
        rules.add_rule(no, "clone", arg(0, seccomp.MASKED_EQ, flag, flag))
    for request in TERMINAL_IOCTLS.values():
        rules.add_rule(no, "ioctl", arg(1, seccomp.MASKED_EQ, 0xFFFFFFFF, request))
    rules.add_rule(no, "fcntl", arg(1, seccomp.MASKED_EQ, 0xFFFFFFFF, _F_SETLEASE))
    for kind in _DEVICES:
        rules.add_rule(no, "mknod", arg(1, seccomp.MASKED_EQ, _FILE_TYPE, kind))
        rules.add_rule(no, "mknodat", arg(2, seccomp.MASKED_EQ, _FILE_TYPE, kind))
    for call in ("socket", "socketpair"):
        for family in range(_LAST_FAMILY):
            if family not in FAMILIES and family != _AF_NETLINK:
                rules.add_rule(no, call, arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, family))
        rules.add_rule(no, call, arg(0, seccomp.MASKED_EQ, 0xFFFFFFFF, _AF_NETLINK),
                       arg(2, seccomp.NE, _NETLINK_ROUTE))  # fmt: skip
        rules.add_rule(no, call, arg(0, seccomp.GE, _LAST_FAMILY))
    return _exported(rules)


def oci_rules(*, count_memory: bool, pin_cores: bool, own_errors: bool = True) -> dict[str, object]:
    """Give the same filter as the `seccomp` object of an OCI runtime's configuration.

    Args:
        count_memory: see `filter_program`.
        pin_cores: see `filter_program`.
        own_errors: whether the runtime lets a call fail with the error that is asked for. gVisor
            does not, so what has to seem unknown is left to it: with any other error the C
            library would start no thread.
    """
    entries: list[dict[str, object]] = []

    def add(names: Sequence[str], code: int, *args: tuple[int, int, str, int]) -> None:
        entries.append(
            {
                "names": list(names),
                "action": "SCMP_ACT_ERRNO",
                "errnoRet": code,
                "args": [
                    {"index": index, "value": mask, "valueTwo": value, "op": op}
                    if op == "SCMP_CMP_MASKED_EQ"
                    else {"index": index, "value": value, "op": op}
                    for index, mask, op, value in args
                ],
            }
        )

    equal, full = "SCMP_CMP_MASKED_EQ", 0xFFFFFFFF
    add([*DENIED, *NEWER, *(("sched_setaffinity",) if pin_cores else ())], errno.EPERM)
    if not own_errors:
        add(UNLIMITED, errno.EPERM)
    else:
        add([*ABSENT, *(() if count_memory else UNCOUNTED)], errno.ENOSYS)
    for flag in NAMESPACE_FLAGS.values():
        add(["clone"], errno.EPERM, (0, flag, equal, flag))
    for request in TERMINAL_IOCTLS.values():
        add(["ioctl"], errno.EPERM, (1, full, equal, request))
    add(["fcntl"], errno.EPERM, (1, full, equal, _F_SETLEASE))
    for kind in _DEVICES:
        add(["mknod"], errno.EPERM, (1, _FILE_TYPE, equal, kind))
        add(["mknodat"], errno.EPERM, (2, _FILE_TYPE, equal, kind))
    for family in range(_LAST_FAMILY):
        if family not in FAMILIES and family != _AF_NETLINK:
            add(["socket", "socketpair"], errno.EPERM, (0, full, equal, family))
    netlink = (0, full, equal, _AF_NETLINK)
    add(["socket", "socketpair"], errno.EPERM, netlink, (2, 0, "SCMP_CMP_NE", _NETLINK_ROUTE))
    add(["socket", "socketpair"], errno.EPERM, (0, 0, "SCMP_CMP_GE", _LAST_FAMILY))
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": entries}


def _pyseccomp() -> ModuleType:
    try:
        return import_module("pyseccomp")
    except ModuleNotFoundError:
        raise MissingExtra(
            "pyseccomp is not installed", todo="pip install 'basanite[sandbox]'"
        ) from None
    except (RuntimeError, OSError) as error:
        raise SandboxUnavailable(
            f"libseccomp can't be loaded ({error})",
            todo="On Debian or Ubuntu: apt-get install libseccomp2",
        ) from None


def _deny(rules: _Rules, action: int, names: Sequence[str]) -> None:
    seccomp = _pyseccomp()
    for name in names:
        number = seccomp.resolve_syscall(seccomp.system_arch(), name)
        # Negative: a call that this processor does not have, so no code can make it.
        if number >= 0:
            rules.add_rule(action, number)


def _exported(rules: _Rules) -> bytes:
    descriptor = os.memfd_create("basanite-seccomp")
    with os.fdopen(descriptor, "wb+") as file:
        rules.export_bpf(file)
        file.flush()
        file.seek(0)
        return file.read()


__all__ = ["ABSENT", "DENIED", "UNCOUNTED", "filter_program", "oci_rules"]
