"""A node that is plain and async at once, at the cost of a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig


class Node(Runnable[Any, Any]):
    """Two functions of state and config as a runnable.

    `RunnableLambda` does the same with a callback manager and a look at the functions' signatures
    for each call, which would be most of what a critic costs.

    Args:
        name: shown in traces and drawings.
        plain: for `invoke`.
        other: for `ainvoke`; None takes the plain one, which then must not wait for anything.
    """

    def __init__(
        self,
        name: str,
        plain: Callable[[Any, RunnableConfig], Any],
        other: Callable[[Any, RunnableConfig], Awaitable[Any]] | None = None,
    ) -> None:
        self.name = name
        self._plain, self._other = plain, other

    def invoke(
        self,
        input: Any,  # noqa: A002 - the base class names it so
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Call the plain function."""
        return self._plain(input, config or {})

    async def ainvoke(
        self,
        input: Any,  # noqa: A002 - the base class names it so
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Await the other function."""
        if self._other is None:
            return self._plain(input, config or {})
        return await self._other(input, config or {})
