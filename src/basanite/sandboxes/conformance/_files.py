"""Attacks on files: the host's, the inputs, the system's, the kernel's."""

from __future__ import annotations

from collections.abc import Iterator

from ._check import Check, Evidence, made_up

_HOST_FILES = """
home = bait["home"]
for path in (bait["secret"], "/etc/shadow", home + "/.bashrc", home + "/.ssh/id_rsa",
             "/var/log/dpkg.log", "/var/lib/dpkg/status", "/var/tmp", "/srv", "/boot"):
    look(path)
refused("list the host's folder", os.listdir, bait["folder"])
for name in ("/", "/tmp", "/home", home, "/var/tmp", "/work", "/run"):
    names = os.listdir(name) if os.access(name, os.R_OK) else []
    bait_seen = [one for one in names if one.startswith("basanite-")]
    escaped("the host's " + name) if bait_seen else held("the host's " + name)
"""

_ENVIRONMENT = """
granted = {"PATH", "HOME", "USER", "LANG", "TMPDIR", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE",
           "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE", "HOSTNAME", "container", "TERM",
           "BASANITE_CONFORMANCE"}
strange = sorted(set(os.environ) - granted)
escaped("variables that nobody granted: " + ", ".join(strange)) if strange else held("environment")
for entry in os.listdir("/proc"):
    if entry.isdigit():
        look("/proc/" + entry + "/environ")
        look("/proc/" + entry + "/cmdline")
"""

_INPUTS = """
import fcntl
data = "/inputs/data.csv"
if open(data).read() != "x,y\\n1,2\\n":
    escaped("the input is not what was given")
shut(data)
shut(data, os.O_RDWR)
refused("change the mode of an input", os.chmod, data, 0o644)
refused("set an input's times", os.utime, data, (1, 1))
refused("rename an input", os.rename, data, "/inputs/other")
refused("remove an input", os.unlink, data)
refused("remove the folder", os.rmdir, "/inputs")
refused("link an input into the work folder", os.link, data, "/work/hard")
refused("link a file of the system", os.link, "/usr/bin/env", "/work/env")
refused("set an attribute", os.setxattr, data, "user.x", b"1")
refused("make a file among the inputs", os.mknod, "/inputs/new", 0o600)
def truncated():
    os.truncate(data, len("x,y\\n1,2\\n"))
refused("truncate an input to its own length", truncated)
def mapped():
    import mmap
    with open(data, "rb") as file:
        mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_WRITE)
refused("map an input for writing", mapped)
def leased():
    with open(data, "rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
refused("lease an input", leased)
through = "/proc/self/fd/%d" % os.open(data, os.O_RDONLY)
shut(through)
"""

_SYSTEM = """
for path in ("/usr/bin/env", "/usr/bin/python3", "/bin/sh", "/etc/passwd", "/etc/hosts",
             "/etc/ld.so.cache", "/etc/nsswitch.conf", "/run/basanite/code.py"):
    if os.path.exists(path):
        shut(path)
writable = []
for folder in ("/", "/usr", "/usr/bin", "/usr/lib", "/usr/local/lib", "/bin", "/etc", "/lib",
               "/run", "/inputs", "/dev", "/sys", "/proc"):
    if os.path.isdir(folder):
        writable.append(folder) if os.access(folder, os.W_OK) else held(folder)
fact("writable", writable)
"""

_SETTINGS = """
for path in ("kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "kernel/hostname",
             "kernel/sysrq", "kernel/randomize_va_space", "kernel/yama/ptrace_scope",
             "kernel/pid_max", "kernel/shmmax", "kernel/msgmax", "vm/overcommit_memory",
             "vm/drop_caches", "vm/panic_on_oom", "fs/suid_dumpable", "fs/mqueue/msg_max",
             "fs/binfmt_misc/register", "net/ipv4/ip_forward", "user/max_user_namespaces"):
    shut("/proc/sys/" + path)
for path in ("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity",
             "/proc/mtrr", "/proc/scsi/scsi", "/proc/latency_stats",
             "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/fs/cgroup/cgroup.procs",
             "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/pids/pids.max",
             "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/unified/cgroup.procs",
             "/sys/kernel/debug/tracing/trace", "/sys/kernel/mm/ksm/run"):
    shut(path)
def spared():
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
refused("be spared when memory runs out", spared)
"""

_KERNEL_INFORMATION = """
for path in ("/proc/kcore", "/proc/config.gz", "/proc/keys", "/proc/key-users", "/proc/kmsg",
             "/proc/sched_debug", "/proc/timer_list", "/proc/cmdline", "/proc/slabinfo",
             "/proc/vmallocinfo", "/proc/pagetypeinfo", "/proc/iomem", "/proc/modules",
             "/proc/kallsyms", "/proc/kpageflags", "/sys/firmware/acpi/tables/FACP"):
    try:
        data = open(path, "rb").read(65536)
    except OSError as error:
        held("read " + path + ": " + _error(error))
        continue
    if path == "/proc/iomem" or path == "/proc/kallsyms":
        # Without rights the kernel shows every address as 0.
        firsts = [line.split(b" ")[0] for line in data.split(b"\\n")]
        data = b"".join(firsts).strip(b"0-")
    escaped("the kernel shows " + path) if data.strip(b"\\0") else held(path + " is empty")
"""

_DEVICES = """
known = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "pts", "shm",
         "mqueue", "fd", "stdin", "stdout", "stderr", "core", "net", "fuse"}
for name in sorted(set(os.listdir("/dev")) - known):
    escaped("/dev/" + name + " is there")
for name in ("kvm", "vda", "sda", "nvme0n1", "mem", "port", "kmsg", "fuse", "loop-control", "loop0",
             "net/tun", "vhost-vsock", "vsock", "snapshot", "mapper/control", "uinput", "hwrng",
             "vhost-net", "dri/card0", "input/event0", "watchdog", "rtc0"):
    shut("/dev/" + name, os.O_RDONLY)
for kind, major, minor, name in ((stat.S_IFCHR, 1, 1, "mem"), (stat.S_IFCHR, 1, 2, "kmem"),
                                 (stat.S_IFBLK, 254, 0, "disk"), (stat.S_IFCHR, 10, 232, "kvm"),
                                 (stat.S_IFCHR, 1, 3, "null")):
    for folder in ("/work", "/tmp", "/dev/shm"):
        path = folder + "/" + name
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
        except OSError as error:
            held("make the device " + path + ": " + _error(error))
        else:
            shut(path, os.O_RDONLY)
"""

_NEIGHBOUR = """
open("/tmp/token", "w").write(open("/work/token.txt").read())
open("/dev/shm/token", "w").write(open("/work/token.txt").read())
listener = socket.socket(socket.AF_UNIX)
listener.bind("\\0neighbour-" + bait["abstract"])
listener.listen()
server = socket.socket()
server.bind(("127.0.0.1", 45317))
server.listen()
_say("held", "ready")
idle(12)
"""

_LOOK_NEXT_DOOR = """
for path in ("/work/token.txt", "/tmp/token", "/dev/shm/token"):
    look(path)
def meet(family, address):
    with socket.socket(family) as client:
        client.settimeout(1)
        client.connect(address)
refused("the neighbour's abstract socket", meet, socket.AF_UNIX, "\\0neighbour-" + bait["abstract"])
refused("the neighbour's port", meet, socket.AF_INET, ("127.0.0.1", 45317))
pids = [entry for entry in os.listdir("/proc") if entry.isdigit()]
escaped("other processes are seen: " + " ".join(pids)) if len(pids) > 4 else held("processes")
for pid in pids:
    for name in ("environ", "cmdline"):
        look("/proc/" + pid + "/" + name)
    look("/proc/" + pid + "/root" + "/work/token.txt")
"""


def _no_trace(seen: Evidence) -> Iterator[str]:
    text = seen.result.stdout.text + seen.result.stderr.text
    if seen.bait.token in text and not seen.escaped:
        yield "the host's secret is in the output"


def _none_written(seen: Evidence) -> Iterator[str]:
    found = seen.facts.get("writable")
    for folder in found if isinstance(found, list) else ():
        if not made_up(seen, folder):
            yield f"{folder} can be written"


CHECKS = (
    Check(
        "host_files",
        "Files of the host that nobody mounted are not there.",
        _HOST_FILES,
        ("files",),
        _no_trace,
    ),
    Check(
        "environment",
        "The code sees the variables that were granted; no process shows others.",
        _ENVIRONMENT,
        ("files", "processes_seen"),
        _no_trace,
    ),
    Check("inputs", "Inputs can be read and in no way be changed.", _INPUTS, ("files",)),
    Check(
        "system_files",
        "Nothing of the system can be written.",
        _SYSTEM,
        ("files",),
        _none_written,
    ),
    Check(
        "kernel_settings",
        "No setting of the kernel, no control group, no trigger can be written.",
        _SETTINGS,
        ("files", "privileges"),
        host_kernel=True,
    ),
    Check(
        "kernel_information",
        "What the kernel tells about the machine's memory, keys and build is masked.",
        _KERNEL_INFORMATION,
        ("files",),
        host_kernel=True,
    ),
    Check("devices", "No device of the host is there or can be made.", _DEVICES, ("devices",)),
    Check(
        "neighbour",
        "A second sandbox of the same user: neither files, processes nor sockets are shared.",
        _LOOK_NEXT_DOOR,
        ("files", "network", "processes_seen"),
        _no_trace,
        beside=_NEIGHBOUR,
    ),
)

__all__ = ["CHECKS"]
