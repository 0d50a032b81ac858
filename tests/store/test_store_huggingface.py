"""The dataset folder, read with pyarrow and with `datasets` itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import InputError, UnscoredReason
from basanite.reports import summarise
from basanite.schema import Answer, InvalidRow, Judgment
from basanite.store import RunFolder, export_huggingface
from basanite.store._card import _size
from support.report_samples import agent_answers, claims_run, every_kind
from support.run_folders import PRIVATE, private_manifest, write_fake, write_run
from support.store_samples import make_answer, make_judgment

parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")


def export(run: Path, out: Path, **options: Any) -> dict[str, int]:
    with RunFolder.open(run) as folder:
        return export_huggingface(folder, out, summarise, **options)


def load(folder: Path, cache: Path) -> Any:
    datasets = pytest.importorskip("datasets", reason="needs datasets: make setup")
    return datasets.load_dataset(str(folder), split="test", cache_dir=str(cache))


def front_matter(folder: Path) -> dict[str, Any]:
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub: make setup")
    value = hub.metadata_load(folder / "README.md")
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("kind", ["claims", "facts", "rating", "choice"])
def test_datasets_reads_each_kind_of_run(kind: str, tmp_path: Path) -> None:
    fake = every_kind()[kind]
    run = write_fake(tmp_path / "run", fake)
    out = tmp_path / "out"
    assert export(run, out, rows_per_file=5)["items"] == len(fake.judged)
    rows = load(out, tmp_path / "cache")
    assert rows["id"] == [row.id for row in fake.rows]
    for found, row, judgment in zip(rows, fake.rows, fake.judged, strict=True):
        assert isinstance(row, Answer)
        assert (found["question"], found["answer"], found["truth"]) == (
            row.question,
            row.answer,
            row.truth,
        )
        assert found["status"] == "judged"
        for name, score in judgment.scores.items():
            assert found[f"score_{name}"] == score.value
            assert found[f"score_{name}_unscored"] == score.unscored_reason
        whole = judgment.model_dump(mode="json")
        for name in ("claims", "verdicts", "facts", "fact_verdicts"):
            assert json.loads(found[name]) == whole[name]
        for name in ("choice", "probabilities"):
            assert (found[name] and json.loads(found[name])) == whole[name]
        options = found["options"] and {one["letter"]: one["text"] for one in found["options"]}
        assert options == (row.options and dict(row.options))


def test_the_card_says_what_the_files_hold(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs datasets: make setup")
    run = write_fake(tmp_path / "run", claims_run(agent_answers(2)))
    export(run, tmp_path / "out")
    front = front_matter(tmp_path / "out")
    assert "license" not in front  # nobody named one
    assert front["size_categories"] == ["n<1K"]
    assert front["configs"] == [
        {"config_name": "default", "data_files": [{"split": "test", "path": "data/*.parquet"}]}
    ]
    assert front["dataset_info"]["config_name"] == "default"
    shown = datasets.Features._from_yaml_list(front["dataset_info"]["features"])
    (part,) = (tmp_path / "out" / "data").iterdir()
    assert shown == datasets.Features.from_arrow_schema(parquet.read_schema(part))
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Judge not validated" in text
    assert "8 rows with one judgment each" in text


def test_nothing_private_is_in_a_public_folder(tmp_path: Path) -> None:
    message = "http://10.9.8.7:8001/v1: no answer from gpu-7.lab.example, see /home/zoe/log.txt"
    judged = make_judgment("q1", None, UnscoredReason.HTTP_ERROR, message=message, notes=(message,))
    broken = InvalidRow(id="row-2", row=2, message="/home/zoe/embargoed/in.jsonl: no truth")
    rows: list[Answer | InvalidRow] = [make_answer("q1"), broken]
    run = write_run(tmp_path / "run", rows, [judged], private_manifest(rows=2))
    export(run, tmp_path / "out")
    (part,) = (tmp_path / "out" / "data").iterdir()
    found = parquet.read_table(part).to_pylist()
    assert "no answer from" in found[0]["message"]
    assert "no truth" in found[1]["message"]
    shown = json.dumps(found) + (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Qwen3-8B" in shown
    assert [word for word in PRIVATE if word in shown] == []


def test_each_row_of_the_input_has_one_and_says_why_it_has_no_score(tmp_path: Path) -> None:
    rows: list[Answer | InvalidRow] = [
        make_answer("good"),
        InvalidRow(id="row-2", row=2, message="row 2: truth is missing."),
        make_answer("later"),
        make_answer("lacking"),
        make_answer("half", answer="half \ud83d"),
    ]
    scores = make_judgment("good").scores
    other = make_judgment("x", None, UnscoredReason.TIMEOUT).scores["f1"]
    judged = [
        make_judgment("half", message="half \ud83d"),
        make_judgment("lacking"),
        make_judgment("good", scores=scores | {"recall": other}),
    ]
    run = write_run(tmp_path / "run", rows, judged, private_manifest(rows=7))
    counts = export(run, tmp_path / "out", rows_per_file=2)
    assert counts == {"items": 3, "not_judged": 4, "files": 3}  # two rows were never kept
    found = [
        row
        for part in sorted((tmp_path / "out" / "data").iterdir())
        for row in parquet.read_table(part).to_pylist()
    ]
    shown = [(row["id"], row["status"], row["score_f1"], row["score_f1_unscored"]) for row in found]
    assert shown == [
        ("good", "judged", 0.5, None),
        ("row-2", "invalid_row", None, "invalid_row"),
        ("later", "not_judged", None, "not_judged"),
        ("lacking", "judged", 0.5, None),
        ("half", "judged", 0.5, None),
    ]
    assert (found[4]["answer"], found[4]["message"]) == ("half \ufffd", "half \ufffd")
    reasons = [row["score_recall_unscored"] for row in found]
    assert reasons == ["timeout", "invalid_row", "not_judged", "not_reported", "not_reported"]
    assert found[1]["message"] == "row 2: truth is missing."
    assert found[0]["contexts"] == [
        {"text": "T cells.", "doc_id": "d1"},
        {"text": "B cells.", "doc_id": None},
    ]
    assert [row["options"] for row in found] == [None] * 5


def test_a_run_without_rows_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [], [], private_manifest(rows=0))
    with pytest.raises(InputError, match="holds no rows"):
        export(run, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_only_an_earlier_export_is_replaced_and_only_when_told(tmp_path: Path) -> None:
    run = write_fake(tmp_path / "run", claims_run(agent_answers(1)))
    out = tmp_path / "out"
    export(run, out)
    with pytest.raises(InputError, match="an earlier export is there"):
        export(run, out)
    assert export(run, out, force=True, rows_per_file=1)["files"] == 4
    assert len(list((out / "data").iterdir())) == 4
    (out / "data" / "mine.csv").write_text("a,b", encoding="utf-8")
    with pytest.raises(InputError, match="something other than an earlier export"):
        export(run, out, force=True)
    with pytest.raises(InputError, match="something other than an earlier export"):
        export(run, run, force=True)
    assert (out / "data" / "mine.csv").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


def test_an_export_of_many_scores_is_known_as_one(tmp_path: Path) -> None:
    scores = {f"score_number_{n}": make_judgment().scores["f1"] for n in range(200)}
    judged = make_judgment("q1", scores=scores, primary="score_number_0")
    run = write_run(tmp_path / "run", [make_answer("q1")], [judged], private_manifest())
    export(run, tmp_path / "out")
    assert export(run, tmp_path / "out", force=True)["items"] == 1


@pytest.mark.parametrize(
    ("rows", "name"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**5, "100K<n<1M"), (10**9, "1B<n<10B")],
)
def test_sizes(rows: int, name: str) -> None:
    assert _size(rows) == name


@settings(max_examples=25, deadline=None)
@given(text=st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_any_name_of_a_score_leaves_the_card_readable(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("card")
    name = f"x{text}"
    judged: Judgment = make_judgment("q1")
    judged = judged.model_copy(update={"scores": judged.scores | {name: judged.scores["f1"]}})
    run = write_run(folder / "run", [make_answer("q1")], [judged], private_manifest())
    export(run, folder / "out")
    features = front_matter(folder / "out")["dataset_info"]["features"]
    (part,) = (folder / "out" / "data").iterdir()
    assert [one["name"] for one in features] == parquet.read_schema(part).names
