"""A program that opens sandboxes of several kinds and waits to be killed.

Run as `python -m support.doomed_supervisor`; it says `ready` and the ids of its sandboxes.
"""

from __future__ import annotations

import asyncio

from basanite.sandboxes import Sandbox, open_sandbox
from support.sandboxing import small

IDLE = "idle"
KINDS = {
    IDLE: "",
    "busy": "while True: pass",
    "daemon": (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for number in range(1, 32):\n"
        "        if number not in (9, 17, 19): signal.signal(number, signal.SIG_IGN)\n"
        "print('up', flush=True)\n"
        "time.sleep(300)"
    ),
    "stopped": "import os; print('up', flush=True); os.kill(os.getpid(), 19)",
    "writing": "import os\nwhile True: os.write(1, b'x' * 65536)",
}


async def _opened(kind: str) -> tuple[Sandbox, asyncio.Task[object]]:
    spec = small(workdir="disk" if kind == "daemon" else "memory", limits={"wall_s": 600})
    sandbox = await open_sandbox(spec, backend="bubblewrap")
    await sandbox.upload("deep/er/file", b"x")
    code = KINDS[kind]
    work = sandbox.execute(code=code) if code else asyncio.sleep(600)
    return sandbox, asyncio.ensure_future(work)


async def main() -> None:
    """Open one sandbox of each kind."""
    opened = [await _opened(kind) for kind in KINDS]
    await asyncio.sleep(0.5)
    print("ready", *(sandbox._folder.id for sandbox, _ in opened if sandbox._folder), flush=True)
    await asyncio.gather(*(work for _, work in opened))


if __name__ == "__main__":
    asyncio.run(main())
