"""What the mock endpoint answers: valid instances of any JSON schema, made from a hash.

The same request gives the same reply in every process and on every machine, so that a test can
compare two runs label by label.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

_WORDS = (
    *("cells", "genes", "markers", "cluster", "express", "share", "higher", "lower", "than"),
    *("donor", "sample", "tissue", "show", "observed", "effect", "group", "rises", "falls"),
)

SCHEMA_MARK = "must match this JSON schema:"
"""Stands before the schema in the prompt of a client that can't send `response_format`."""


def request_hash(body: Mapping[str, object]) -> str:
    """SHA-256 of a request body's canonical JSON."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def draw(*parts: object) -> int:
    """A 64-bit integer that depends on the parts alone."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def share(*parts: object) -> float:
    """A float in [0, 1) that depends on the parts alone."""
    return draw(*parts) / 2**64


@dataclass(frozen=True)
class _Maker:
    """Builds one instance of a schema; every choice is drawn from `key` and the place."""

    key: str
    root: Mapping[str, object]
    depth_limit: int = 12
    seen: dict[str, object] = field(default_factory=dict)

    def make(self, schema: object, place: str = "$", depth: int = 0) -> object:
        if not isinstance(schema, dict) or depth > self.depth_limit:
            return None
        if "$ref" in schema:
            return self.make(self._resolve(str(schema["$ref"])), place, depth + 1)
        if "const" in schema:
            return schema["const"]
        for name in ("enum", "anyOf", "oneOf"):
            choices = schema.get(name)
            if isinstance(choices, list) and choices:
                chosen = choices[draw(self.key, place, name) % len(choices)]
                return chosen if name == "enum" else self.make(chosen, place, depth + 1)
        if isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
            return self.make(schema["allOf"][0], place, depth + 1)
        return self._typed(schema, place, depth)

    def _typed(self, schema: dict[str, object], place: str, depth: int) -> object:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = kind[draw(self.key, place, "type") % len(kind)]
        if kind == "object":
            return self._object(schema, place, depth)
        if kind == "array":
            return self._array(schema, place, depth)
        if kind == "integer":
            return self._integer(schema, place)
        if kind == "number":
            low, high = _number(schema, "minimum", 0.0), _number(schema, "maximum", 1.0)
            return round(low + share(self.key, place) * (high - low), 6)
        if kind == "boolean":
            return bool(draw(self.key, place) & 1)
        return None if kind == "null" else self._string(schema, place)

    def _resolve(self, ref: str) -> object:
        node: object = self.root
        for part in ref.removeprefix("#/").split("/"):
            node = (
                node[part.replace("~1", "/").replace("~0", "~")] if isinstance(node, dict) else {}
            )
        return node

    def _object(self, schema: dict[str, object], place: str, depth: int) -> dict[str, object]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required", list(properties))
        names = [name for name in properties if isinstance(required, list) and name in required]
        return {name: self.make(properties[name], f"{place}.{name}", depth + 1) for name in names}

    def _array(self, schema: dict[str, object], place: str, depth: int) -> list[object]:
        prefix = schema.get("prefixItems")
        if isinstance(prefix, list):
            return [self.make(one, f"{place}[{i}]", depth + 1) for i, one in enumerate(prefix)]
        least = int(_number(schema, "minItems", 1))
        most = max(least, int(_number(schema, "maxItems", least + 2)))
        size = least + draw(self.key, place, "size") % (min(most, least + 2) - least + 1)
        items = schema.get("items", {"type": "string"})
        return [self.make(items, f"{place}[{i}]", depth + 1) for i in range(size)]

    def _integer(self, schema: dict[str, object], place: str) -> int:
        low = int(_number(schema, "minimum", 0))
        high = int(_number(schema, "maximum", low + 4))
        return low + draw(self.key, place) % (high - low + 1)

    def _string(self, schema: dict[str, object], place: str) -> str:
        size = 2 + draw(self.key, place, "words") % 4
        words = (_WORDS[draw(self.key, place, i) % len(_WORDS)] for i in range(size))
        text = " ".join(words)
        least, most = int(_number(schema, "minLength", 0)), int(_number(schema, "maxLength", 200))
        return text.ljust(least, "x")[:most]


def _number(schema: Mapping[str, object], name: str, default: float) -> float:
    value = schema.get(name)
    return float(value) if isinstance(value, int | float) else float(default)


def instance(schema: Mapping[str, object], key: str) -> object:
    """A valid instance of a JSON schema, the same for the same schema and key."""
    return _Maker(key=key, root=schema).make(schema)


def wanted_schema(body: Mapping[str, object]) -> Mapping[str, object] | None:
    """The schema that a request asks for: in `response_format`, or in its last message."""
    response_format = body.get("response_format")
    if isinstance(response_format, dict):
        inner = response_format.get("json_schema")
        schema = inner.get("schema") if isinstance(inner, dict) else None
        return schema if isinstance(schema, dict) else None
    messages = body.get("messages")
    text = str(messages[-1].get("content")) if isinstance(messages, list) and messages else ""
    _, found, rest = text.rpartition(SCHEMA_MARK)
    if not found:
        return None
    schema, _ = json.JSONDecoder().raw_decode(rest.lstrip())
    return schema if isinstance(schema, dict) else None


def default_text(body: Mapping[str, object], key: str) -> str:
    """What the mock says where no responder is set."""
    schema = wanted_schema(body)
    return f"reply {key[:12]}" if schema is None else json.dumps(instance(schema, key))


def spoil_ids(text: str) -> str:
    """Take the first property out of a JSON object and put one in that nobody asked for."""
    value = _json_or_none(text)
    if not isinstance(value, dict) or not value:
        return text
    inner = next((v for v in value.values() if isinstance(v, dict)), None)
    first = next(iter(value))
    spoiled = {name: item for name, item in value.items() if name != first}
    spoiled["zz99"] = inner if inner is not None else value[first]
    return json.dumps(spoiled)


def other_case(text: str) -> str:
    """The same JSON with every string value in capitals; keys stay."""

    def upper(value: object) -> object:
        if isinstance(value, str):
            return value.upper()
        if isinstance(value, list):
            return [upper(item) for item in value]
        if isinstance(value, dict):
            return {name: upper(item) for name, item in value.items()}
        return value

    value = _json_or_none(text)
    return text.upper() if value is None else json.dumps(upper(value))


def _json_or_none(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return None
    return value


def token_logprobs(text: str, top: int) -> list[dict[str, object]]:
    """Made-up log probabilities, one per word, with `top` alternatives each."""
    tokens = text.split(" ")
    content: list[dict[str, object]] = []
    for index, token in enumerate(tokens):
        alternatives = [{"token": token, "logprob": -0.1, "bytes": list(token.encode())}]
        alternatives += [
            {"token": f"alt{n}", "logprob": -2.0 - n, "bytes": []} for n in range(1, top)
        ]
        one: dict[str, object] = dict(alternatives[0])
        one["top_logprobs"] = alternatives[:top] if top else []
        content.append(one | {"token": token if index == 0 else f" {token}"})
    return content
