"""Writing Inspect's log files sample by sample."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from ._inspect_sample import Json, summary
from ._record import storable_text

_IN_MEMORY = 8 << 20
_ZIP64_FROM = 1 << 31


def write_eval(file: BinaryIO, header: Mapping[str, object], samples: Iterable[Json]) -> None:
    """Write a `.eval` file; of each sample half a kilobyte of the zip's index stays in memory.

    Args:
        file: what is written to.
        header: an `EvalLog` without samples.
        samples: `EvalSample`s, with ids and epochs that are unique together.
    """
    start = {name: header[name] for name in ("version", "eval", "plan")}
    # A zip takes one member at a time: the samples in short wait elsewhere for their turn.
    with (
        tempfile.SpooledTemporaryFile(_IN_MEMORY) as short,
        ZipFile(file, "w", ZIP_DEFLATED) as archive,
    ):
        _add(archive, "_journal/start.json", start)
        opening = b"["
        for sample in samples:
            _add(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
            short.write(opening + log_json(summary(sample)))
            opening = b",\n"
        short.write(b"]" if opening != b"[" else b"[]")
        large = short.tell() >= _ZIP64_FROM
        short.seek(0)
        with archive.open(_member("summaries.json"), "w", force_zip64=large) as member:
            shutil.copyfileobj(short, member)
        _add(archive, "header.json", header)


def write_json(file: BinaryIO, header: Mapping[str, object], samples: Iterable[Json]) -> None:
    """Write a `.json` log; readers of headers stop where the samples begin.

    Args:
        file: what is written to.
        header: an `EvalLog` without samples.
        samples: `EvalSample`s, with ids and epochs that are unique together.
    """
    file.write(log_json(header)[:-1])  # without its closing brace
    opening = b',\n"samples": [\n'
    for sample in samples:
        file.write(opening + log_json(sample))
        opening = b",\n"
    file.write(b"\n]}\n" if opening == b",\n" else b',\n"samples": []}\n')


def log_json(value: Mapping[str, object]) -> bytes:
    """Give JSON text in UTF-8 as Inspect reads it.

    NaN is written as `NaN`, as Inspect does for what is unscored. Half a surrogate pair, which its
    reader refuses, becomes U+FFFD.
    """
    return storable_text(json.dumps(value, ensure_ascii=False)).encode("utf-8")


def _add(archive: ZipFile, name: str, value: Mapping[str, object]) -> None:
    archive.writestr(_member(name), log_json(value))


def _member(name: str) -> ZipInfo:
    # A fixed date: the same run gives the same bytes.
    member = ZipInfo(name)
    member.compress_type = ZIP_DEFLATED
    return member
