"""Finding out once what an endpoint can do, and remembering it."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from ..schema import Sampling, digest
from ._address import Address
from ._config import EndpointConfig, api_key_of
from ._endpoint import Endpoint, token_count
from ._failure import Failure
from ._jsontext import read_json
from ._listing import Listing, list_model
from ._profile import Profile
from ._transport import Transport
from ._types import Capabilities, Message, Request

_log = logging.getLogger("basanite.llm")

_NAMESPACE = "endpoint-profile"
_VERSION = 1
"""Changes with what is probed or how, so that older profiles are not taken."""
_SPARE_CONNECTIONS = 4
"""Connections beyond the limiter's places, for token counts."""
_TOKENIZE_SECONDS = 20.0

_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"touchstone": {"type": "string", "enum": ["basanite"]}},
    "required": ["touchstone"],
    "additionalProperties": False,
}
_PROBE = Request(
    messages=(Message("user", "Say hello in one word."),),
    # Enough for a reasoning model's thought; the others end after a few tokens.
    sampling=Sampling(max_tokens=256),
    role="probe",
    parser_version="1",
    schema=_SCHEMA,
    top_logprobs=1,
)


class ProfileStore(Protocol):
    """Where profiles of endpoints are remembered; `store.ReplyCache` is one."""

    def recall(self, namespace: str, key: str) -> dict[str, object] | None:
        """Give what was remembered, or None."""
        ...

    def remember(self, namespace: str, key: str, body: dict[str, object]) -> None:
        """Keep a body, replacing an older one."""
        ...


@dataclass(frozen=True, slots=True)
class _Learned:
    """What chats and counts have shown, to be remembered."""

    json_schema: bool | None = None
    logprobs: bool | None = None
    tokenize: str | None = None
    refused_schemas: tuple[str, ...] = ()
    sure: bool = True
    """False where a passing fault left something open: then nothing is remembered."""


async def open_endpoint(config: EndpointConfig, profiles: ProfileStore | None = None) -> Endpoint:
    """Connect to an endpoint, find its model and find out what it can do.

    Asks `/v1/models` each time, and at the first time sends one or two tiny chats to see whether
    JSON schemas are kept to and log probabilities given; what they show is remembered for this
    address, model and server version. Close the result with `aclose`.

    Args:
        config: where it is and how to treat it.
        profiles: where to remember; None probes each time.

    Raises:
        EndpointError: it is down, wants another key, or is no model endpoint.
        InputError: the address or the model's name is wrong.
    """
    api_key = api_key_of(config.api_key)
    address = Address.parse(config.url, api_key=api_key)
    transport = Transport(address, api_key, connections=config.concurrency + _SPARE_CONNECTIONS)
    try:
        listing = await list_model(transport, address, config.model)
        identity = config.identity or listing.identity()
        unprobed = Capabilities(context_tokens=listing.context_tokens)
        endpoint = Endpoint(config, address, transport, Profile(identity, unprobed))
        key = _profile_key(address, listing)
        learned = _recall(profiles, key)
        if learned is None:
            learned = await _probe(endpoint, transport, listing)
            _remember(profiles, key, learned)
        endpoint.settle(
            _profile(endpoint.profile, learned, config.known),
            lambda profile: _remember(profiles, key, _relearned(learned, profile)),
        )
    except BaseException:
        await transport.close()
        raise
    return endpoint


def _profile(found: Profile, learned: _Learned, known: Capabilities) -> Profile:
    probed = replace(
        found.capabilities,
        json_schema=learned.json_schema,
        logprobs=learned.logprobs,
        tokenizer=None if not learned.sure else learned.tokenize is not None,
    )
    overrides = {name: value for name, value in asdict(known).items() if value is not None}
    return Profile(
        identity=found.identity,
        capabilities=replace(probed, **overrides),
        tokenize=learned.tokenize,
        refused_schemas=frozenset(learned.refused_schemas),
    )


def _profile_key(address: Address, listing: Listing) -> str:
    return digest(
        {
            "version": _VERSION,
            "address": address.base,
            "name": listing.name,
            "entry": dict(listing.entry),
            "server": listing.version,
        }
    )


def _remember(profiles: ProfileStore | None, key: str, learned: _Learned) -> None:
    if profiles is not None and learned.sure:
        profiles.remember(_NAMESPACE, key, asdict(learned))


def _recall(profiles: ProfileStore | None, key: str) -> _Learned | None:
    body = None if profiles is None else profiles.recall(_NAMESPACE, key)
    if body is None:
        return None
    schema, logprobs, tokenize = (body.get(k) for k in ("json_schema", "logprobs", "tokenize"))
    refused = body.get("refused_schemas")
    return _Learned(
        json_schema=schema if isinstance(schema, bool) else None,
        logprobs=logprobs if isinstance(logprobs, bool) else None,
        tokenize=tokenize if isinstance(tokenize, str) else None,
        refused_schemas=tuple(map(str, refused)) if isinstance(refused, list) else (),
    )


def _relearned(learned: _Learned, profile: Profile) -> _Learned:
    """What is to be remembered after a refusal in use."""
    return replace(
        learned,
        json_schema=profile.capabilities.json_schema,
        logprobs=profile.capabilities.logprobs,
        refused_schemas=tuple(sorted(profile.refused_schemas)),
    )


async def _probe(endpoint: Endpoint, transport: Transport, listing: Listing) -> _Learned:
    """At most two chats (a refusal of the one parameter leaves the other to be tried)."""
    learned = await _probe_tokenizer(transport, listing)
    outcome = await endpoint.attempt(_PROBE)
    if isinstance(outcome, Failure) and outcome.rejects == "logprobs":
        outcome = await endpoint.attempt(replace(_PROBE, top_logprobs=None))
        learned = replace(learned, logprobs=False)
    elif isinstance(outcome, Failure) and not outcome.retry:
        # Refused, for the schema or without a word why: see whether it works without.
        named = outcome.rejects == "schema"
        outcome = await endpoint.attempt(replace(_PROBE, schema=None))
        learned = replace(learned, json_schema=False if named else None)
        if isinstance(outcome, Failure):
            return replace(learned, logprobs=False if outcome.rejects == "logprobs" else None)
        return replace(learned, logprobs=outcome.logprobs is not None)
    if isinstance(outcome, Failure):
        if outcome.rejects == "schema":
            return replace(learned, json_schema=False)
        _log.warning("could not find out what %s can do: %s", endpoint.address, outcome.what)
        return replace(learned, sure=False)
    if learned.logprobs is None:
        learned = replace(learned, logprobs=outcome.logprobs is not None)
    if outcome.finish_reason == "length":
        return learned  # cut before it could show anything: stays unknown
    return replace(learned, json_schema=_keeps_to_schema(outcome.text))


def _keeps_to_schema(text: str) -> bool:
    try:
        return read_json(text) == {"touchstone": "basanite"}
    except ValueError:
        return False


async def _probe_tokenizer(transport: Transport, listing: Listing) -> _Learned:
    fields = ("content",) if listing.owner.startswith("llama") else ("prompt", "content")
    for field in fields:
        body = {"model": listing.name, field: "basanite", "add_special_tokens": False}
        answer = await transport.post("/tokenize", body, _TOKENIZE_SECONDS)
        if isinstance(answer, Failure):
            if answer.retry:
                return _Learned(sure=False)
            continue
        if token_count(answer):  # llama.cpp counts 0 where the field is not the one it reads
            return _Learned(tokenize=field)
    return _Learned()
