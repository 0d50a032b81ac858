"""Profiles: environments of programs, ready-made for a sandbox.

A profile is a virtual environment at a place that every user may read, because a sandbox that root
opens has dropped root's rights before it looks at a file. Beside it lie caches, filled when it was
built: what numba has compiled and what matplotlib knows of the fonts. numba passes a cache by that
it can't write to, and then compiles for half a minute what takes a second; so the profile's
`python` first copies the caches into the sandbox's /tmp.

A virtual environment holds absolute paths, and numba's cache is keyed by them: a profile is built
where it stays, and seen inside at the same path. What makes it whole is its marker file, which is
written last.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from pydantic import Field, ValidationError

from ..errors import InputError
from ..schema import Model
from ._spec import Mount, SandboxSpec

ROOT_VARIABLE = "BASANITE_PROFILES"
"""Names the folder that holds all profiles."""
MARKER = "profile.json"
_SYSTEM = Path("/var/lib/basanite/profiles")
CACHES = PurePosixPath("/tmp/.profile")
"""Where the caches are inside a sandbox, which has a /tmp of its own."""
_LAYOUT = "1"  # a new layout of the folder is a new profile
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a profile is made of."""

    name: str
    summary: str
    requirements: str
    """The text of a requirements file in which every package has its version."""
    warm: Traversable
    """A script that is run once with a folder to write to, and fills the caches."""

    @property
    def sha256(self) -> str:
        """The hash of all that decides what is built."""
        parts = (_LAYOUT, self.requirements, self.warm.read_text(encoding="utf-8"))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def prefix(self) -> Path:
        """The folder that this recipe is built into."""
        return profiles_root() / f"{self.name}-{self.sha256[:12]}"


_RECIPES = {
    "base": ("a Jupyter kernel, numpy, pandas, scipy and matplotlib", "warm.py"),
    "scanpy": ("single-cell analysis: scanpy, anndata, leidenalg, umap-learn", "workflow.py"),
}
PROFILE_NAMES: tuple[str, ...] = tuple(_RECIPES)
"""Names of the profiles that can be built."""


def find_recipe(name: str) -> Recipe:
    """Give what the profile of this name is made of.

    Raises:
        InputError: there is no profile of this name.
    """
    if name not in _RECIPES:
        raise InputError(
            f"there is no profile {name!r}",
            where="profile",
            todo=f"Choose one of: {', '.join(_RECIPES)}.",
        )
    summary, warm = _RECIPES[name]
    folder = files(__package__) / "profiles" / name
    requirements = (folder / "requirements.txt").read_text(encoding="utf-8")
    return Recipe(name, summary, requirements, folder / warm)


class Profile(Model):
    """A profile that is built; `find_profile` and `build_profile` give it."""

    name: str
    prefix: Path
    """The virtual environment, on this machine and inside."""
    sha256: str
    """The hash of the requirements and of the script that filled the caches."""
    python_version: str
    packages: dict[str, str]
    """Names and versions of all that is installed."""
    size_bytes: int = Field(ge=0)
    build_s: float = Field(ge=0)
    """Seconds that the build took."""

    @property
    def python(self) -> Path:
        """The interpreter that copies the caches before it starts; for inside of a sandbox."""
        return self.prefix / "start" / "python"

    @property
    def caches(self) -> Path:
        """The folder of the caches; read it, and let nothing write to it."""
        return self.prefix / "caches"

    def variables(self, caches: PurePosixPath = CACHES) -> dict[str, str]:
        """Give the variables that programs of the profile need.

        Args:
            caches: a copy of the caches, in a folder that can be written.
        """
        return {
            **dict.fromkeys(_ONE_THREAD, "1"),
            "PATH": f"{self.prefix}/start:{self.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
            "VIRTUAL_ENV": str(self.prefix),
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": str(caches / "matplotlib"),
            "NUMBA_CACHE_DIR": str(caches / "numba"),
        }

    def apply(self, spec: SandboxSpec) -> SandboxSpec:
        """Give the specification of a sandbox in which `python` is the profile's.

        The specification's own variables win over the profile's. One thread is the default:
        with more, clusters and embeddings differ from run to run.

        Raises:
            PolicyError: a mount of the specification is at the profile's place.
        """
        fields = {name: getattr(spec, name) for name in type(spec).model_fields}
        mount = Mount(source=self.prefix, target=PurePosixPath(self.prefix), kind="environment")
        fields["mounts"] = (*spec.mounts, mount)
        fields["environment"] = {**self.variables(), **spec.environment}
        fields["python"] = str(self.python)
        return SandboxSpec.create(**fields)


def profiles_root() -> Path:
    """Give the folder that holds all profiles.

    Raises:
        InputError: `BASANITE_PROFILES` is not an absolute path.
    """
    named = os.environ.get(ROOT_VARIABLE)
    if named:
        if not Path(named).is_absolute():
            raise InputError(f"{named!r} is not an absolute path", where=ROOT_VARIABLE)
        return Path(named)
    if os.geteuid() == 0:
        return _SYSTEM
    data = os.environ.get("XDG_DATA_HOME")
    home = Path(data) if data else Path.home() / ".local" / "share"
    return home / "basanite" / "profiles"


def find_profile(name: str) -> Profile | None:
    """Give the profile of this name if it is built, of today's list of packages, and whole.

    Raises:
        InputError: there is no profile of this name.
    """
    recipe = find_recipe(name)
    places = [recipe.prefix]
    if not os.environ.get(ROOT_VARIABLE):
        places.append(_SYSTEM / recipe.prefix.name)  # root's serve everyone
    for place in places:
        profile = read_marker(place)
        if profile is not None and profile.sha256 == recipe.sha256:
            return profile
    return None


def built_profiles() -> Iterator[Profile]:
    """Give all profiles that are built, also those of other versions."""
    root = profiles_root()
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        profile = read_marker(folder)
        if profile is not None:
            yield profile


def read_marker(prefix: Path) -> Profile | None:
    """Give the profile in a folder; None where it is not whole, was moved, or lacks its Python."""
    try:
        text = (prefix / MARKER).read_text(encoding="utf-8")
        profile = Profile.model_validate_json(text)
    except (OSError, ValidationError, UnicodeDecodeError):
        return None
    moved = profile.prefix != prefix
    return None if moved or not (prefix / "bin" / "python").exists() else profile


__all__ = [
    "CACHES",
    "MARKER",
    "PROFILE_NAMES",
    "ROOT_VARIABLE",
    "Profile",
    "Recipe",
    "built_profiles",
    "find_profile",
    "find_recipe",
    "profiles_root",
    "read_marker",
]
