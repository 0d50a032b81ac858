"""Runs on disk, with what the runs made up for reports hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from basanite.schema import Answer, InvalidRow, Judgment, ModelIdentity, Sampling
from basanite.store import InputInfo, Manifest, Record, RunFolder, answer_record

from .fake_runs import FakeRun
from .store_samples import FINGERPRINT, make_manifest

PRIVATE = ("gpu-7.lab.example", "10.9.8.7", "/srv/models", "/home/zoe", "embargoed")
"""What the manifest of `private_manifest` holds and no public export may show."""


def private_manifest(judge: str = "claims", *, rows: int = 1, **changes: object) -> Manifest:
    """Make a manifest that tells where things lie: hosts, paths, the ledger."""
    model = ModelIdentity(
        name="/srv/models/Qwen3-8B",
        kind="openai",
        engine="vllm 0.32.0 at http://gpu-7.lab.example:8000",
        root="/srv/models/Qwen3-8B/snapshot",
    )
    checks = ModelIdentity(name="checker", kind="openai", root="/srv/models/checker")
    fingerprint = FINGERPRINT.model_copy(
        update={
            "judge": judge,
            "model": model,
            "sampling": Sampling(seed=3),
            "options": {
                "check_model": checks.model_dump(mode="json"),
                "frozen": "/home/zoe/f.json",
            },
        }
    )
    return make_manifest(
        judge=fingerprint,
        fingerprint_digest=fingerprint.digest,
        command=["basanite", "judge", judge, "/home/zoe/embargoed/in.jsonl"],
        endpoint="http://gpu-7.lab.example:8000/v1",
        endpoints={
            "extract": "http://gpu-7.lab.example:8000/v1",
            "check": "http://10.9.8.7:8001/v1",
        },
        input=InputInfo(path="/home/zoe/embargoed/in.jsonl", sha256="0" * 64, rows=rows),
        **changes,
    )


def write_run(
    path: Path,
    rows: Iterable[Answer | InvalidRow],
    judged: Iterable[Judgment],
    manifest: Manifest,
) -> Path:
    """Write a run; judgments are kept in the order in which they are given."""
    with RunFolder.create(path, manifest) as folder:
        asyncio.run(_fill(folder, rows, judged))
    return path


async def _fill(
    folder: RunFolder, rows: Iterable[Answer | InvalidRow], judged: Iterable[Judgment]
) -> None:
    prefix = folder.manifest.judge.judge
    for row in rows:
        folder.ledger.submit(answer_record(folder.run, row))
    await folder.ledger.flush()
    for one in judged:
        body = one.model_dump(mode="json")
        folder.ledger.submit(Record(folder.run, "judgment", f"{prefix}/{one.subject_id}", body))
    await folder.ledger.flush()


def write_fake(path: Path, fake: FakeRun) -> Path:
    """Write a run that was made up for reports, judged in the reverse of its input's order."""
    source = fake.manifest["input"]
    judge = fake.manifest["judge"]
    assert isinstance(source, dict)
    assert isinstance(judge, dict)
    rows = source["rows"]
    assert isinstance(rows, int)
    manifest = private_manifest(str(judge["judge"]), rows=rows)
    return write_run(path, fake.rows, reversed(fake.judged), manifest)
