"""Attacks on processes, rights and namespaces."""

from __future__ import annotations

from ._check import Check

_HOST_PROCESSES = """
seen = {int(entry) for entry in os.listdir("/proc") if entry.isdigit()}
if len(seen) > 8:
    escaped("too many processes are seen: %d" % len(seen))
for name in ("victim", "supervisor"):
    pid = bait[name]
    if pid in seen and name == "victim" and b"sleep" in open("/proc/%d/cmdline" % pid, "rb").read():
        escaped("the host's processes are seen")
        continue
    if pid in seen:
        absent("a process inside has the id of the host's")
        continue
    refused("signal the host's " + name, os.kill, pid, 0)
    refused("signal its group", os.killpg, pid, 0)
    refused("its priority", os.getpriority, os.PRIO_PROCESS, pid)
    refused("its scheduling", os.sched_getaffinity, pid)
    refused("its limits", lambda: __import__("resource").prlimit(pid, 7))
    refused("its descriptor", os.pidfd_open, pid)
    for path in ("environ", "maps", "mem", "cmdline", "root/etc/passwd"):
        look("/proc/%d/%s" % (pid, path))
    unreachable("trace it", number(101, 117), 0x4206, pid, None, None)
    vector = (ctypes.c_uint64 * 2)(0, 0)
    unreachable("read its memory", number(310, 270), pid, vector, 1, vector, 1, 0)
    unreachable("write its memory", number(311, 271), pid, vector, 0, vector, 0, 0)
    unreachable("compare with it", number(312, 272), pid, os.getpid(), 0, 0, 0)
"""

_NEGATIVE_PIDS = """
# Signal 0 is a question only: whether anything could be signalled.
def everything():
    os.kill(-1, 0)
def child():
    try:
        everything()
    except OSError:
        return 0
    # Our own parent and children answer; the host's victim must not be among them.
    return 0
in_child(child)
refused("signal the victim's group", os.kill, -bait["victim"], 0)
refused("signal a session that is not ours", os.kill, -2**22, 0)
refused("take the first process's group", lambda: os.setpgid(1, os.getpid()))
refused("lead the victim's session", os.getsid, bait["victim"])
held("kill(-1, 0)")
"""

_FIRST_PROCESS = """
for name in ("environ", "cmdline", "mem", "maps", "stack", "syscall", "auxv", "io"):
    look("/proc/1/" + name)
for base in ("/proc/1/root", "/proc/self/root", "/proc/1/cwd", "/proc/1/root" + "/..",
             "/proc/self/cwd/../..", "/proc/thread-self/root"):
    look(base + bait["secret"])
    look(base + "/etc/shadow")
    look(base + "/proc/%d/environ" % bait["victim"])
for base in ("/proc/1/fd", "/proc/self/fd"):
    try:
        names = os.listdir(base)
    except OSError as error:
        held("list " + base + ": " + _error(error))
        continue
    for name in names:
        try:
            target = os.readlink(base + "/" + name)
        except OSError:
            continue
        plain = target.startswith(("pipe:", "/dev/", "socket:", "anon_inode"))
        if base == "/proc/1/fd" and not plain:
            look(base + "/" + name)
        if target.startswith("/") and os.path.isdir(base + "/" + name):
            look(base + "/" + name + "/" + "../" * 20 + bait["secret"])
# All that runs inside may write each other's memory, so each must be held by the same bounds.
for pid in [entry for entry in os.listdir("/proc") if entry.isdigit()]:
    status = dict(line.split(":", 1) for line in open("/proc/" + pid + "/status") if ":" in line)
    for name, value in (("Seccomp", "2"), ("NoNewPrivs", "1"), ("CapEff", "0000000000000000")):
        found = status.get(name, value).strip()
        what = name + " of process " + pid
        held(what) if found == value else escaped(what + " is " + found)
"""

_NAMESPACES = """
CLONES = (("user", 0x10000000), ("mount", 0x20000), ("pid", 0x20000000), ("net", 0x40000000),
          ("ipc", 0x8000000), ("uts", 0x4000000), ("cgroup", 0x2000000), ("time", 0x80))
for name, flag in CLONES:
    unreachable("unshare " + name, number(272, 97), flag)
    unreachable("unshare user and " + name, number(272, 97), flag | 0x10000000)
    if name != "time":
        def cloned():
            # SIGCHLD in the lowest byte, so that the child can be waited for.
            pid = syscall(number(56, 220), flag | 17, None, None, None, None)
            if pid == 0:
                os._exit(0)
        refused("clone with a new " + name + " namespace", cloned)
for name in ("mnt", "pid", "net", "user", "ipc", "uts", "cgroup", "time"):
    for pid in (1, bait["victim"]):
        def entered():
            descriptor = os.open("/proc/%d/ns/%s" % (pid, name), os.O_RDONLY)
            try:
                syscall(number(308, 268), descriptor, 0)
            finally:
                os.close(descriptor)
        refused("enter the namespace %s of process %d" % (name, pid), entered)
class Clone3(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in
                ("flags", "pidfd", "child", "parent", "signal", "stack", "size", "tls")]
unreachable("clone3 with a new user namespace", 435, ctypes.byref(Clone3(flags=0x10000000)), 64)
limit = "/proc/sys/user/max_user_namespaces"
fact("max_user_namespaces", open(limit).read().strip() if os.path.exists(limit) else None)
"""

_MOUNTS = """
for name, x86, other, arguments in (
    ("mount", 165, 40, (BAD, BAD, BAD, 0, None)), ("umount", 166, 39, (b"/basanite-none", 0)),
    ("pivot_root", 155, 41, (BAD, BAD)), ("chroot", 161, 51, (b"/work",)),
    ("fsopen", 430, 430, (BAD, 0)), ("fsmount", 432, 432, (-1, 0, 0)),
    ("open_tree", 428, 428, (-1, BAD, 0)), ("move_mount", 429, 429, (-1, BAD, -1, BAD, 0)),
    ("fspick", 433, 433, (-1, BAD, 0)), ("mount_setattr", 442, 442, (-1, BAD, 0, None, 0)),
    ("swapon", 167, 224, (b"/basanite-none", 0)), ("swapoff", 168, 225, (b"/basanite-none",)),
    ("quotactl", 179, 60, (0, None, 0, None)), ("acct", 163, 89, (b"/basanite-none",)),
):
    unreachable(name, number(x86, other), *arguments)
"""

_RIGHTS = """
import subprocess
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "CapInh"):
    value = status.get(name, "0").strip()
    escaped(name + " is " + value) if int(value, 16) else held(name)
no_new = status.get("NoNewPrivs", "").strip()
if not no_new:
    absent("this kernel does not tell of no_new_privs")
else:
    escaped("NoNewPrivs is off") if no_new != "1" else held("NoNewPrivs")
for command in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["pkexec", "id", "-u"],
                ["newgrp", "root"], ["mount", "-t", "tmpfs", "none", "/work"]):
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        held(command[0] + " is not there")
        continue
    # Who is user 0 already stays that.
    root = ran.stdout.strip() == b"0" and os.getuid() != 0
    won = ran.returncode == 0 and (command[0] == "mount" or root)
    escaped(command[0] + " worked") if won else held(command[0])
refused("another user", lambda: os.setuid(65534))
def mapped():
    with open("/proc/self/uid_map", "w") as file:
        file.write("0 0 1")
refused("map users anew", mapped)
"""

_USER = """
escaped("runs as user 0") if 0 in os.getresuid() + os.getresgid() else held("user")
for name, action in (("setuid", lambda: os.setuid(0)), ("setgid", lambda: os.setgid(0)),
                     ("setresuid", lambda: os.setresuid(0, 0, 0)),
                     ("setgroups", lambda: os.setgroups([0])),
                     ("chown", lambda: os.chown("/work", 0, 0))):
    refused("become root by " + name, action)
"""

_SETUID_FILE = """
import shutil, subprocess
for folder in ("/work", "/tmp", "/dev/shm"):
    path = folder + "/prog"
    try:
        shutil.copyfile("/usr/bin/id", path)
        os.chmod(path, 0o6755)
    except OSError as error:
        held("a setuid file in " + folder + ": " + _error(error))
        continue
    flags = os.statvfs(folder).f_flag
    for what, flag in (("setuid files", os.ST_NOSUID), ("devices", 4)):
        held(folder + ": no " + what) if flags & flag else escaped(folder + " honours " + what)
    try:
        ran = subprocess.run([path, "-u"], capture_output=True)
    except OSError as error:
        held("execute from " + folder + ": " + _error(error))
        continue
    same = ran.stdout.strip() == str(os.getuid()).encode()
    held("a program from " + folder + " has the same user") if same else escaped("another user")
"""

_DUMPABLE = """
def attempt(value):
    # PR_SET_DUMPABLE, and PR_SET_PTRACER for any process: neither may open a door outwards.
    _libc.prctl(4, value, 0, 0, 0)
    _libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
attempt(1)
for name in ("securebits", "keep_caps"):
    def keep():
        code = {"securebits": (28, 0x2f), "keep_caps": (8, 1)}[name]
        if _libc.prctl(code[0], code[1], 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno() or errno.EPERM, "refused")
        os.setuid(0)
        if not any(int(line.split()[1], 16) for line in open("/proc/self/status")
                   if line.startswith(("CapEff", "CapPrm"))):
            raise OSError(errno.EPERM, "nothing came of it")
    refused("rights by " + name, keep)
def ambient():
    if _libc.prctl(47, 2, 21, 0, 0) != 0:
        raise OSError(errno.EPERM, "refused")
refused("raise an ambient capability", ambient)
def bounds():
    if _libc.prctl(23, 21, 0, 0, 0) == 1:
        return None
    raise OSError(errno.EPERM, "refused")
refused("a capability in the bounding set", bounds)
def off():
    if _libc.prctl(38, 0, 0, 0, 0) != 0:
        raise OSError(errno.EINVAL, "refused")
refused("switch no_new_privs off", off)
def unfiltered():
    mode = _libc.prctl(21, 0, 0, 0, 0)
    if mode == 2:
        raise OSError(errno.EPERM, "a filter is on")
refused("no filter of system calls", unfiltered)
"""

CHECKS = (
    Check(
        "host_processes",
        "Processes of the host can't be seen, signalled, traced or read.",
        _HOST_PROCESSES,
        ("processes_seen",),
    ),
    Check("negative_pids", "Signals to groups stay inside.", _NEGATIVE_PIDS, ("processes_seen",)),
    Check(
        "first_process",
        "The first process inside leads nowhere else, and is held by the same bounds.",
        _FIRST_PROCESS,
        ("files", "processes_seen"),
    ),
    Check(
        "namespaces",
        "No namespace can be made or entered.",
        _NAMESPACES,
        ("privileges", "syscalls"),
        host_kernel=True,
    ),
    Check(
        "mounts", "Nothing can be mounted.", _MOUNTS, ("privileges", "syscalls"), host_kernel=True
    ),
    Check("rights", "No program and no call gives rights.", _RIGHTS, ("privileges",)),
    Check("become_root", "The code is not root, and can't become it.", _USER, ("user",)),
    Check(
        "setuid_files",
        "Programs put into writable folders run, without any more rights.",
        _SETUID_FILE,
        ("privileges",),
        host_kernel=True,
    ),
    Check(
        "process_flags",
        "Flags of the process (dumpable, securebits, ambient rights) open nothing.",
        _DUMPABLE,
        ("privileges", "syscalls"),
        host_kernel=True,
    ),
)

__all__ = ["CHECKS"]
