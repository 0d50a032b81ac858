"""Claims by a model: atomic, self-contained statements, with ids given by code."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pydantic import JsonValue

from ..llm import (
    ASSUMED_CONTEXT_TOKENS,
    ChatModel,
    Window,
    check_window_count,
    together,
    windows_by_chars,
)
from ..schema import ModelIdentity
from ._extraction import Extraction, Side, make_claims
from ._reading import PARSER_VERSION, ClaimForm, Found, Reading, extract_prompt


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """Settings of `ClaimExtractor`."""

    form: ClaimForm = "claims"
    """Ask for one sentence per claim, for subject, relation and object (`triplets`), or for
    condition, trend and conclusion (`facts`)."""
    window_bytes: int = 800
    """Most bytes of text in one request. Small, so that the list of a window stays short enough
    for its worst case to fit into the reply."""
    claim_chars: int = 200
    """Most characters of one claim, where the server enforces the schema."""
    max_windows: int = 256
    """Most windows of one text; a longer one is `too_long`."""
    splits: int = 2
    """How often a window is halved because its list came back full, or did not fit."""
    temperature: float = 0.0
    seed: int = 0


class ClaimExtractor:
    """Asks a model for the claims of a text (an `Extractor`).

    A long text is read in windows that end between sentences, at the same time. A window whose
    list comes back full, or that the model's context can't hold, is halved and read again.

    Args:
        model: whom to ask.
        options: see `ExtractOptions`.
        replicate: number of the repeat; equal requests of another replicate are asked anew.
    """

    def __init__(
        self, model: ChatModel, options: ExtractOptions | None = None, *, replicate: int = 0
    ) -> None:
        self._model = model
        self._options = options or ExtractOptions()
        self._replicate = replicate
        self._prompt = extract_prompt(self._options.form)

    @property
    def identity(self) -> ModelIdentity:
        return self._model.identity

    @property
    def prompts(self) -> dict[str, str]:
        return {"extract": self._prompt.sha256}

    @property
    def options(self) -> dict[str, JsonValue]:
        settings = {f"extract_{name}": value for name, value in asdict(self._options).items()}
        return {"extractor": "model", "extract_parser": PARSER_VERSION, **settings}

    async def extract(self, text: str, *, side: Side, question: str = "") -> Extraction:
        notes: list[str] = []
        if len(question.encode("utf-8", "replace")) > self._context():
            question = ""
            notes.append(f"the question is too long to stand beside the {side}: left out there")
        windows = self._windows(text, side)
        reading = Reading(self._model, self._options, self._prompt, self._replicate, side, question)
        parts = await together([reading.read(window) for window in windows]) if windows else []
        found = sum(parts, Found())
        if found.error is not None:
            raise found.failure(found.error)
        if len(windows) > 1:
            notes.append(f"the {side} was read in {len(windows)} windows")
        if found.halved:
            notes.append(f"{found.halved} windows of the {side} were halved and read again")
        if found.full:
            notes.append(
                f"the list of claims is full in {found.full} windows of the {side}: "
                "claims may be missing"
            )
        return Extraction(make_claims(found.items, side), found.replies, found.usage, tuple(notes))

    def _context(self) -> int:
        return self._model.capabilities.context_tokens or ASSUMED_CONTEXT_TOKENS

    def _windows(self, text: str, side: Side) -> list[Window]:
        options = self._options
        size = min(options.window_bytes, self._context())
        length = len(text.encode("utf-8", "replace"))
        chars = max(1, len(text) if length <= size else int(size * len(text) / length))
        check_window_count(-(-len(text) // chars), options.max_windows, side)
        windows = windows_by_chars(text, chars)
        check_window_count(len(windows), options.max_windows, side)
        return [window for window in windows if window.text.strip()]
