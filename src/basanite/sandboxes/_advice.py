"""What to do where the machine refuses namespaces."""

from __future__ import annotations

from pathlib import Path


def advice(said: str) -> str:
    """Say what to do about a message of bubblewrap, unshare or nsenter."""
    low = said.lower()
    if "max_user_namespaces" in low or "no space left" in low:
        return (
            "User namespaces are used up or switched off: as root, "
            "sysctl -w user.max_user_namespaces=15000"
        )
    if "permission denied" in low or "operation not permitted" in low:
        return userns_advice()
    return ""


def userns_advice() -> str:
    """Say how user namespaces are allowed here, looking at what blocks them."""
    apparmor = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    clone = Path("/proc/sys/kernel/unprivileged_userns_clone")
    if _is(apparmor, "1"):
        return (
            "AppArmor restricts user namespaces: as root, "
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, "
            "or give bwrap and unshare an AppArmor profile that allows them"
        )
    if _is(clone, "0"):
        return "As root: sysctl -w kernel.unprivileged_userns_clone=1"
    if _is(Path("/proc/sys/user/max_user_namespaces"), "0"):
        return "As root: sysctl -w user.max_user_namespaces=15000"
    return (
        "Something forbids user namespaces; in a container that is its own filter of system "
        "calls: start it with --security-opt seccomp=unconfined "
        "--security-opt systempaths=unconfined, or use the oci backend on the host"
    )


def _is(path: Path, value: str) -> bool:
    try:
        return path.read_text("ascii").strip() == value
    except OSError:
        return False


__all__ = ["advice", "userns_advice"]
