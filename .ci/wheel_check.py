"""Check a built wheel: it holds the package and nothing else, and all of it can be imported.

python .ci/wheel_check.py files WHEEL SOURCE     compare with the files in SOURCE/basanite
python .ci/wheel_check.py imports SOURCE         import each subpackage as installed here
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import zipfile
from pathlib import Path

_NOT_SHIPPED = {"__pycache__"}


def source_files(source: Path) -> set[str]:
    """Give the package's files in a source tree, relative to it."""
    return {
        path.relative_to(source).as_posix()
        for path in (source / "basanite").rglob("*")
        if path.is_file() and not _NOT_SHIPPED & set(path.parts)
    }


def check_files(wheel: Path, source: Path) -> list[str]:
    """Give what is wrong with the wheel's list of files."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    info = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    shipped, expected = names - info, source_files(source)
    problems = [f"in the wheel, not in the sources: {name}" for name in sorted(shipped - expected)]
    problems += [f"in the sources, not in the wheel: {name}" for name in sorted(expected - shipped)]
    if not any(name.endswith("/licenses/LICENSE") for name in info):
        problems.append("the wheel holds no LICENSE")
    return problems


def check_imports(source: Path) -> list[str]:
    """Give what is wrong with the package as this interpreter has it installed."""
    import basanite

    problems = []
    if source.resolve() in Path(basanite.__file__).resolve().parents:
        return ["basanite is imported from the sources, not from where it was installed"]
    walk = pkgutil.walk_packages(basanite.__path__, "basanite.", onerror=lambda name: None)
    packages = {module.name for module in walk if module.ispkg} | {"basanite"}
    expected = {
        name.removesuffix("/__init__.py").replace("/", ".")
        for name in source_files(source)
        if name.endswith("/__init__.py")
    }
    problems += [
        f"not found where it was installed: {name}" for name in sorted(expected - packages)
    ]
    for name in sorted(expected):
        try:
            importlib.import_module(name)
        except ImportError as error:
            problems.append(f"import {name}: {error}")
    print(f"imported {len(expected)} packages from {Path(basanite.__file__).parent}")
    return problems


def main(arguments: list[str]) -> int:
    """Run one of the two checks and give the exit code."""
    if arguments[:1] == ["files"] and len(arguments) == 3:
        problems = check_files(Path(arguments[1]), Path(arguments[2]))
    elif arguments[:1] == ["imports"] and len(arguments) == 2:
        problems = check_imports(Path(arguments[1]))
    else:
        print(__doc__)
        return 2
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
