from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from basanite.errors import InputError, StorageError, UnscoredReason
from basanite.schema import Answer, Claim, ClaimVerdict, InvalidRow, Judgment, Label, Score
from basanite.store import (
    InputFile,
    Record,
    RunFolder,
    answer_record,
    export_jsonl,
    export_parquet,
    export_ragchecker,
)
from support.reference import reference
from support.report_samples import agent_answers, choice_run, facts_run, rating_run
from support.run_folders import write_fake
from support.store_samples import (
    make_answer,
    make_claim,
    make_judgment,
    make_manifest,
    make_verdict,
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    with RunFolder.create(tmp_path / "run", make_manifest()) as made:
        yield made


def keep(folder: RunFolder, judgment: Judgment, row: Answer | InvalidRow | None = None) -> None:
    row = row or make_answer(judgment.subject_id)
    folder.ledger.append_now(answer_record(folder.run, row))
    body = judgment.model_dump(mode="json")
    folder.ledger.append_now(Record(folder.run, "judgment", judgment.subject_id, body))


def complete(id_: str, *, triplets: bool = False, contexts: int = 2) -> Judgment:
    triplet = ("s", "p", "o") if triplets else None
    claims = [make_claim("a1", triplet), make_claim("a2", triplet), make_claim("t1", triplet)]
    verdicts = [
        make_verdict("a1", "truth", Label.ENTAILED),
        make_verdict("a2", "truth", Label.CONTRADICTED),
        make_verdict("t1", "answer", Label.NEUTRAL),
    ]
    for index in range(contexts):
        verdicts += [make_verdict(claim.id, f"context:{index}") for claim in claims]
    return make_judgment(id_, claims=tuple(claims), verdicts=tuple(verdicts))


def test_jsonl_lines_are_judgments(folder: RunFolder, tmp_path: Path) -> None:
    judgments = [
        make_judgment("q1", message="Zoë 🧬"),
        make_judgment("q2", message="half \ud83d and \x00"),
        make_judgment("q3", None, UnscoredReason.EMPTY_ANSWER),
    ]
    for judgment in judgments:
        keep(folder, judgment)
    assert export_jsonl(folder, tmp_path / "out.jsonl") == {"items": 3}
    lines = (tmp_path / "out.jsonl").read_bytes().splitlines()
    assert [Judgment.model_validate(json.loads(line)) for line in lines] == judgments
    assert "Zoë 🧬".encode() in lines[0]


@pytest.mark.parametrize("name", ["jsonl", "ragchecker"])
def test_standard_output(folder: RunFolder, name: str) -> None:
    keep(folder, complete("q1"))
    code = (
        "import sys; from basanite.store import *\n"
        "with RunFolder.open(sys.argv[1]) as folder:\n"
        f"    counts = export_{name}(folder, '-')\n"
        "print(counts, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder.path)],
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"},
    )
    assert json.loads(done.stdout)
    assert b"'items': 1" in done.stderr


def test_parquet_has_its_documented_columns(folder: RunFolder, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    scored = complete("q1").model_copy(
        update={
            "scores": {
                "f1": Score(value=0.5, low=0.4, high=0.6),
                "recall": Score(unscored_reason=UnscoredReason.UNDEFINED),
            },
            "human": {"score": 1},
            "notes": ("n1", "n2"),
        }
    )
    keep(folder, scored)
    keep(folder, make_judgment("q2", agent="x", message="half \ud83d"))
    out = tmp_path / "out.parquet"
    assert export_parquet(folder, out) == {"items": 2}
    table = parquet.read_table(out)
    scores = [
        f"score_{name}{end}"
        for name in ("f1", "recall")
        for end in ("", "_low", "_high", "_unscored")
    ]
    assert table.column_names == [
        *("subject_id", "subject_digest", "task", "agent", "trial", "judge", "primary"),
        *("score_mode", "probability_mass", "fingerprint", "message", "notes"),
        *("human", "claims", "verdicts", "facts", "fact_verdicts", "choice", "probabilities"),
        *("calls", "cached_calls", "calls_without_usage", "prompt_tokens", "completion_tokens"),
        *("seconds", *scores),
    ]
    assert table.schema.metadata[b"basanite.schema"] == b"basanite.judgments/2"
    types = {field.name: str(field.type) for field in table.schema}
    assert types["subject_id"] == types["score_f1_unscored"] == "string"
    assert types["score_f1"] == types["score_recall_high"] == types["seconds"] == "double"
    assert types["calls"] == "int64"
    first, second = table.to_pylist()
    assert (first["score_f1"], first["score_f1_low"], first["score_f1_high"]) == (0.5, 0.4, 0.6)
    assert (first["score_recall"], first["score_recall_unscored"]) == (None, "undefined")
    assert first["notes"] == ["n1", "n2"]
    claims = [Claim.model_validate(one) for one in json.loads(first["claims"])]
    assert tuple(claims) == scored.claims
    verdicts = [ClaimVerdict.model_validate(one) for one in json.loads(first["verdicts"])]
    assert tuple(verdicts) == scored.verdicts
    assert json.loads(first["human"]) == {"score": 1}
    assert (second["score_recall"], second["score_recall_unscored"]) == (None, None)
    assert second["agent"] == "x"
    assert second["message"].startswith("half \ufffd")


def test_a_run_without_judgments_is_exported_too(folder: RunFolder, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export_parquet(folder, tmp_path / "out.parquet") == {"items": 0}
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == 0
    assert export_jsonl(folder, tmp_path / "out.jsonl") == {"items": 0}


def test_parquet_holds_what_each_judge_found(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = agent_answers(2)
    for kind, fake in (
        ("facts", facts_run(rows)),
        ("rating", rating_run(rows)),
        ("choice", choice_run(4)),
    ):
        run = write_fake(tmp_path / kind, fake)
        with RunFolder.open(run) as opened:
            export_parquet(opened, tmp_path / f"{kind}.parquet")
        found = parquet.read_table(tmp_path / f"{kind}.parquet").to_pylist()
        for row, judgment in zip(found, fake.judged, strict=True):
            whole = judgment.model_dump(mode="json")
            for name in ("facts", "fact_verdicts", "verdicts"):
                assert json.loads(row[name]) == whole[name]
            for name in ("choice", "probabilities"):
                assert (row[name] and json.loads(row[name])) == whole[name]
            assert row["probability_mass"] == judgment.probability_mass
        assert [row["facts"] != "[]" for row in found] == [kind == "facts"] * len(found)
        assert [row["choice"] is not None for row in found] == [kind == "choice"] * len(found)
        assert [row["probabilities"] is not None for row in found] == [kind == "rating"] * len(
            found
        )


def test_a_run_with_nothing_for_ragchecker_is_refused_with_the_formats_that_fit(
    folder: RunFolder, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    out.write_text("old", encoding="utf-8")
    with pytest.raises(InputError, match="nothing has been judged"):
        export_ragchecker(folder, out)
    keep(folder, make_judgment("q1"))
    keep(folder, make_judgment("q2"))
    one_side = [claim for claim in complete("q3").claims if claim.side == "answer"]
    keep(folder, complete("q3").model_copy(update={"claims": tuple(one_side)}))
    expected = (
        "2 with no labelled claims, 1 with no labels of the truth's claims.*"
        "jsonl, parquet, huggingface or inspect"
    )
    with pytest.raises(InputError, match=expected):
        export_ragchecker(folder, out)
    assert out.read_text(encoding="utf-8") == "old"


def test_ragcheckers_shape(folder: RunFolder, tmp_path: Path) -> None:
    keep(folder, complete("q1"))
    keep(folder, complete("q2", triplets=True, contexts=0))
    out = tmp_path / "out.json"
    assert export_ragchecker(folder, out) == {"items": 2, "left_out": 0}
    first, second = json.loads(out.read_bytes())["results"]
    assert first == {
        "query_id": "q1",
        "query": "Which cells?",
        "gt_answer": "T cells, mostly.",
        "response": "T cells and B cells.",
        "retrieved_context": [
            {"doc_id": "d1", "text": "T cells."},
            {"doc_id": None, "text": "B cells."},
        ],
        "response_claims": ["claim a1", "claim a2"],
        "gt_answer_claims": ["claim t1"],
        "answer2response": ["Entailment", "Contradiction"],
        "response2answer": ["Neutral"],
        "retrieved2response": [["Entailment", "Entailment"], ["Entailment", "Entailment"]],
        "retrieved2answer": [["Entailment", "Entailment"]],
    }
    assert second["response_claims"] == [["s", "p", "o"], ["s", "p", "o"]]
    # Its judge was not asked about contexts: a field that is not there is no zero.
    assert "retrieved2response" not in second
    source = InputFile.scan(out)
    assert (source.rows, source.invalid) == (2, 0)


def _judgment_of(entry: dict[str, list[str]]) -> Judgment:
    """Make the judgment that RAGChecker's own labels of an item amount to."""
    labels = {"Entailment": Label.ENTAILED, "Neutral": Label.NEUTRAL}
    claims, verdicts = [], []
    for side, texts in (("a", "response_claims"), ("t", "gt_answer_claims")):
        against = {"a": "truth", "t": "answer"}[side]
        flat = {"a": "answer2response", "t": "response2answer"}[side]
        matrix = {"a": "retrieved2response", "t": "retrieved2answer"}[side]
        for index, parts in enumerate(entry[texts]):
            claim = make_claim(f"{side}{index + 1}", (parts[0], parts[1], parts[2]))
            claims.append(claim)
            found = {against: entry[flat][index]}
            found |= {f"context:{k}": label for k, label in enumerate(entry[matrix][index])}
            verdicts += [
                make_verdict(claim.id, where, labels.get(label, Label.CONTRADICTED))
                for where, label in found.items()
            ]
    id_ = str(entry["query_id"])
    return make_judgment(id_, claims=tuple(claims), verdicts=tuple(verdicts))


def test_ragcheckers_published_labels_come_through(folder: RunFolder, tmp_path: Path) -> None:
    published = reference("ragchecker/checking_outputs.json")
    entries = json.loads(published.read_bytes())["results"]
    rows = InputFile.scan(published).answers()
    for entry, (_, row) in zip(entries, rows, strict=True):
        keep(folder, _judgment_of(entry), row)
    assert export_ragchecker(folder, tmp_path / "out.json") == {"items": 2, "left_out": 0}
    exported = json.loads((tmp_path / "out.json").read_bytes())["results"]
    for entry, mine in zip(entries, exported, strict=True):
        expected = {name: value for name, value in entry.items() if name != "metrics"}
        assert mine == expected | {"query_id": str(entry["query_id"])}


def _without(judgment: Judgment, index: int) -> Judgment:
    verdicts = judgment.verdicts
    return judgment.model_copy(update={"verdicts": verdicts[:index] + verdicts[index + 1 :]})


def test_items_whose_labels_are_not_complete_are_left_out_and_counted(
    folder: RunFolder, tmp_path: Path
) -> None:
    unscored = (*complete("q1").verdicts[1:], make_verdict("a1", "truth", None))
    no_answer_claims = [claim for claim in complete("q").claims if claim.side == "truth"]
    keep(folder, complete("good"))
    keep(folder, complete("q1").model_copy(update={"verdicts": unscored}))
    keep(folder, _without(complete("q2"), 0))  # a claim without a verdict
    keep(folder, _without(complete("q3"), 7))  # one context was not checked
    keep(folder, make_judgment("q4"))  # a judge without claims
    keep(folder, complete("q5").model_copy(update={"claims": tuple(no_answer_claims)}))
    row = InvalidRow(id="q6", row=6, message="row 6: truth is missing.")
    keep(folder, make_judgment("q6", None, UnscoredReason.INVALID_ROW), row)
    assert export_ragchecker(folder, tmp_path / "out.json") == {"items": 1, "left_out": 6}
    results = json.loads((tmp_path / "out.json").read_bytes())["results"]
    assert [entry["query_id"] for entry in results] == ["good"]


@pytest.mark.parametrize("export", [export_jsonl, export_parquet, export_ragchecker])
def test_a_path_that_is_no_file_is_said(
    folder: RunFolder, tmp_path: Path, export: type[object]
) -> None:
    with pytest.raises(InputError, match="is a folder"):
        export(folder, tmp_path)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="does not exist"):
        export(folder, tmp_path / "none" / "out")  # type: ignore[call-arg]


def test_a_failed_export_leaves_the_old_file(folder: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("old", encoding="utf-8")
    keep(folder, make_judgment("q1"))
    folder.ledger.append_now(Record(folder.run, "judgment", "bad", {"no": "judgment"}))
    with pytest.raises(StorageError, match=r"judgment bad: .*can't be read as Judgment"):
        export_jsonl(folder, out)
    assert out.read_text(encoding="utf-8") == "old"
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_a_full_disk_is_said(folder: RunFolder) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs Linux's /dev/full")
    keep(folder, make_judgment("q1"))
    code = (
        "import resource, signal, sys; from basanite.store import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with RunFolder.open(sys.argv[1]) as folder:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "    try:\n"
        "        export_jsonl(folder, sys.argv[1] + '/out.jsonl')\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder.path)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith(f"StorageError {folder.path}/out.jsonl: can't be written")
    assert not [path for path in folder.path.iterdir() if path.name.endswith(".tmp")]
