"""Loading pyarrow, which is optional and heavy, where Parquet is really asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..errors import MissingExtra


def load_pyarrow() -> ModuleType:
    """Give the module `pyarrow`, with `pyarrow.parquet` loaded.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ModuleNotFoundError:
        raise MissingExtra(
            "Parquet needs pyarrow", todo="pip install 'basanite[parquet]'"
        ) from None
