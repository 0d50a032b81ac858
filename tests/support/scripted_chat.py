"""LangChain chat models that say what a test wrote down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, PrivateAttr


class ScriptedChat(BaseChatModel):
    """Says its lines in turn, the last one for ever; or what a function makes of the messages."""

    lines: tuple[Any, ...] | list[Any] = ()
    answer: Callable[[Sequence[BaseMessage]], Any] | None = None

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[list[BaseMessage]]:
        """The messages of each call."""
        return self._asked

    def bind_tools(self, tools: Any, **kwargs: Any) -> Runnable[Any, Any]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            number = len(self._asked)
            self._asked.append(list(messages))
        lines = self.lines
        said = self.answer(messages) if self.answer else lines[min(number, len(lines) - 1)]
        if isinstance(said, Exception):
            raise said
        message = said.model_copy() if isinstance(said, AIMessage) else AIMessage(said)
        return ChatResult(generations=[ChatGeneration(message=message)])


def calling(name: str, number: int = 1, **arguments: object) -> AIMessage:
    """A message that calls a tool."""
    call = {"name": name, "args": arguments, "id": f"call-{number}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])
