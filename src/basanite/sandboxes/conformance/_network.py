"""Attacks on the network. Nothing is sent but to listeners that the check itself has started."""

from __future__ import annotations

from ._check import Check

_LOOPBACK = """
def meet(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as client:
        client.settimeout(1)
        client.connect(address)
        client.send(b"x")
refused("the host's port on 127.0.0.1", meet, socket.AF_INET, ("127.0.0.1", bait["tcp4"]))
if "tcp6" in bait:
    refused("the host's port on ::1", meet, socket.AF_INET6, ("::1", bait["tcp6"]))
# UDP says nothing about who listens: whether it came shows at the listener.
try:
    meet(socket.AF_INET, ("127.0.0.1", bait["udp4"]), socket.SOCK_DGRAM)
except OSError:
    pass
held("UDP on 127.0.0.1 (seen at the listener)")
"""

_ROUTES = """
names = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
# What the kernel makes in each namespace by itself leads nowhere and is down.
made = {"lo", "tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0",
        "ip6gre0"}
other = sorted(set(names) - made)
escaped("an interface: " + ", ".join(other)) if other else held("interfaces: " + ", ".join(names))
try:
    routes = open("/proc/net/route").read().splitlines()[1:]
except OSError:
    routes = []
escaped("routes: " + "; ".join(routes)) if routes else held("no route")
# Connecting a datagram socket only asks for a route: nothing is sent.
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET, "169.254.169.254"),
                        (socket.AF_INET, "10.0.0.1"), (socket.AF_INET6, "2001:db8::1")):
    def route():
        with socket.socket(family, socket.SOCK_DGRAM) as client:
            client.connect((address, 9))
    refused("a route to " + address, route)
"""

_UNIX = """
def meet(address):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(address)
refused("the host's abstract socket", meet, "\\0" + bait["abstract"])
refused("the host's socket by its path", meet, bait["path"])
for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket",
             "/run/podman/podman.sock", "/run/containerd/containerd.sock"):
    escaped(path + " is there") if os.path.exists(path) else held("no " + path)
try:
    open_now = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:]]
except OSError:
    open_now = []
named = [name for name in open_now if "basanite-bait" in name]
escaped("the host's sockets are listed") if named else held("/proc/net/unix lists only our own")
"""

_FAMILIES = """
for name, family, kind, protocol in (
    ("vsock", 40, socket.SOCK_STREAM, 0), ("packet", 17, socket.SOCK_RAW, 0x0300),
    ("alg", 38, 5, 0), ("can", 29, socket.SOCK_RAW, 1), ("bluetooth", 31, socket.SOCK_RAW, 1),
    ("netlink audit", 16, socket.SOCK_RAW, 9), ("netlink netfilter", 16, socket.SOCK_RAW, 12),
    ("netlink kobject", 16, socket.SOCK_RAW, 15), ("netlink generic", 16, socket.SOCK_RAW, 16),
    ("xdp", 44, socket.SOCK_RAW, 0), ("rds", 21, socket.SOCK_SEQPACKET, 0),
    ("tipc", 30, socket.SOCK_RAW, 0), ("key", 15, socket.SOCK_RAW, 2), ("ax25", 3, 5, 0),
    ("x25", 9, 5, 0), ("appletalk", 5, 2, 0), ("kcm", 41, 2, 0), ("smc", 43, 1, 0),
    ("qipcrtr", 42, 2, 0), ("raw IPv4", 2, socket.SOCK_RAW, 1),
    ("raw IPv6", 10, socket.SOCK_RAW, 58),
    ("family 70", 70, 1, 0),
):
    def made():
        socket.socket(family, kind, protocol).close()
    refused("a socket of " + name, made)
"""

_ROUTE_CHANGE = """
def netlink():
    # RTM_NEWLINK for a dummy interface: in a namespace without rights it must be refused.
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as client:
        client.settimeout(2)
        client.bind((0, 0))
        message = struct.pack("=IHHII", 32, 16, 0x605, 1, 0) + struct.pack("=BxHiII", 0, 0, 0, 0, 0)
        client.send(message)
        reply = client.recv(4096)
        code = struct.unpack_from("=i", reply, 16)[0]
        if code == -errno.EPERM:
            raise OSError(errno.EPERM, "refused")
refused("make a network interface", netlink)
def low():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.setsockopt(socket.SOL_SOCKET, 36, 1)  # SO_MARK
refused("mark packets", low)
"""

CHECKS = (
    Check("loopback", "The host's loopback is another one.", _LOOPBACK, ("network",)),
    Check("routes", "There is no interface and no route to anywhere.", _ROUTES, ("network",)),
    Check(
        "unix_sockets",
        "No Unix socket of the host can be reached, abstract ones included.",
        _UNIX,
        ("network", "files"),
    ),
    Check(
        "socket_families",
        "Address families that pass by the network namespace or have no use are refused.",
        _FAMILIES,
        ("network", "syscalls"),
        host_kernel=True,
    ),
    Check(
        "network_changes",
        "The network can't be set up anew from inside.",
        _ROUTE_CHANGE,
        ("network", "privileges"),
        host_kernel=True,
    ),
)

__all__ = ["CHECKS"]
