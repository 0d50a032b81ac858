"""What must not be lost: the ledger, the reply cache, run folders, inputs and exports.

Everything loads when it is first used: opening a ledger loads SQLAlchemy, reading Parquet
loads pyarrow, and importing this package loads neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._door import lazy

if TYPE_CHECKING:
    from ._cache import ReplyCache, default_cache_path
    from ._exports import export_jsonl
    from ._files import write_atomically
    from ._folder import RunFolder, answer_record, is_run_file
    from ._huggingface import export_huggingface
    from ._inputs import InputFile, read_answers
    from ._inspect import export_inspect
    from ._ledger import Ledger
    from ._manifest import Environment, InputInfo, Manifest, collect_environment
    from ._numbers import RunNumbers
    from ._parquet import export_parquet
    from ._ragchecker import export_ragchecker
    from ._readers import Columns
    from ._record import Record
    from ._row_files import read_rows
    from ._rows import RawRow
    from ._unique import unique_names

_HOMES = {
    "Columns": "_readers",
    "Environment": "_manifest",
    "InputFile": "_inputs",
    "InputInfo": "_manifest",
    "Ledger": "_ledger",
    "Manifest": "_manifest",
    "RawRow": "_rows",
    "Record": "_record",
    "ReplyCache": "_cache",
    "RunFolder": "_folder",
    "RunNumbers": "_numbers",
    "answer_record": "_folder",
    "collect_environment": "_manifest",
    "default_cache_path": "_cache",
    "export_huggingface": "_huggingface",
    "export_inspect": "_inspect",
    "export_jsonl": "_exports",
    "export_parquet": "_parquet",
    "export_ragchecker": "_ragchecker",
    "is_run_file": "_folder",
    "read_answers": "_inputs",
    "read_rows": "_row_files",
    "unique_names": "_unique",
    "write_atomically": "_files",
}


__getattr__ = lazy(__name__, _HOMES)


__all__ = [
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
