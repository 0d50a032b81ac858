"""The root folder of a container: empty folders and links, and what is bound into them.

No image is needed: the programs are this machine's own /usr, seen read-only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import PolicyError
from ._bubblewrap_args import ETC, SYSTEM, etc_files
from ._runtime import CODE, WORK, Job

_EMPTY = ("dev", "etc", "proc", "run/basanite", "sys", "tmp", "usr", "work")


@dataclass(frozen=True, slots=True)
class Bind:
    """A path of this machine, as a container sees it."""

    source: str
    target: str
    writable: bool = False

    @property
    def no_exec(self) -> bool:
        """Whether its file system runs no programs: a bind may not undo that."""
        return bool(os.statvfs(self.source).f_flag & os.ST_NOEXEC)


def write_rootfs(job: Job, *, uid: int, binds: tuple[Bind, ...]) -> Path:
    """Write the root folder, with a place for each bind, and give its path.

    Args:
        job: its folder holds it.
        uid: the user that the code sees itself as.
        binds: places in /usr, /work and /tmp are not made: those are other file systems.
    """
    root = job.folder / "rootfs"
    root.mkdir(mode=0o755)
    for name in _EMPTY:
        (root / name).mkdir(mode=0o755, parents=True)
    # A tmpfs gets the mode of the folder that it covers.
    (root / "tmp").chmod(0o1777)
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            (root / name).symlink_to(path.readlink())
    for name, text in etc_files(uid).items():
        (root / "etc" / name).write_text(text, "ascii")
    for bind in binds:
        place = root / bind.target.lstrip("/")
        if Path(bind.target).parts[1] not in ("usr", "work", "tmp"):
            _make_place(place, is_folder=Path(bind.source).is_dir())
    return root


def _make_place(place: Path, *, is_folder: bool) -> None:
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if is_folder:
        place.mkdir(mode=0o755, exist_ok=True)
    else:
        place.touch(mode=0o644)


def binds(job: Job, *, gate: Path | None, work: Path | None = None) -> tuple[Bind, ...]:
    """Give what a job sees of this machine.

    Args:
        job: what runs.
        gate: the FIFO at which it waits.
        work: the work folder, if it lies elsewhere than with the holder.
    """
    return tuple(_binds(job, gate, work or job.holder.work))


def _binds(job: Job, gate: Path | None, work: Path) -> Iterator[Bind]:
    yield Bind("/usr", "/usr")
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_dir() and not path.is_symlink():
            yield Bind(str(path), str(path))
    for name in ETC:
        if Path(name).exists():
            yield Bind(name, name)
    if gate is not None:
        from ._gate import INSIDE

        yield Bind(str(gate), INSIDE)
    yield Bind(str(work), WORK, writable=True)
    for source, target in job.shared:
        yield Bind(str(source), target, writable=True)
    if job.code is not None:
        yield Bind(str(job.code), CODE)
    for mount in job.spec.mounts:
        yield Bind(str(job.holder.source(mount.source)), str(mount.target))


def mount_option(bind: Bind, engine: str) -> str:
    """Give the value of `--mount` for podman or docker.

    Raises:
        PolicyError: the path can't be written so.
    """
    for path in (bind.source, bind.target):
        if any(character in path for character in ',"\n'):
            raise PolicyError(
                f"{engine} can't bind a path with a comma, a quote or a line break",
                where=path,
                todo="Rename it, or choose another backend.",
            )
    option = f"type=bind,source={bind.source},target={bind.target},bind-propagation=private"
    return option if bind.writable else f"{option},readonly"


__all__ = ["Bind", "binds", "mount_option", "write_rootfs"]
