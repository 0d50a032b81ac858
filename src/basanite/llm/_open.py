"""From the name of a model to a model that can be asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from ..errors import InputError
from ._address import Address
from ._cache import CachedModel, ReplyStore
from ._config import EMBEDDED, EndpointConfig, ModelSpec
from ._probe import ProfileStore, open_endpoint
from ._types import ChatModel


class Cache(ReplyStore, ProfileStore, Protocol):
    """What a run's cache offers; `store.ReplyCache` is one."""


@asynccontextmanager
async def open_model(spec: ModelSpec, cache: Cache | None) -> AsyncIterator[ChatModel]:
    """Open a model: connect or start it, probe it, and put the cache around it.

    Args:
        spec: which model, where, and how to treat it.
        cache: replies and profiles of earlier runs; stays open. With `spec.cache == "off"` it is
            neither read nor written.

    Raises:
        EndpointError: the endpoint is down, wants another key, or is no model endpoint.
        InputError: the address or the model's name is wrong.
        MissingExtra: `embedded` without its package installed.
        SetupError: `embedded` without its weights installed, or with a file that can't be loaded.
    """
    check_spec(spec)
    # The embedded server has another port each time: what a probe finds can't be remembered.
    profiles = None if spec.cache == "off" or spec.endpoint == EMBEDDED else cache
    async with _config(spec) as config:
        endpoint = await open_endpoint(config, profiles)
        model = CachedModel(endpoint, cache, mode=spec.cache)
        try:
            yield model
        finally:
            await model.aclose()


def check_spec(spec: ModelSpec) -> str:
    """Refuse what can be seen to be wrong before anything is opened.

    Returns:
        The endpoint's address without its secrets, or `embedded`: safe to show.

    Raises:
        InputError: the address is none, or a setting is out of its range.
    """
    if not isinstance(spec.endpoint, str):
        raise InputError(
            f"the endpoint is a {type(spec.endpoint).__name__}",
            todo="Give its address as http://HOST:PORT/v1, or `embedded`",
        )
    if spec.gguf is not None and spec.endpoint != EMBEDDED:
        raise InputError(
            "a GGUF file is for the embedded endpoint only",
            where=str(spec.gguf),
            todo="Leave it out, or take `embedded` as the endpoint",
        )
    config = EndpointConfig(
        url=spec.endpoint, concurrency=spec.concurrency, attempt_seconds=spec.attempt_seconds
    )
    return EMBEDDED if spec.endpoint == EMBEDDED else Address.parse(config.url).base


@asynccontextmanager
async def _config(spec: ModelSpec) -> AsyncIterator[EndpointConfig]:
    """Say where the model is, having started it where it is the embedded one."""
    if spec.endpoint != EMBEDDED:
        yield EndpointConfig(
            url=spec.endpoint,
            model=spec.model,
            api_key=spec.api_key,
            concurrency=spec.concurrency,
            attempt_seconds=spec.attempt_seconds,
        )
        return
    from ._embedded import EmbeddedConfig, EmbeddedServer

    async with EmbeddedServer(EmbeddedConfig(gguf=spec.gguf, concurrency=spec.concurrency)) as it:
        yield EndpointConfig(
            url=it.url,
            model=it.identity.name,
            concurrency=spec.concurrency,
            attempt_seconds=spec.attempt_seconds,
            identity=it.identity,
        )
