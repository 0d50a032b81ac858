from __future__ import annotations

import subprocess
import sys

import basanite.store

_NAMES = [
    "Columns",
    "Environment",
    "InputFile",
    "InputInfo",
    "Ledger",
    "Manifest",
    "RawRow",
    "Record",
    "ReplyCache",
    "RunFolder",
    "RunNumbers",
    "answer_record",
    "collect_environment",
    "default_cache_path",
    "export_huggingface",
    "export_inspect",
    "export_jsonl",
    "export_parquet",
    "export_ragchecker",
    "is_run_file",
    "read_answers",
    "read_rows",
    "unique_names",
    "write_atomically",
]


def test_the_names_that_others_may_use() -> None:
    assert basanite.store.__all__ == _NAMES == sorted(_NAMES)
    for name in _NAMES:
        assert getattr(basanite.store, name).__name__ == name


def test_the_door_opens_without_what_is_heavy() -> None:
    code = (
        "import sys, basanite.store\n"
        "heavy = {'sqlalchemy', 'pyarrow', 'numpy', 'psycopg', 'pydantic'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "basanite.store.Ledger, basanite.store.InputFile\n"
        "heavy -= {'sqlalchemy', 'pydantic'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_name_that_is_not_there() -> None:
    assert not hasattr(basanite.store, "nothing")
