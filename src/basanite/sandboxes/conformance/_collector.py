"""Attacks on those who come later: the collector, the supervisor's uploads, graders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ...errors import PolicyError
from .._result import ExecResult
from .._sandbox import Sandbox
from ._check import Check, Evidence

_LINKS = """
os.symlink(bait["secret"], "/work/link")
os.symlink("/etc/passwd", "/work/passwd")
os.symlink("../../../../../../etc", "/work/folder")
os.symlink("/proc/self/root", "/work/root")
os.symlink("loop", "/work/loop")
os.symlink(bait["folder"], "/work/out")
open("/work/good.txt", "w").write("good")
os.link("/work/good.txt", "/work/twice.txt")
try:
    os.mkfifo("/work/pipe")
except OSError:
    pass
listener = socket.socket(socket.AF_UNIX)
listener.bind("/work/socket")
os.mkdir("/work/sub")
os.symlink("..", "/work/sub/up")
open("/work/sub/in.txt", "w").write("in")
held("links, pipes and sockets are laid out")
"""

_NAMES = """
names = [b"x" * 255, b"new\\nline", b"esc\\x1b[2Jape", "rtl\\u202etxt.exe".encode(), b"-rf",
         b"--help", b"\\xff\\xfe\\x80", b"~", b"$(id)", b"`id`", b"a b", b"..a", b"...", b"*",
         b"con", b"\\\\..\\\\up", b"tab\\there", "zero\\u200bwidth".encode(),
         b"@basanite-conformance x", b"quote'\\"", b"%s%n"]
for name in names:
    try:
        open(b"/work/" + name, "wb").close()
    except OSError:
        pass
os.makedirs("/work/.cache/numba")
open("/work/.cache/numba/x", "w").close()
os.makedirs("/work/__pycache__")
path = "/work/deep"
for _ in range(60):
    os.mkdir(path)
    path += "/" + "n" * 60
held("names are laid out")
"""

_RIGHTS = """
open("/work/closed.txt", "w").write("closed")
os.makedirs("/work/a/b/c")
open("/work/a/b/c/inner.txt", "w").write("inner")
os.chmod("/work/closed.txt", 0)
os.chmod("/work/a/b/c/inner.txt", 0)
for folder in ("/work/a/b/c", "/work/a/b", "/work/a"):
    os.chmod(folder, 0)
held("rights are taken away")
"""

_OWN_RIGHTS = """
open("/work/result.txt", "w").write("there")
os.chmod("/work", 0)
held("the right to the work folder is taken away")
"""

_STILL = """
held("a second execution runs")
"""

_MANY = """
for n in range(400):
    open("/work/%03d.txt" % n, "w").write("x" * 10)
open("/work/zzz-large.bin", "wb").write(b"x" * (3 << 20))
held("many files")
"""

_BOMBS = """
import io, zipfile
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("../../../../tmp/basanite-slip", b"x")
    archive.writestr("big", b"\\0" * (20 << 20))
open("/work/bomb.zip", "wb").write(buffer.getvalue())
open("/work/evil.pkl", "wb").write(b"cos\\nsystem\\n(S'exit 3'\\ntR.")
held("an archive and a pickle")
"""

_PLANTED = """
for name in ("sitecustomize", "usercustomize", "json", "conftest", "encodings"):
    open("/work/" + name + ".py", "w").write("raise SystemExit('planted')")
os.makedirs("/work/.local/lib/python3.11/site-packages", exist_ok=True)
open("/work/.pythonrc.py", "w").write("raise SystemExit('planted')")
open("/work/.bashrc", "w").write("exit 9")
open("/work/pyvenv.cfg", "w").write("home = /work")
print("SCORE: 1.0")
held("modules are planted")
"""

_ISOLATED = """
import subprocess
ran = subprocess.run([sys.executable, "-I", "-c", "import json, sys; print(json.__file__)"],
                     capture_output=True, text=True)
bad = ran.returncode != 0 or "/work/" in ran.stdout
if bad:
    escaped("an isolated interpreter read what was planted: " + ran.stderr[-100:])
else:
    held("isolated")
"""

_EMPTY = """
left = os.listdir("/work") + os.listdir("/tmp") + os.listdir("/dev/shm")
escaped("a fresh sandbox holds " + ", ".join(left)) if left else held("a fresh sandbox is empty")
"""

_SWAP = """
os.makedirs("/work/dir")
os.symlink(bait["folder"], "/work/host")
os.symlink(bait["secret"], "/work/target.txt")
os.symlink("/proc/self/root" + bait["folder"], "/work/dir/deep")
os.rename("/work/dir", "/work/was")
os.symlink(bait["folder"], "/work/dir")
try:
    os.mkfifo("/work/fifo")
except OSError:
    pass
os.mkdir("/work/folder")
held("links lie in the way of uploads")
"""

_AFTER_SWAP = """
target = "/work/target.txt"
own = os.path.isfile(target) and not os.path.islink(target) and open(target).read() == "data"
held("the upload is a file of its own") if own else escaped("the upload went elsewhere")
"""


def _only_plain_files(seen: Evidence) -> Iterator[str]:
    taken = {a.path for a in seen.result.artifacts}
    if not {"good.txt", "twice.txt", "sub/in.txt"} <= taken:
        yield "a regular file was not taken"
    odd = taken - {"good.txt", "twice.txt", "sub/in.txt"}
    if odd:
        yield f"what is no regular file was taken: {', '.join(sorted(odd))}"
    refused = {r.path for r in seen.result.rejected}
    named = {"link", "passwd", "folder", "root", "loop", "out", "sub/up"}
    if seen.enforced["kernel"].by == "shared":
        named.add("socket")  # a kernel of its own keeps it to itself
    if not named <= refused:
        yield "a link was neither taken nor named as rejected"
    yield from _secret_in(seen, seen.result)


def _secret_in(seen: Evidence, result: ExecResult) -> Iterator[str]:
    for artifact in result.artifacts:
        if artifact.file is not None and seen.bait.token.encode() in artifact.file.read_bytes():
            yield f"the host's secret came out as {artifact.path}"


def _names_are_plain(seen: Evidence) -> Iterator[str]:
    for path in (a.path for a in seen.result.artifacts):
        if not path.isprintable() or ".." in path.split("/") or path.startswith("/"):
            yield f"the name {path!r} was passed on"
        if path.startswith(".cache") or "__pycache__" in path:
            yield f"the cache {path!r} was taken"
    for rejected in seen.result.rejected:
        if not rejected.path.isprintable():
            yield f"the name {rejected.path!r} was passed on"
    if not any(a.path == "a b" for a in seen.result.artifacts):
        yield "a plain name was not taken"
    if len(seen.result.rejected) < 8:
        yield "rejected names are not reported"


def _inner_files(seen: Evidence) -> Iterator[str]:
    taken = {a.path: a.size for a in seen.result.artifacts}
    if taken != {"closed.txt": 6, "a/b/c/inner.txt": 5}:
        yield f"files without rights: only {sorted(taken)} were taken"


def _own_folder(seen: Evidence) -> Iterator[str]:
    for result in seen.results:
        if not any(a.path == "result.txt" for a in result.artifacts):
            yield "files of a work folder without rights were not taken"


def _bounded(seen: Evidence) -> Iterator[str]:
    result = seen.result
    if len(result.artifacts) > 100 or sum(a.size for a in result.artifacts) > 1 << 20:
        yield "more was taken than allowed"
    if not result.rejected:
        yield "what was left out is not named"


def _as_bytes(seen: Evidence) -> Iterator[str]:
    for artifact in seen.result.artifacts:
        data = artifact.file.read_bytes() if artifact.file is not None else b""
        if hashlib.sha256(data).hexdigest() != artifact.sha256 or len(data) != artifact.size:
            yield f"{artifact.path} is not what its checksum says"
    if len(seen.result.artifacts) != 2:
        yield "an artifact was unpacked or left out"


async def _upload(sandbox: Sandbox, seen: Evidence) -> None:
    await sandbox.upload("target.txt", b"data")
    for path in ("dir/new.txt", "was/deep/new.txt", "host/new.txt", "../up.txt", "/tmp/x", "folder",
                 "target.txt/x", "a/../../b"):  # fmt: skip
        try:
            await sandbox.upload(path, b"data")
        except PolicyError:
            seen.held.append(f"an upload to {path}")
        else:
            seen.escaped.append(f"an upload to {path} was done")
    for name in ("new.txt", "up.txt"):
        if (seen.bait.folder / name).exists():
            seen.escaped.append("an upload left the work folder")


CHECKS = (
    Check(
        "special_files",
        "Links, pipes and sockets are named and not taken; nothing is read through them.",
        _LINKS,
        ("files",),
        _only_plain_files,
    ),
    Check(
        "hostile_names",
        "Names that could deceive are rejected, escaped for display.",
        _NAMES,
        ("files",),
        _names_are_plain,
    ),
    Check(
        "files_without_rights",
        "Files and folders whose rights were taken away are taken all the same, and removed.",
        _RIGHTS,
        ("files",),
        _inner_files,
    ),
    Check(
        "files_without_rights_on_disk",
        "The same on disk.",
        _RIGHTS,
        ("files",),
        _inner_files,
        spec={"workdir": "disk"},
    ),
    Check(
        "work_folder_without_rights",
        "Taking away the rights to the work folder itself breaks nothing.",
        _OWN_RIGHTS,
        ("files",),
        _own_folder,
        again=_STILL,
    ),
    Check(
        "many_artifacts",
        "Number and size of what is taken are bounded.",
        _MANY,
        ("files",),
        _bounded,
        limits={"artifacts": 100, "artifacts_mb": 1},
    ),
    Check(
        "bombs",
        "Archives and pickles come out as bytes; nothing unpacks them.",
        _BOMBS,
        ("files",),
        _as_bytes,
    ),
    Check(
        "planted_modules",
        "What lies in the work folder changes neither an isolated interpreter nor a new sandbox.",
        _PLANTED,
        ("files",),
        fresh=_EMPTY,
    ),
    Check(
        "isolated_interpreter",
        "`python -I` reads nothing of the work folder.",
        _PLANTED + _ISOLATED,
        ("files",),
    ),
    Check(
        "uploads",
        "An upload follows no link that code inside has laid in its way.",
        _SWAP,
        ("files",),
        between=_upload,
        again=_AFTER_SWAP,
    ),
)

__all__ = ["CHECKS"]
