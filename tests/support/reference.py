"""The published data that tests compare with, where it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "BASANITE_REFERENCE_DATA"


def reference(path: str = "") -> Path:
    """Give a file or folder of the reference data; the test is skipped where there is none."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} is not set: no reference data to compare with")
    return Path(folder) / path
