"""Text of models and people on its way into a page: visible, bounded, inert."""

from __future__ import annotations

import json
import re

from markupsafe import Markup
from pydantic import JsonValue

MAX_TEXT = 20_000
"""Characters of one text that a page shows; the run's ledger holds all of it."""

# What a page would hide or obey instead of showing: control characters (but tab and new
# line), marks that turn or hide text, lone surrogates, and what Unicode keeps unassigned
# for non-characters at the end of the first plane.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\uffff]"
)
_UNSAFE_IN_JSON = re.compile(
    "[<\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]"
)


def visible(text: str) -> str:
    """Write characters that can't be seen as their code, so that nobody is misled by them."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def shortened(text: str, limit: int = MAX_TEXT) -> str:
    """Cut a long text and say so in the text itself."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} more characters; `basanite export` has all."


def shortened_json(value: JsonValue) -> JsonValue:
    """Cut every long text within a plain JSON value."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, dict):
        return {key: shortened_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shortened_json(inner) for inner in value]
    return value


def json_block(element: str, value: JsonValue) -> Markup:
    """Give a data block that JavaScript reads by its element id, and that HTML can't leave.

    `<` is the only character that could end the script element or open a comment within it;
    it and all that can't be seen are written as escapes.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    # Not Markup.format: the block is JSON, in which an HTML escape would change the text.
    return Markup(f'<script type="application/json" id="{element}">{safe}</script>\n')


def percent(level: float) -> str:
    """Write a confidence level as a percentage: `95 %`, `99.5 %`."""
    return f"{100 * level:g} %"
