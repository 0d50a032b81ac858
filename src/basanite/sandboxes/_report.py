"""What a probe of this machine finds."""

from __future__ import annotations

from pydantic import Field

from ..schema import Model
from ._enforcement import Enforcement
from ._spec import Floor


class BackendReport(Model):
    """One backend on this machine."""

    name: str
    available: bool
    version: str = ""
    why: str = ""
    """Why it is not available."""
    todo: str = ""
    """What makes it available."""
    enforced: dict[str, Enforcement] = Field(default_factory=dict)
    """Per aspect, with every limit set: by which mechanism it would be held, and how firmly."""
    floors: tuple[Floor, ...] = ()
    """The guarantees that it gives here."""


class ProbeReport(Model):
    """All backends on this machine, in the order in which they are chosen."""

    platform: str
    user: str
    """`root` or `unprivileged`."""
    groups: str
    """`cgroup-v2`, `cgroup-v1` or `none`."""
    groups_found: str
    """Where they are, or why there are none."""
    backends: tuple[BackendReport, ...] = ()

    def backend(self, name: str) -> BackendReport | None:
        """Give the report of one backend."""
        return next((report for report in self.backends if report.name == name), None)

    def __str__(self) -> str:
        lines = []
        for report in self.backends:
            state = "available" if report.available else f"not available: {report.why}"
            lines.append(f"{report.name}: {state}")
            if report.todo and not report.available:
                lines.append(f"  {report.todo}")
        return "\n".join(lines)


__all__ = ["BackendReport", "ProbeReport"]
