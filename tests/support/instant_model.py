"""A `ChatModel` without a server: answers at once, for tests of what stands above the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from basanite.llm import Capabilities, Completion, Request
from basanite.schema import ModelIdentity, Usage

Answering = Callable[[Request], "str | dict[str, object] | Completion"]


@dataclass
class InstantModel:
    """Gives what `answer` makes of a request; counts a token per four characters."""

    answer: Answering
    context_tokens: int | None = 4096
    name: str = "instant"
    logprobs: bool | None = None
    """Whether it says that it gives log probabilities."""
    requests: list[Request] = field(default_factory=list)
    counted: list[int] = field(default_factory=list)
    """Lengths of the texts whose tokens were counted."""
    closed: bool = False

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity(name=self.name, kind="openai")

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            json_schema=True, logprobs=self.logprobs, context_tokens=self.context_tokens
        )

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        made = self.answer(request)
        if isinstance(made, Completion):
            return made
        text = made if isinstance(made, str) else json.dumps(made)
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=5, seconds=0.01)
        return Completion(text=text, finish_reason="stop", usage=usage)

    async def count_tokens(self, text: str) -> int:
        self.counted.append(len(text))
        return (len(text) + 3) // 4

    async def aclose(self) -> None:
        self.closed = True


def content(request: Request) -> str:
    """The whole prompt of a request."""
    return "\n".join(message.content for message in request.messages)


def claim_ids(request: Request) -> list[str]:
    """Ids that a checker's request asks for."""
    assert request.schema is not None
    required = request.schema["required"]
    assert isinstance(required, list)
    return [str(name) for name in required]


def all_labelled(label: str, quote: str = "") -> Callable[[Request], dict[str, object]]:
    """Give every claim the same label."""

    def answer(request: Request) -> dict[str, object]:
        return {name: {"quote": quote, "label": label} for name in claim_ids(request)}

    return answer
