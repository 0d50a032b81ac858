"""The manifest: all that is known of how a run was made."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from importlib import metadata
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, JsonValue, field_validator

from ..schema import Fingerprint, Model

_GIT_SECONDS = 5.0


class Environment(Model):
    """The machine's part of a manifest."""

    basanite: str
    """Version of basanite."""
    python: str
    platform: str
    packages: dict[str, str]
    """Version of each direct dependency that is installed, optional ones included."""
    git_revision: str | None = None
    """Commit that is checked out in the current folder; None outside of a checkout."""
    git_dirty: bool | None = None
    """Whether tracked files differ from that commit; None where it can't be told."""


class InputInfo(Model):
    """Which file was judged."""

    path: str
    """As it was given."""
    sha256: str
    rows: int
    """Rows that are not blank, invalid ones included."""


class Manifest(Environment):
    """What was run, on what, with what; written once, when the run is made."""

    schema_version: Literal[1] = 1
    run: str = Field(default_factory=lambda: uuid.uuid4().hex)
    """Id of the run in the ledger."""
    created: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """UTC, ISO 8601."""
    command: list[str]
    """The command line as it was given."""
    judge: Fingerprint
    fingerprint_digest: str
    """`judge.digest`: what each judgment carries as `fingerprint`."""
    endpoint: str | None = None
    """URL of the model endpoint, without credentials and query, or `embedded`; None without a
    model."""
    capabilities: dict[str, JsonValue] = Field(default_factory=dict)
    """What the endpoint was found to offer."""
    endpoints: dict[str, str] = Field(default_factory=dict)
    """Role in the judge (`extract`, `check`, `rate`) to its model's endpoint, written as above."""
    input: InputInfo
    limits: dict[str, JsonValue] = Field(default_factory=dict)
    cache: str = "off"
    """Cache mode: `use`, `refresh` or `off`."""
    ledger: str | None = None
    """URL of the ledger without its password; None for `ledger.sqlite` in the folder."""

    @field_validator("endpoint")
    @classmethod
    def _without_secrets(cls, url: str | None) -> str | None:
        return None if url is None else public_url(url)

    @field_validator("endpoints")
    @classmethod
    def _all_without_secrets(cls, urls: dict[str, str]) -> dict[str, str]:
        return {role: public_url(url) for role, url in urls.items()}


def public_url(url: str) -> str:
    """Give a URL without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def collect_environment() -> Environment:
    """Find out the machine's part of a manifest; what can't be found out is None."""
    revision = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no") if revision else None
    return Environment(
        basanite=metadata.version("basanite"),
        python=sys.version.split()[0],
        platform=platform.platform(),
        packages=_packages(),
        git_revision=revision,
        git_dirty=None if changes is None else bool(changes),
    )


def _packages() -> dict[str, str]:
    names = {
        re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
        for requirement in metadata.requires("basanite") or ()
    }
    versions = {}
    for name in sorted(names - {"basanite"}):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # an extra that is not installed
    return versions


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            capture_output=True,
            check=True,
            encoding="utf-8",
            errors="replace",
            timeout=_GIT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
