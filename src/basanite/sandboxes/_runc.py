"""Containers by runc alone: no daemon, no image, also without root.

It runs in a process namespace of its own that ends with this process, and so does the
container. Under root the container gets a user namespace with two users that nobody else has:
its root, as whom nothing runs, and the throw-away user of the sandbox. Without root it has only
one user, which inside is called root and has none of root's rights.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil

from ..errors import SandboxUnavailable
from ._advice import advice
from ._bubblewrap_args import limited
from ._child import Child
from ._container import (
    WITH_US,
    ContainerRun,
    abandon,
    group_folders,
    hold,
    only_descendant,
    refused,
    remove_groups,
)
from ._engines import said_version
from ._gate import Gate, waiting
from ._oci_config import Bundle, configuration
from ._rootfs import binds, write_rootfs
from ._runtime import INSIDE_UID, Job
from ._tasks import finished

ROOT_OFFSET = 1_000
"""From a sandbox's user to the one that its container's root is outside."""


class Runc:
    """The engine `runc`."""

    name = "runc"
    todo = "On Debian or Ubuntu: apt-get install runc"

    def version(self) -> str:
        """See `Engine.version`."""
        return said_version(self._program(), "--version")

    def in_daemon(self) -> bool:
        """Never: see `Engine.in_daemon`."""
        return False

    async def start(self, job: Job) -> ContainerRun:
        """See `Runtime.start`."""
        gate = Gate(job.folder)
        folders = group_folders(_groups(job.name)) if job.group is not None else []
        command = await asyncio.to_thread(self._command, job, gate)
        child = Child(
            job.holder.entering_as_root([*WITH_US, *command]),
            environment={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
            stdin=job.stdin,
        )
        try:
            if not await gate.reached(child):
                raise await _refused(child)
            init_pid = only_descendant(child.pid, 2)
            hold(job, init_pid)
            return ContainerRun(child, gate, init_pid, removing=lambda: remove_groups(folders))
        except BaseException:
            gate.close()
            await finished(abandon(child))
            await finished(remove_groups(folders))
            raise

    def _command(self, job: Job, gate: Gate) -> list[str]:
        """Write the bundle, and give the command that runs it."""
        bound = binds(job, gate=gate.path)
        owner = job.holder.owner
        uid = INSIDE_UID if owner.dropped else 0
        users = ((0, owner.uid + ROOT_OFFSET), (uid, owner.uid)) if owner.dropped else ((0, 0),)
        bundle = Bundle(
            rootfs=write_rootfs(job, uid=uid, binds=bound),
            binds=bound,
            command=waiting(limited(job)),
            uid=uid,
            users=users,
            groups_path=_groups(job.name) if job.group is not None else None,
        )
        (job.folder / "config.json").write_text(json.dumps(configuration(job, bundle)), "utf-8")
        # Without root there are no groups: runc is told not to look for them.
        rootless = [] if job.group is not None else ["--rootless", "true"]
        return [
            self._program(),
            *("--root", str(job.folder / "runc"), "--log", str(job.folder / "runc.log")),
            *(*rootless, "run", "--bundle", str(job.folder), job.name),
        ]

    def _program(self) -> str:
        program = shutil.which("runc")
        if program is None:
            raise SandboxUnavailable("runc is not installed", todo=self.todo)
        return program

    def cleanup(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Give the command that removes its groups; its processes die with their supervisor."""
        folders = group_folders(_groups(name))
        return (("rmdir", "--", *map(str, folders)),) if folders else ()


def _groups(name: str) -> str:
    return f"{name}-runc"


async def _refused(child: Child) -> SandboxUnavailable:
    error = await refused(child, "runc", "")
    error.todo = advice(error.what)
    return error


__all__ = ["ROOT_OFFSET", "Runc"]
