"""Going on with a run by another judge or on another input: what differs is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from basanite.errors import InputError
from basanite.schema import Fingerprint, Sampling
from basanite.store import Manifest, RunFolder
from support.store_samples import FINGERPRINT, make_manifest


@pytest.fixture
def run(tmp_path: Path) -> Path:
    judge = changed(sampling=Sampling(seed=1), options={"direction": "both"})
    RunFolder.create(tmp_path / "run", judged_by(judge)).close()
    return tmp_path / "run"


def changed(**changes: object) -> Fingerprint:
    return FINGERPRINT.model_copy(update=changes)


def judged_by(judge: Fingerprint, **changes: object) -> Manifest:
    return make_manifest(judge=judge, fingerprint_digest=judge.digest, **changes)


def refusal(run: Path, manifest: Manifest) -> str:
    with pytest.raises(InputError) as caught:
        RunFolder.resume(run, manifest)
    assert caught.value.where == str(run)
    RunFolder.open(run).close()  # nothing of it is locked or spoilt
    return caught.value.what


def test_each_setting_that_differs_is_named_with_both_values(run: Path) -> None:
    judge = changed(sampling=Sampling(seed=2), options={"direction": "recall", "triplets": True})
    assert refusal(run, judged_by(judge)) == (
        "the run there was made with another judge, model or prompts: "
        'judge.options.direction was "both", is now "recall"; '
        "judge.options.triplets was nothing, is now true; "
        "judge.sampling.seed was 1, is now 2"
    )


def test_another_input_is_named_too(run: Path) -> None:
    other = make_manifest().input.model_copy(update={"sha256": "1" * 64, "rows": 7})
    judge = changed(sampling=Sampling(seed=1), options={"direction": "both"})
    found = refusal(run, judged_by(judge, input=other))
    assert found.startswith("the run there was made with another input: input.rows was 1, is now 7")
    assert f'input.sha256 was "{"0" * 59}…, is now "{"1" * 59}…' in found
    both = refusal(run, judged_by(changed(parser_version="2"), input=other))
    assert "another judge, model or prompts and another input: " in both
    assert 'judge.parser_version was "1", is now "2"' in both


def test_of_long_values_the_part_is_shown_in_which_they_differ(run: Path) -> None:
    path = "/models/" + "x" * 200
    first = changed(options={"adapter": f"{path}/a"})
    RunFolder.create(run.parent / "long", judged_by(first)).close()
    found = refusal(run.parent / "long", judged_by(changed(options={"adapter": f"{path}/b"})))
    assert 'xx/a", is now …' in found
    assert found.endswith('xx/b"')
    assert len(found) < 250


def test_many_differences_are_counted(run: Path) -> None:
    prompts = {f"p{number:02d}": "0" * 64 for number in range(20)}
    found = refusal(run, judged_by(changed(prompts=prompts, sampling=Sampling(seed=1))))
    assert found.count(" is now ") == 8
    assert found.endswith("; and 13 more")  # of 20 prompts and a direction


def test_equal_settings_under_another_digest_are_refused(run: Path) -> None:
    judge = changed(sampling=Sampling(seed=1), options={"direction": "both"})
    found = refusal(run, make_manifest(judge=judge, fingerprint_digest="x"))
    assert f'fingerprint_digest was "{judge.digest[:20]}' in found
    assert 'is now "x"' in found


def test_what_changes_no_score_may_differ(run: Path) -> None:
    judge = changed(sampling=Sampling(seed=1), options={"direction": "both"})
    elsewhere = make_manifest().input.model_copy(update={"path": "moved/in.jsonl"})
    manifest = judged_by(judge, input=elsewhere, limits={"concurrency": 3}, cache="use")
    RunFolder.resume(run, manifest).close()
