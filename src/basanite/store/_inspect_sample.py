"""One item as Inspect's sample, and the short form of it that lists show."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from ..schema import Answer, InvalidRow, Usage
from ._inspect_scores import sample_scores
from ._manifest import Manifest
from ._numbers import RunNumbers
from ._ordered import Item
from ._public import public_name, public_text

Json = dict[str, object]

GRADER = "grader"
"""Inspect's name for the role of a model that judges."""

_LONGEST_TEXT = 5120
_LONGEST_DETAIL = 1024


@dataclass(frozen=True, slots=True)
class Samples:
    """Makes the samples of one run."""

    manifest: Manifest
    numbers: RunNumbers

    @property
    def judge_model(self) -> str | None:
        """Name of the model that judged; None for a judge without one."""
        model = self.manifest.judge.model
        return None if model.kind == "none" else public_name(model.name)

    @property
    def role_models(self) -> dict[str, str]:
        """Name of each role's model in Inspect's terms; a judge's options name further ones."""
        if self.judge_model is None:
            return {}
        roles = {GRADER: self.judge_model}
        for option, value in self.manifest.judge.options.items():
            if option.endswith("_model") and isinstance(value, Mapping):
                roles[option.removesuffix("_model")] = public_name(str(value["name"]))
        return roles

    def usage(self, used: Usage) -> Json:
        """Give the fields that tell what was used, by model and by role.

        A judge's usage is one sum: where several models share it, no model and no role has it.
        """
        shown = _model_usage(used)
        models = set(self.role_models.values())
        if shown is None or len(models) != 1:
            return {"model_usage": {}, "role_usage": {}}
        return {"model_usage": {models.pop(): shown}, "role_usage": {GRADER: shown}}

    def sample(self, item: Item, id_: str, epoch: int) -> Json:
        """Give an item as an `EvalSample`.

        The question is the user's message, the answer the assistant's. The judge's replies
        stand in the metadata of the primary score.
        """
        row = item.row if isinstance(item.row, Answer) else None
        uuid = _token(self.manifest.run, id_, str(epoch))
        agent = (item.row.agent if item.row is not None else None) or "unknown"
        return {
            "id": id_,
            "epoch": epoch,
            "input": row.question if row else self._no_question(item),
            "choices": [f"{key}: {text}" for key, text in row.options.items()]
            if row and row.options
            else None,
            "target": row.truth if row else "",
            "messages": _messages(row, agent, uuid),
            "output": _output(agent, row.answer, uuid) if row else {"model": agent, "choices": []},
            "scores": sample_scores(item, self.numbers, self._public),
            "metadata": self._metadata(item),
            "store": {},
            "events": [],
            **self.usage(item.judgment.usage if item.judgment else Usage()),
            "completed_at": item.judged_at,
            "uuid": uuid,
            "attachments": {},
        }

    def _public(self, text: str) -> str:
        return public_text(text, self.manifest)

    def _no_question(self, item: Item) -> str:
        what = item.row.message if isinstance(item.row, InvalidRow) else "the run keeps no row"
        return f"(no question: {self._public(what)})"

    def _metadata(self, item: Item) -> Json:
        metadata: Json = {}
        if item.row is not None:
            metadata |= item.row.model_dump(
                mode="json", include={"id", "task", "agent", "trial", "human", "contexts"}
            )
        if item.judgment is not None:
            judgment = item.judgment.model_dump(
                mode="json", include={"judge", "fingerprint", "subject_digest", "usage"}
            )
            metadata |= judgment
        return {name: value for name, value in metadata.items() if value not in (None, {}, "")}


def _token(*parts: str) -> str:
    """Give an id of 22 characters that is the same whenever the run is exported."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:22]


def _messages(row: Answer | None, agent: str, uuid: str) -> list[Json]:
    if row is None:
        return []
    asked: Json = {"id": f"{uuid}-q", "role": "user", "source": "input", "content": row.question}
    return [asked, _reply(agent, row.answer, uuid)]


def _reply(model: str, text: str, id_: str) -> Json:
    return {
        "id": f"{id_}-a",
        "role": "assistant",
        "source": "generate",
        "content": text,
        "model": model,
    }


def _output(model: str, text: str, id_: str) -> Json:
    # How the answer came to its end is not known.
    choice = {"message": _reply(model, text, id_), "stop_reason": "unknown"}
    return {"model": model, "choices": [choice], "completion": text}


def _model_usage(used: Usage) -> Json | None:
    """Give Inspect's `ModelUsage`; None where no tokens were counted."""
    if not used.calls or used.calls_without_usage >= used.calls:
        return None
    return {
        "input_tokens": used.prompt_tokens,
        "output_tokens": used.completion_tokens,
        "total_tokens": used.prompt_tokens + used.completion_tokens,
    }


def summary(sample: Mapping[str, object]) -> Json:
    """Give the `EvalSampleSummary` of a sample: long texts are cut, large values left out."""
    kept = ("id", "epoch", "model_usage", "role_usage", "completed_at", "uuid")
    scores = sample["scores"]
    messages = sample["messages"]
    choices = sample["choices"]
    assert isinstance(scores, dict)
    assert isinstance(messages, list)
    return {name: sample[name] for name in kept} | {
        "input": _cut(str(sample["input"]), _LONGEST_TEXT),
        "target": _cut(str(sample["target"]), _LONGEST_TEXT),
        "choices": [_cut(one, _LONGEST_DETAIL) for one in choices]
        if isinstance(choices, list)
        else None,
        "metadata": _small(sample["metadata"]),
        "scores": {name: _short(score) for name, score in scores.items()},
        "completed": True,
        "message_count": len(messages),
    }


def _short(score: Mapping[str, object]) -> Json:
    short = dict(score)
    for name in ("answer", "explanation"):
        value = short[name]
        short[name] = _cut(value, _LONGEST_DETAIL) if isinstance(value, str) else None
    short["metadata"] = _small(short["metadata"]) or None
    del short["history"]
    return short


def _small(values: object) -> dict[str, JsonValue]:
    """Keep numbers and short texts: a list of samples holds this of each of them."""
    if not isinstance(values, Mapping):
        return {}
    return {
        name: _cut(value, _LONGEST_DETAIL) if isinstance(value, str) else value
        for name, value in values.items()
        if isinstance(value, str | int | float)
    }


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
