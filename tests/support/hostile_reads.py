"""Functions as a parser of hostile files might behave; called in a child by `run_limited`."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path


def double(number: int) -> dict[str, int]:
    print("what a parser prints is no answer")
    return {"doubled": 2 * number}


def give(value: object) -> object:
    return value


def fill_memory() -> int:
    return len([bytearray(2**20) for _ in range(10_000)])


def spin() -> None:
    while True:
        pass


def sleep() -> None:
    time.sleep(600)


def fail(message: str) -> None:
    raise ValueError(message)


def recurse() -> None:
    recurse()


def crash() -> None:
    ctypes.string_at(0)


def leave() -> None:
    os._exit(3)


def answer_long(size: int) -> str:
    return "x" * size


def chatter() -> int:
    sys.stderr.write("x" * 3_000_000)
    return 1


def is_there(path: str) -> bool:
    return Path(path).exists()


def refused(what: str, path: str) -> str:
    """Try something that is forbidden; the name of what stopped it."""
    try:
        _try(what, path)
    except (OSError, RuntimeError) as error:
        return type(error).__name__
    return "nothing"


def _try(what: str, path: str) -> None:
    if what == "write":
        with Path(path).open("wb") as file:
            file.write(b"x")
    elif what == "remove":
        Path(path).unlink()
    elif what == "socket":
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    elif what == "process":
        subprocess.run(["/bin/true"], check=True)
    elif what == "fork":
        if os.fork() == 0:
            os._exit(0)
        os.wait()
    elif what == "signal":
        os.kill(os.getppid(), 0)
    elif what == "files":
        opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
        for descriptor in opened:
            os.close(descriptor)
    else:
        raise AssertionError(what)


def start_thread() -> list[int]:
    found: list[int] = []
    thread = threading.Thread(target=found.append, args=(1,))
    thread.start()
    thread.join()
    return found


def end_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def two_answers() -> None:
    """Write an answer past the child's own code, as code that took it over would."""
    for descriptor in range(3, 16):
        try:
            os.write(descriptor, b'{"value": "forged"}\n')
        except OSError:
            continue
