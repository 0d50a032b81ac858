"""What an endpoint says of itself without answering a chat: its models, version and settings."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import EndpointError, InputError, UnscoredReason
from ..schema import ModelIdentity
from ._address import Address
from ._failure import Failure
from ._transport import Transport

_SECONDS = 20.0
_TRIES = 3
_PAUSE_SECONDS = 0.3

_STABLE = ("id", "root", "parent", "owned_by", "max_model_len", "meta")
"""What is kept of a model's entry; the rest (times, random ids of permissions) changes."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What an endpoint says of one of its models."""

    name: str
    entry: Mapping[str, object] = field(default_factory=dict)
    version: str = "unknown"
    """Server software and version."""
    template_sha256: str = "unknown"
    context_tokens: int | None = None

    @property
    def owner(self) -> str:
        """Who the endpoint says owns the model, which names the server software."""
        return str(self.entry.get("owned_by", ""))

    def identity(self) -> ModelIdentity:
        """What can be said of the model's identity; the rest is `unknown`."""
        root = self.entry.get("root")
        return ModelIdentity(
            name=self.name,
            kind="openai",
            chat_template_sha256=self.template_sha256,
            engine=self.version,
            root=root if isinstance(root, str) and root else "unknown",
        )


async def list_model(transport: Transport, address: Address, wanted: str | None) -> Listing:
    """Find a model at an endpoint.

    Args:
        transport: connections to the endpoint.
        address: of the endpoint, for messages.
        wanted: the model's name; None takes the only one there is.

    Raises:
        EndpointError: the endpoint can't be reached, or answers nothing that one would.
        InputError: there is no such model, or no name is given and there are several.
    """
    entries = await _entries(transport, address)
    if entries is None:
        if wanted is None:
            raise InputError(
                "the endpoint does not list its models",
                where=address.base,
                todo="Name the model with --model",
            )
        return Listing(wanted)
    name = _choose([str(entry["id"]) for entry in entries], wanted, address)
    chosen = next(entry for entry in entries if entry["id"] == name)
    entry = {key: chosen[key] for key in _STABLE if chosen.get(key) is not None}
    return await _with_details(transport, Listing(name, entry))


async def _entries(transport: Transport, address: Address) -> list[Mapping[str, object]] | None:
    """The listed models; None where the endpoint has no such list (404, 405)."""
    answer = await _get(transport, "/v1/models")
    if isinstance(answer, Failure):
        if answer.what.startswith(("HTTP 404", "HTTP 405")):
            return None
        raise EndpointError(answer.what, where=address.base, todo=_todo(answer))
    data = answer.get("data")
    entries = data if isinstance(data, list) else []
    found = [one for one in entries if isinstance(one, dict) and isinstance(one.get("id"), str)]
    if not found:
        raise EndpointError(
            "the list of models is empty or no list",
            where=f"{address.base}/models",
            todo="Check that this is an OpenAI-compatible endpoint with a model loaded",
        )
    return list(found)


def _todo(failure: Failure) -> str:
    if failure.fatal is not None:
        return failure.fatal
    if failure.reason is UnscoredReason.CONNECTION_FAILED:
        return "Start the server, or check host and port; `basanite doctor --endpoint` tests it"
    if failure.reason is UnscoredReason.TIMEOUT:
        return "Check that the server has finished loading its model"
    return "Check that this is the address of an OpenAI-compatible endpoint, ending in /v1"


def _choose(names: list[str], wanted: str | None, address: Address) -> str:
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    if wanted is None:
        if len(names) == 1:
            return names[0]
        raise InputError(
            "the endpoint has several models",
            where=address.base,
            todo=f"Name one with --model: {shown}",
        )
    if wanted not in names:
        raise InputError(
            f"the endpoint has no model {wanted!r}", where=address.base, todo=f"It has: {shown}"
        )
    return wanted


async def _with_details(transport: Transport, listing: Listing) -> Listing:
    entry, version = listing.entry, "unknown"
    template, context = "unknown", _integer(entry.get("max_model_len"))
    if listing.owner.startswith("llama"):
        props = await _get(transport, "/props")
        props = {} if isinstance(props, Failure) else props
        settings = props.get("default_generation_settings")
        meta = entry.get("meta")
        build = props.get("build_info")
        version = f"llama.cpp {build}" if isinstance(build, str) and build else "llama.cpp"
        context = _integer(settings.get("n_ctx")) if isinstance(settings, dict) else None
        for name in ("n_ctx", "n_ctx_train"):
            if context is None and isinstance(meta, dict):
                context = _integer(meta.get(name))
        if isinstance(props.get("chat_template"), str):
            template = hashlib.sha256(str(props["chat_template"]).encode()).hexdigest()
    elif listing.owner:
        answer = await _get(transport, "/version")
        number = None if isinstance(answer, Failure) else answer.get("version")
        version = f"{listing.owner} {number}" if isinstance(number, str) else listing.owner
    return Listing(listing.name, entry, version, template, context)


async def _get(transport: Transport, path: str) -> Mapping[str, object] | Failure:
    """Get a JSON object; what may pass is tried again, shortly."""
    for attempt in range(_TRIES):
        answer = await transport.get(path, _SECONDS)
        if not isinstance(answer, Failure) or not answer.retry or attempt == _TRIES - 1:
            break
        if answer.reason is UnscoredReason.TIMEOUT:
            break  # that was long enough
        await asyncio.sleep(min(answer.retry_after or _PAUSE_SECONDS * 2**attempt, 5.0))
    return answer


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
