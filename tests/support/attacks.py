"""Hostile code that does no harm where it succeeds: it opens and closes, and never writes.

`BORDERS` prints one JSON object: per attack whether it got through, or what it saw.
"""

BORDERS = r"""
import ctypes, errno, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
seen = {}

def attempt(name, call):
    try:
        call()
    except OSError as error:
        seen[name] = errno.errorcode.get(error.errno, str(error.errno))
    else:
        seen[name] = "got through"

def opens(path):
    os.close(os.open(path, os.O_WRONLY))

def makes(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    os.unlink(path)

def called(number, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

for place in ("/", "/usr", "/etc", "/run", "/dev", "/proc", "/run/basanite"):
    attempt("makes " + place, lambda: makes(place + "/basanite-attack"))
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory",
             "/proc/sysrq-trigger", "/usr/bin/env", "/etc/passwd"):
    attempt("opens " + path, lambda: opens(path))
for path in ("/etc/shadow", "/root", "/home", "/var", "/dev/vda", "/dev/kvm", "/dev/mem",
             "/var/run/docker.sock", "/run/podman/podman.sock"):
    seen["sees " + path] = os.path.exists(path)
attempt("unshare", lambda: called(272, 0x10000000))
attempt("mount", lambda: called(165, b"none", b"/tmp", b"tmpfs", 0, None))
attempt("ptrace", lambda: called(101, 0, 0, 0, 0))
attempt("bpf", lambda: called(321, 0, 0, 0))
attempt("keyctl", lambda: called(250, 0, 0, 0))
attempt("kexec_load", lambda: called(246, 0, 0, 0, 0))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM).close())
attempt("packet", lambda: socket.socket(17, socket.SOCK_RAW).close())
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
attempt("bait", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2).close())
attempt("device", lambda: os.mknod("/work/device", 0o020666, os.makedev(1, 5)))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("root", lambda: os.setresuid(0, 0, 0) if os.getuid() else called(-1))
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines()
              if ":\t" in line)
seen["capabilities"] = [status.get(n, "").strip() for n in ("CapEff", "CapPrm", "CapBnd")]
seen["no_new_privs"] = status.get("NoNewPrivs")
seen["seccomp"] = status.get("Seccomp")
seen["uid"] = os.getuid()
seen["pids"] = len([n for n in os.listdir("/proc") if n.isdigit()])
seen["interfaces"] = [name for _, name in socket.if_nameindex()]
seen["variables"] = sorted(os.environ)
seen["descriptors"] = sorted(int(n) for n in os.listdir("/proc/self/fd"))
print(json.dumps(seen))
"""

FORKS = """
import os, time
made = 0
try:
    for _ in range(60):
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
        made += 1
except OSError as error:
    print(error.errno, made)
"""

CHILDREN = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        kept = b"x" * 40_000_000
        time.sleep(4)
        os._exit(0)
time.sleep(3)
print("lived")
"""

__all__ = ["BORDERS", "CHILDREN", "FORKS"]
