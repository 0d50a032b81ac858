"""The child process in which llama.cpp runs; `EmbeddedServer` starts it.

A process of its own: a crash in native code does not take the run with it, its log goes to a
file, and the run's own process stays small. It ends when its standard input closes, which the
system does even if the parent is killed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys


def main(arguments: list[str] | None = None) -> None:
    """Load the model, print one JSON line with the URL, serve until standard input closes."""
    parser = argparse.ArgumentParser(description="llama.cpp's server on loopback.")
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--context-tokens", type=int, required=True)
    options = parser.parse_args(arguments)
    # Whatever native code prints goes to the log: nobody reads standard output after our line,
    # and a full pipe would stop the server.
    answer = os.dup(1)
    os.dup2(2, 1)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options.gguf
    params.model_alias = {options.name}
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.n_parallel = options.slots
    # llama.cpp divides the context among the slots: each must get the whole of it.
    params.n_ctx = options.context_tokens * options.slots
    # Otherwise llama.cpp makes the context smaller on its own where memory is short.
    params.fit_params = False
    # Slots keep their own prompts; a second cache in memory would only grow the process.
    params.cache_ram_mib = 0
    params.endpoint_props = True
    params.ui = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError:
        # llama.cpp has written the cause to the log, and a traceback would only hide it.
        sys.exit(1)
    os.write(answer, json.dumps({"url": server.listening_address}).encode() + b"\n")
    sys.stdin.buffer.read()
    # No orderly end: nothing here is worth keeping, and joining native threads can hang.
    os._exit(0)


if __name__ == "__main__":
    main()
