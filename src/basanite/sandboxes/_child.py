"""Start a process of ours and learn when and how it ended, with what its children used."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from ..errors import SandboxLost

_MAX_SAID = 4096


class Child:
    """A process of this machine: a sandbox's supervisor, seen from outside.

    It is started in the thread of the event loop: the kernel's "die with your parent" looks at
    the thread that started a process, and this one lives as long as the loop.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        pass_fds: Sequence[int] = (),
        environment: Mapping[str, str],
        stdin: int | None = None,
        output: bool = True,
    ) -> None:
        pipe = subprocess.PIPE if output else subprocess.DEVNULL
        try:
            # The exec itself takes a millisecond; a thread would be the wrong parent, see above.
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=pipe,
                stderr=pipe,
                pass_fds=tuple(pass_fds),
                env=dict(environment),
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise SandboxLost(f"can't be started ({error.strerror})", where=arguments[0]) from error
        self.pid = self._process.pid
        self._pidfd = os.pidfd_open(self.pid)
        self.outputs_taken = not output
        self.exit_code: int | None = None
        """As a shell shows it: 128 + N after signal N."""
        self.cpu_s: float = 0.0
        """CPU time of the process and of what it waited for, known once it has ended."""

    def take_outputs(self) -> tuple[int, int]:
        """Give the non-blocking reading ends of stdout and stderr, now the caller's to close."""
        out, err = self._process.stdout, self._process.stderr
        if out is None or err is None:
            raise ValueError("the process was started without pipes")
        self.outputs_taken = True
        taken = os.dup(out.fileno()), os.dup(err.fileno())
        out.close()
        err.close()
        for descriptor in taken:
            os.set_blocking(descriptor, False)
        return taken

    def said(self) -> str:
        """Give the beginning of what it wrote to stderr, once it has ended; closes its outputs."""
        out, err = self.take_outputs()
        try:
            return os.read(err, _MAX_SAID).decode("utf-8", "replace").strip()
        except BlockingIOError:
            return ""
        finally:
            os.close(out)
            os.close(err)

    async def wait(self) -> int:
        """Wait for its end and give its exit code."""
        if self.exit_code is not None:
            return self.exit_code
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._pidfd, lambda: None if ended.done() else ended.set_result(None))
        try:
            await ended
        finally:
            loop.remove_reader(self._pidfd)
        return self._reap(0)

    def poll(self) -> int | None:
        """Give its exit code if it has ended."""
        return self.exit_code if self.exit_code is not None else self._reap_or_none()

    def _reap_or_none(self) -> int | None:
        try:
            return self._reap(os.WNOHANG)
        except BlockingIOError:
            return None

    def _reap(self, options: int) -> int:
        try:
            pid, status, used = os.wait4(self.pid, options)
        except ChildProcessError:
            # Someone else waited for all children of this process; how it ended is lost.
            raise SandboxLost(
                "another part of this program took the exit status",
                where=f"process {self.pid}",
                todo="Don't call os.wait() or set SIGCHLD to SIG_IGN beside a sandbox.",
            ) from None
        if pid == 0:
            raise BlockingIOError
        code = os.waitstatus_to_exitcode(status)
        self.exit_code = code if code >= 0 else 128 - code
        self.cpu_s = used.ru_utime + used.ru_stime
        self._process.returncode = code
        os.close(self._pidfd)
        return self.exit_code

    def kill(self) -> None:
        """Kill it, if it has not ended."""
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)


__all__ = ["Child"]
