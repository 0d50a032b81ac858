"""What an h5ad file holds, for agents and prompts, without its matrix in memory.

The file is hostile: HDF5 is read by a large library in C. So it is opened in a child with limits
(`summarise_anndata`), or, which contains more, in a sandbox with a profile's h5py
(`summarise_anndata_sandboxed`). All that comes back is validated here and bounded in length.
"""

from __future__ import annotations

import importlib.util
from importlib.resources import files
from pathlib import Path, PurePosixPath

from ..errors import InputError, MissingExtra
from ._anndata_summary import AnnDataSummary, shown
from ._limited import ReadLimits, run_limited_async
from ._limited_outcome import value_of
from ._profiles import Profile
from ._spec import Limits, Mount, SandboxSpec

_LIMITS = ReadLimits(wall_s=120.0, cpu_s=120, memory_mb=2048)
_INSIDE = PurePosixPath("/input/data.h5ad")
_OUTPUT_BYTES = 4_000_000


async def summarise_anndata(path: Path, *, limits: ReadLimits = _LIMITS) -> AnnDataSummary:
    """Give what an h5ad file holds, read in a child with limits.

    Contains bombs and crashes, and no code that a file might smuggle in: for files of agents
    use `summarise_anndata_sandboxed`. At most the first 20 million values of a matrix are read.

    Raises:
        InputError: no such file, no h5ad file, or one that meets a limit or crashes its reader.
        MissingExtra: h5py is not installed.
    """
    path = _checked_file(path)
    if importlib.util.find_spec("h5py") is None:
        raise MissingExtra(
            "h5py is not installed",
            where="h5ad files",
            todo="pip install 'basanite[bio]', or read the file in a sandbox with a profile.",
        )
    outcome = await run_limited_async(
        # By name: neither h5py nor its settings are loaded here.
        f"{__package__}._anndata_read:summarise",
        str(path),
        returns=AnnDataSummary,
        limits=limits,
    )
    return value_of(outcome, where=str(path))


async def summarise_anndata_sandboxed(
    path: Path, profile: Profile, *, wall_s: float = 120.0
) -> AnnDataSummary:
    """Give what an h5ad file holds, read in a sandbox by the h5py of a profile.

    Args:
        path: the file; it is seen inside, read only.
        profile: one that holds h5py, such as `scanpy`.
        wall_s: seconds that it may take.

    Raises:
        InputError: no such file, no h5ad file, or one that meets a limit or crashes its reader.
        SandboxUnavailable: no sandbox can be had here.
        SandboxLost: the sandbox broke.
    """
    from ._probe import run_sandboxed

    path = _checked_file(path)
    code = (files(__package__) / "_anndata_read.py").read_text(encoding="utf-8")
    spec = SandboxSpec.create(
        code=code.replace("sys.argv[1]", repr(str(_INSIDE))),
        mounts=(Mount(source=path, target=_INSIDE),),
        limits=Limits(
            wall_s=wall_s, memory_mb=_LIMITS.memory_mb, disk_mb=1, output_bytes=_OUTPUT_BYTES
        ),
    )
    result = await run_sandboxed(profile.apply(spec))
    if not result.ok or result.stdout.truncated:
        ended = f"exit code {result.exit_code}" if result.exit_code else result.status.value
        last = result.stderr.text.strip().splitlines()[-1:] or ["it said nothing"]
        raise InputError(
            f"the file can't be read: its reader ended with {ended}: {shown(last[0], 300)}",
            where=str(path),
            todo="Check that the file is a whole h5ad file.",
        )
    return AnnDataSummary.from_json(result.stdout.text, where=str(path))


def _checked_file(path: Path) -> Path:
    """Give the file's absolute path: the reader has another working folder."""
    if not path.is_file():
        raise InputError("no such file", where=str(path), todo="Check the path.")
    return path.absolute()


__all__ = ["summarise_anndata", "summarise_anndata_sandboxed"]
