"""What code writes: kept within bounds, in full in a file, never lost and never believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.sandboxes import Chunk, Event, Status
from basanite.sandboxes._capture import Capture, decoded
from support.sandboxing import opened

FLOOD = "import os\nfor n in range({times}): os.write({stream}, b'%08d\\n' % n * 1000)"


@pytest.mark.parametrize("stream", [1, 2])
async def test_long_output_keeps_its_beginning_and_end(needs_bubblewrap: None, stream: int) -> None:
    async with opened(limits={"output_bytes": 20_000}) as sandbox:
        result = await sandbox.execute(code=FLOOD.format(times=100, stream=stream))
        output = result.stdout if stream == 1 else result.stderr
        other = result.stderr if stream == 1 else result.stdout
        assert output.log is not None
        whole = output.log.read_bytes()
    assert (output.total_bytes, other.total_bytes, other.text) == (900_000, 0, "")
    assert output.truncated
    assert output.log_complete
    assert len(whole) == 900_000
    assert whole.startswith(b"00000000\n")
    assert output.text.startswith("00000000\n")
    assert output.text.endswith("00000099\n")
    assert "\n[... 880,000 bytes left out ...]\n" in output.text
    assert len(output.text) < 20_100
    # Cutting the text for the result is no limit that the code has met.
    assert result.limits_hit == ()


async def test_more_than_the_log_holds_is_read_and_counted(needs_bubblewrap: None) -> None:
    async with opened(limits={"log_mb": 1, "output_bytes": 1000}) as sandbox:
        chunks: list[Event] = []
        result = await sandbox.execute(
            code=FLOOD.format(times=300, stream=1), on_event=chunks.append
        )
        output = result.stdout
        assert output.log is not None
        assert output.log.stat().st_size == 1 << 20
    assert result.ok
    assert result.limits_hit == ("output",)
    assert (output.total_bytes, output.log_complete) == (2_700_000, False)
    assert output.text.endswith("00000299\n")
    # What is past the log is not sent either.
    assert sum(len(e.data) for e in chunks if isinstance(e, Chunk)) == 1 << 20


async def test_more_than_the_log_holds_can_be_the_end(needs_bubblewrap: None) -> None:
    limits = {"log_mb": 1, "on_output_limit": "kill", "wall_s": 20}
    async with opened(limits=limits) as sandbox:
        result = await sandbox.execute(["sh", "-c", "yes"])
        assert result.stdout.log is not None
        assert result.stdout.log.stat().st_size == 1 << 20
    assert (result.status, result.limits_hit) == (Status.OUTPUT_LIMIT, ("output",))
    assert result.usage.wall_s < 5


async def test_both_streams_are_read_at_once(needs_bubblewrap: None) -> None:
    code = (
        "import os\nfor _ in range(50): os.write(2, b'e' * 65536)\n"
        "for _ in range(50): os.write(1, b'o' * 65536)"
    )
    async with opened() as sandbox:
        result = await sandbox.execute(code=code)
    assert result.ok
    assert (result.stdout.total_bytes, result.stderr.total_bytes) == (3_276_800, 3_276_800)


async def test_output_of_a_process_that_outlives_its_parent(needs_bubblewrap: None) -> None:
    async with opened() as sandbox:
        result = await sandbox.execute(["sh", "-c", "(sleep 60; echo late) & echo early"])
    assert result.ok
    assert result.stdout.text == "early\n"
    assert result.usage.wall_s < 5


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("ä€😀".encode(), "ä€😀"),
        (b"\xff\xfe", "\\xff\\xfe"),
        (b"\xc3", "\\xc3"),
        (b"a\0b\x1b[2J", "a\0b\x1b[2J"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
    ],
)
def test_bytes_that_are_no_text_are_shown(data: bytes, text: str) -> None:
    assert decoded(data) == text


def _captured(parts: list[bytes], folder: Path, keep: int, log: int) -> tuple[bytes, str, Capture]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    capture = Capture(reader, folder / "log", keep=keep, log_limit=log)
    for part in parts:
        os.write(writer, part)
        capture.read()
    os.close(writer)
    capture.read()
    output = capture.close()
    assert output.total_bytes == sum(map(len, parts))
    assert output.log is not None
    return output.log.read_bytes(), output.text, capture


@settings(database=None, deadline=None)
@given(
    parts=st.lists(st.binary(min_size=1, max_size=40).map(lambda b: b.replace(b"\n", b"x"))),
    keep=st.integers(1, 60),
    log=st.integers(1, 60),
)
def test_nothing_is_lost_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], keep: int, log: int
) -> None:
    ascii_parts = [bytes(byte % 26 + 97 for byte in part) for part in parts]
    whole = b"".join(ascii_parts)
    logged, text, capture = _captured(ascii_parts, tmp_path_factory.mktemp("log"), keep, log)
    assert logged == whole[:log]
    assert capture.ended
    assert capture.over == (len(whole) > log)
    if len(whole) <= keep:
        assert text == whole.decode()
    else:
        head, note, tail = text.split("\n")
        assert note == f"[... {len(whole) - keep:,} bytes left out ...]"
        assert whole.startswith(head.encode())
        assert whole.endswith(tail.encode())
        assert len(head) + len(tail) == keep


def test_the_reader_gives_way(tmp_path: Path) -> None:
    """A writer that never pauses must not keep the loop from its deadlines."""
    reads = 0
    whole = os.read

    def endless(descriptor: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        return b"x" * size

    reader, writer = os.pipe()
    capture = Capture(reader, tmp_path / "log", keep=10, log_limit=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "read", endless)
        capture.read()
    assert 0 < reads < 100
    assert os.read is whole
    capture.close()
    os.close(writer)
