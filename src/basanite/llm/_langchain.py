"""A LangChain chat model as a model that judges can ask."""

from __future__ import annotations

import hashlib
import logging
import weakref
from importlib import metadata

from langchain_core.language_models import BaseChatModel

from ..schema import ModelIdentity
from ._address import Address
from ._as_chat_model import as_chat_model
from ._config import EndpointConfig
from ._endpoint import Endpoint
from ._langchain_settings import name_of, settings_sha256
from ._langchain_transport import LangChainTransport
from ._profile import Profile
from ._types import Capabilities

_log = logging.getLogger(__name__)

_TOLD: weakref.WeakSet[type[BaseChatModel]] = weakref.WeakSet()
"""Classes of which the log says already what can't be set."""


class LangChainModel(Endpoint):
    """Any LangChain `BaseChatModel` as a `ChatModel`.

    It is treated as an endpoint is: the same limit on requests in flight, the same retries (set
    the chat model's own `max_retries` to 0, or failures are repeated twice over), the same reading
    of replies. Sampling is set through the fields that the chat model declares; what it has no
    field for can't be controlled, and the log names it once for each class. A schema goes
    through `with_structured_output`, and into the prompt where the chat model has none.

    Deadlines can't interrupt a chat model that has no async implementation of its own: its thread
    runs on, and the reply is dropped.
    """

    def __init__(
        self,
        chat: BaseChatModel,
        *,
        context_tokens: int | None = None,
        config: EndpointConfig | None = None,
    ) -> None:
        """Adapt a chat model.

        Args:
            chat: the model; it stays its owner's, and is neither changed nor closed.
            context_tokens: most tokens of prompt and reply together; None takes what the chat
                model's `profile` says, if it has one.
            config: concurrency, deadline and retries; its URL and model are not used.
        """
        place = f"{type(chat).__module__.partition('.')[0]}.{type(chat).__name__}"
        address = Address(base=place, root=place, local=False)
        transport = LangChainTransport(chat, address)
        own = settings_sha256(chat, transport.sampling_fields)[:16]
        profile = Profile(
            identity=ModelIdentity(
                name=name_of(chat), kind="langchain", engine=_engine(chat), root=f"{place}#{own}"
            ),
            capabilities=Capabilities(
                logprobs=None if transport.takes("top_logprobs") else False,
                context_tokens=context_tokens or _context_tokens(chat),
                tokenizer=False,
            ),
        )
        super().__init__(config or EndpointConfig(url=place), address, transport, profile)
        # What sets this model apart from another of its class: base URL, extra arguments, …;
        # LangChain's own cache uses the same text, in which secrets are left out.
        said = f"{own}\n{chat._get_llm_string()}"
        settings = hashlib.sha256(said.encode(errors="replace")).hexdigest()[:16]
        self._settings = f"{place}#{settings}"
        names = ("temperature", "top_p", "seed", "max_tokens")
        self.uncontrolled = tuple(name for name in names if not transport.takes(name))
        """Sampling parameters that the chat model has no field for."""
        if self.uncontrolled and type(chat) not in _TOLD:
            _TOLD.add(type(chat))
            _log.info("%s takes no %s", place, ", ".join(self.uncontrolled))

    @property
    def address(self) -> str:
        """Class of the chat model and a hash of its settings; part of a cached reply's key."""
        return self._settings


def _engine(chat: BaseChatModel) -> str:
    package = type(chat).__module__.partition(".")[0].replace("_", "-")
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return "unknown"


def _context_tokens(chat: BaseChatModel) -> int | None:
    profile = getattr(chat, "profile", None)
    value = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return value if isinstance(value, int) and value > 0 else None


__all__ = ["LangChainModel", "as_chat_model"]
