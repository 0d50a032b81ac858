"""What may be shown to anyone: no path, no address, no name of a machine or of its user.

The texts of rows, claims and replies are the user's own and are never touched. What basanite or a
server says beside them can hold where something lies: a model that is served from a folder
is often named by its path, and an error names the address that failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import JsonValue

from ..schema import Fingerprint
from ._manifest import Manifest

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]*|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", re.IGNORECASE
)
_PATH = re.compile(
    r"(?<![\w/\\.~])"  # a slash within a word, as in "and/or", begins no path
    r"(?:~[\w.-]*|\.{1,2}|[A-Za-z]:)?[/\\]+"
    r"(?:[^\s/\\'\":,;()<>]+[/\\]+)+[^\s/\\'\":,;()<>]*"
)
_REPOSITORY = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


def public_text(text: str, manifest: Manifest) -> str:
    """Give a message about a run without addresses, hosts and paths."""
    for hidden, shown in _hidden(manifest):
        text = re.sub(rf"(?<!\w){re.escape(hidden)}(?!\w)", shown, text)
    return _PATH.sub("(a path)", _ADDRESS.sub("(an address)", text))


def _hidden(manifest: Manifest) -> list[tuple[str, str]]:
    """Give what stands for something private, the longest first: an address holds its host."""
    home = Path.home()
    hidden = {str(home): "~"} if home.name else {}
    if re.search(r"[/\\]", manifest.input.path):
        hidden[manifest.input.path] = "the input"
    endpoints = dict.fromkeys((manifest.endpoint, *manifest.endpoints.values()))
    for what, url in (
        *(("the endpoint", url) for url in endpoints),
        ("the ledger", manifest.ledger),
    ):
        parts = urlsplit(url or "")
        if parts.scheme and parts.hostname:
            hidden |= dict.fromkeys((parts.geturl(), parts.netloc, parts.hostname), what)
    return sorted(hidden.items(), key=lambda entry: (-len(entry[0]), entry[0]))


def public_name(name: str) -> str:
    """Give a model's name; of a path or an address its last part."""
    if _REPOSITORY.fullmatch(name) and not name.startswith((".", "-")):
        return name
    if re.search(r"[/\\]", name):
        return re.split(r"[/\\]+", name.rstrip("/\\"))[-1] or "unknown"
    return name


def public_fingerprint(fingerprint: Fingerprint, manifest: Manifest) -> dict[str, JsonValue]:
    """Give a fingerprint as plain JSON; its digest can't be computed from it any more."""
    whole: dict[str, JsonValue] = fingerprint.model_dump(mode="json")
    model = whole["model"]
    assert isinstance(model, dict)
    whole["model"] = {
        name: public_name(value) if isinstance(value, str) else value
        for name, value in model.items()
        if name != "engine"
    } | {"engine": public_text(fingerprint.model.engine, manifest)}
    whole["options"] = _cleaned(whole["options"], manifest)
    return whole


def _cleaned(value: JsonValue, manifest: Manifest) -> JsonValue:
    if isinstance(value, str):
        named = value if re.search(r"\s", value) else public_name(value)
        return public_text(named, manifest)
    if isinstance(value, list):
        return [_cleaned(one, manifest) for one in value]
    if isinstance(value, Mapping):
        return {name: _cleaned(one, manifest) for name, one in value.items()}
    return value
