"""Untrusted code and files, contained.

::

    spec = SandboxSpec(command=("python3", "-c", "print(6 * 7)"))
    async with await open_sandbox(spec) as sandbox:
        result = await sandbox.run()

`probe()` says what this machine can enforce. It fails closed: where no sandbox can be had, or a
weaker one than was asked for, nothing runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy

if TYPE_CHECKING:
    from ._anndata import summarise_anndata, summarise_anndata_sandboxed
    from ._anndata_summary import AnnDataSummary
    from ._cell import CellError, CellEvent, CellResult, CellStatus, RichOutput, Shown
    from ._collect import Collected, keep_artifacts
    from ._enforcement import Enforcement, Strength
    from ._grading import grade
    from ._kubernetes import Cluster, job_manifest
    from ._kubernetes_run import run_job
    from ._limited import ReadLimits, run_limited, run_limited_async
    from ._limited_outcome import Crashed, Invalid, LimitHit, Raised, Returned, value_of
    from ._probe import open_sandbox, probe, run_sandboxed
    from ._profile_build import build_profile, remove_profiles
    from ._profiles import PROFILE_NAMES, Profile, built_profiles, find_profile
    from ._report import BackendReport, ProbeReport
    from ._result import (
        Artifact,
        Chunk,
        Event,
        ExecResult,
        Finished,
        NetworkRequest,
        Output,
        Rejected,
        Started,
        Status,
        Usage,
    )
    from ._sandbox import Sandbox
    from ._session import Session, open_session
    from ._spec import Floor, Limits, ModelEndpoint, Mount, Network, SandboxSpec
    from ._state import reap

_HOMES = {
    "AnnDataSummary": "_anndata_summary",
    "Artifact": "_result",
    "BackendReport": "_report",
    "CellError": "_cell",
    "CellEvent": "_cell",
    "CellResult": "_cell",
    "CellStatus": "_cell",
    "Chunk": "_result",
    "Cluster": "_kubernetes",
    "Collected": "_collect",
    "Crashed": "_limited_outcome",
    "Enforcement": "_enforcement",
    "Event": "_result",
    "ExecResult": "_result",
    "Finished": "_result",
    "Floor": "_spec",
    "Invalid": "_limited_outcome",
    "LimitHit": "_limited_outcome",
    "Limits": "_spec",
    "ModelEndpoint": "_spec",
    "Mount": "_spec",
    "Network": "_spec",
    "NetworkRequest": "_result",
    "Output": "_result",
    "PROFILE_NAMES": "_profiles",
    "ProbeReport": "_report",
    "Profile": "_profiles",
    "Raised": "_limited_outcome",
    "ReadLimits": "_limited",
    "Rejected": "_result",
    "RichOutput": "_cell",
    "Returned": "_limited_outcome",
    "Sandbox": "_sandbox",
    "SandboxSpec": "_spec",
    "Session": "_session",
    "Shown": "_cell",
    "Started": "_result",
    "Status": "_result",
    "Strength": "_enforcement",
    "Usage": "_result",
    "build_profile": "_profile_build",
    "built_profiles": "_profiles",
    "find_profile": "_profiles",
    "grade": "_grading",
    "job_manifest": "_kubernetes",
    "keep_artifacts": "_collect",
    "open_sandbox": "_probe",
    "open_session": "_session",
    "probe": "_probe",
    "reap": "_state",
    "remove_profiles": "_profile_build",
    "run_job": "_kubernetes_run",
    "run_limited": "_limited",
    "run_limited_async": "_limited",
    "run_sandboxed": "_probe",
    "summarise_anndata": "_anndata",
    "summarise_anndata_sandboxed": "_anndata",
    "value_of": "_limited_outcome",
}


__getattr__ = lazy(__name__, _HOMES)


__all__ = [
    "PROFILE_NAMES",
    "AnnDataSummary",
    "Artifact",
    "BackendReport",
    "CellError",
    "CellEvent",
    "CellResult",
    "CellStatus",
    "Chunk",
    "Cluster",
    "Collected",
    "Crashed",
    "Enforcement",
    "Event",
    "ExecResult",
    "Finished",
    "Floor",
    "Invalid",
    "LimitHit",
    "Limits",
    "ModelEndpoint",
    "Mount",
    "Network",
    "NetworkRequest",
    "Output",
    "ProbeReport",
    "Profile",
    "Raised",
    "ReadLimits",
    "Rejected",
    "Returned",
    "RichOutput",
    "Sandbox",
    "SandboxSpec",
    "Session",
    "Shown",
    "Started",
    "Status",
    "Strength",
    "Usage",
    "build_profile",
    "built_profiles",
    "find_profile",
    "grade",
    "job_manifest",
    "keep_artifacts",
    "open_sandbox",
    "open_session",
    "probe",
    "reap",
    "remove_profiles",
    "run_job",
    "run_limited",
    "run_limited_async",
    "run_sandboxed",
    "summarise_anndata",
    "summarise_anndata_sandboxed",
    "value_of",
]
