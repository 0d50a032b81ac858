"""The program that becomes the kernel inside.

It runs isolated from the work folder until the kernel is ready: files that earlier code has put
there must not decide how it starts. Everything that IPython keeps lies in /tmp.
"""

from __future__ import annotations

SOCKETS = "/run/basanite/kernel"
"""Where the sockets lie inside, in a file system of a few kilobytes."""
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
"""In the order of their sockets' numbers, from 1."""

_SOURCE = """\
import os, sys
for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
    os.environ[name] = "/tmp/.kernel/" + name.lower()
os.environ.pop("JPY_PARENT_PID", None)
if os.environ.get("MPLBACKEND", "").lower() == "agg":
    del os.environ["MPLBACKEND"]  # the profiles' own, for scripts; a kernel shows its figures
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
os.makedirs("/tmp/.kernel", mode=0o700)
try:
    from ipykernel.iostream import OutStream
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(@MISSING@)
class Stream(OutStream):
    waiting = 0
    def write(self, text):
        if not isinstance(text, str):
            return super().write(text)
        for start in range(0, len(text), @PIECE@):
            piece = text[start : start + @PIECE@]
            super().write(piece)
            self.waiting += len(piece)
            if self.waiting >= @PIECE@:
                self.waiting = 0
                self.flush()
        return len(text)
config = Config()
app = config.IPKernelApp
app.transport, app.ip, app.connection_file = "ipc", "@SOCKETS@/s", "/tmp/.kernel/connection.json"
app.shell_port, app.iopub_port, app.stdin_port, app.control_port, app.hb_port = 1, 2, 3, 4, 5
app.outstream_class = "__main__.Stream"
config.Session.key = b"@KEY@"
config.HistoryManager.enabled = False
config.InteractiveShell.colors = "nocolor"
config.InteractiveShellApp.ignore_cwd = True
kernel = IPKernelApp.instance(config=config)
kernel.initialize([])
paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
sys.path[:0] = ["", *(path for path in paths if path)]
kernel.start()
"""
_PIECE = 2**18
"""Characters of output in one message. ipykernel sends all that was written in a fifth of a second,
which may be more than is read outside; then the beginning of a flood would be lost as well."""
MISSING = 78
"""Exit code where the interpreter has no ipykernel."""


def source(key: str) -> str:
    """Give the program, with the key by which it signs."""
    program = _SOURCE
    for mark, value in (
        ("@SOCKETS@", SOCKETS),
        ("@MISSING@", str(MISSING)),
        ("@PIECE@", str(_PIECE)),
        ("@KEY@", key),
    ):
        program = program.replace(mark, value)
    return program


__all__ = ["CHANNELS", "MISSING", "SOCKETS", "source"]
