"""What is known of an endpoint, and how a refusal in use changes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..schema import ModelIdentity, digest
from ._types import Capabilities, Request


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of an endpoint; a new object whenever something is learned."""

    identity: ModelIdentity
    capabilities: Capabilities
    tokenize: str | None = None
    """Which field of `/tokenize` takes the text: `prompt` (vLLM) or `content` (llama.cpp)."""
    refused_schemas: frozenset[str] = frozenset()
    """Digests of schemas that the endpoint can't enforce, though it can enforce others."""

    def sends_schema(self, request: Request) -> bool:
        """Whether a request's schema goes as `response_format`, where there is one."""
        if request.schema is None or self.capabilities.json_schema is False:
            return False
        return not self.refused_schemas or schema_digest(request) not in self.refused_schemas

    def after_refusal(self, request: Request, rejects: str) -> Profile | None:
        """What is known after the endpoint has refused a part of a request.

        Args:
            request: what was sent.
            rejects: `schema` or `logprobs`.

        Returns:
            The new profile, under which the request may be sent once more; None if the refused
            part was not in the request, so that sending it again would not help.
        """
        if rejects == "logprobs" and request.top_logprobs is not None:
            return replace(self, capabilities=replace(self.capabilities, logprobs=False))
        if rejects != "schema" or not self.sends_schema(request):
            return None
        if self.capabilities.json_schema:  # it takes schemas, so it is this one that it can't
            refused = self.refused_schemas | {schema_digest(request)}
            return replace(self, refused_schemas=refused)
        return replace(self, capabilities=replace(self.capabilities, json_schema=False))


def schema_digest(request: Request) -> str:
    """SHA-256 of a request's schema."""
    return digest(dict(request.schema or {}))
