"""Counting tokens without a tokenizer: an estimate that errs on the high side."""

from __future__ import annotations

_DELETE_PROSE = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")


def estimate_tokens(text: str) -> int:
    """Estimate from above how many tokens a text has.

    Letters and spaces of ASCII count a third of a token each (English has about four characters
    to a token), digits, punctuation and line ends one, and every byte of a character beyond ASCII
    one, which no byte-level tokenizer exceeds. For English prose that is about 1.5 times the true
    count; for Chinese up to 4 times with a tokenizer made for it. Random strings of letters
    (hashes, sequences) can have up to one token for two letters, more than is estimated.
    """
    if text.isascii():
        other = len(text.translate(_DELETE_PROSE))
        return other + (len(text) - other + 2) // 3
    size = len(text.encode("utf-8", "surrogatepass"))
    ascii_text = text.encode("ascii", "ignore").decode("ascii")
    other = len(ascii_text.translate(_DELETE_PROSE))
    return (size - len(ascii_text)) + other + (len(ascii_text) - other + 2) // 3
