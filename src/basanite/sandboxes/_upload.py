"""What goes into a sandbox: files into its work folder, bytes to a standard input."""

from __future__ import annotations

import contextlib
import fcntl
import os

from ._holder import Holder


def stdin_of(data: bytes) -> int:
    """Give a descriptor from which bytes can be read, and to which nothing can be written."""
    descriptor = os.memfd_create("basanite-stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    # Sealed, for whoever holds a descriptor can open it anew through /proc, also for writing.
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    reader = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
    os.close(descriptor)
    return reader


def place_file(holder: Holder, parts: tuple[str, ...], data: bytes) -> None:
    """Write a file below the work folder without following what code inside may have put there."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    owner = holder.owner
    folder = os.open(holder.seen(holder.work), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=folder)
                if owner.dropped:
                    os.chown(part, owner.uid, owner.uid, dir_fd=folder, follow_symlinks=False)
            deeper = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = deeper
        name = parts[-1]
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        create = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, create, 0o600, dir_fd=folder), "wb") as file:
            if owner.dropped:
                os.fchown(file.fileno(), owner.uid, owner.uid)
            file.write(data)
    finally:
        os.close(folder)


__all__ = ["place_file", "stdin_of"]
