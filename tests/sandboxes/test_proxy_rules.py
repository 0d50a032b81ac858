"""Paths, keys and addresses: what the proxy of model endpoints lets pass."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import PolicyError
from basanite.sandboxes import ModelEndpoint, Network, SandboxSpec
from basanite.sandboxes._proxy_rules import Redactor, Refused, path_below
from support.proxied import ANYTHING, KEY


@pytest.mark.parametrize(
    ("target", "below"),
    [
        (b"/v1/models", b"/models"),
        (b"/v1/models/Qwen%2FQwen3-8B", b"/models/Qwen%2FQwen3-8B"),
        (b"/v1/files/?limit=1&after=a%2e%2e/", b"/files/?limit=1&after=a%2e%2e/"),
        (b"/v1/a...b/.well-known", b"/a...b/.well-known"),
    ],
)
def test_a_path_below_the_base_passes_as_it_is(target: bytes, below: bytes) -> None:
    assert path_below(b"GET", target, ANYTHING) == below


@pytest.mark.parametrize(
    "target",
    [
        b"/", b"/stats", b"/v1x/models", b"/v10", b"//v1/models", b"/%761/models", b"*",
        b"http://127.0.0.1/v1/models", b"127.0.0.1:80", b"v1/models",
        b"/v1/../stats", b"/v1/./models", b"/v1//models", b"/v1/models/..", b"/v1/..",
        b"/v1/%2e%2e/stats", b"/v1/.%2E/stats", b"/v1/a%2f..%2fb", b"/v1/%2f/x", b"/v1/..;x=1/a",
        b"/v1/%252e%252e/stats", b"/v1/%", b"/v1/%zz", b"/v1/a\\..\\b", b"/v1/a%5c..%5cb",
        b"/v1/a%00b", b"/v1/a%0d%0aX:1", b"/v1/%c0%ae%c0%ae/", b"/v1/%ef%bc%8e./x", b"/v1/a b",
        b"/v1/a%3f/b", b"/v1/a%23b", b"/v1/a#b", b"/v1/a?b#c", b"/v1/a?b\xff",
    ],
)  # fmt: skip
def test_no_other_path_passes(target: bytes) -> None:
    with pytest.raises(Refused):
        path_below(b"POST", target, ANYTHING)


@pytest.mark.parametrize(
    ("method", "path", "passes"),
    [
        (b"POST", b"/chat/completions", True),
        (b"POST", b"/embeddings?a=b", True),
        (b"GET", b"/models", True),
        (b"GET", b"/models/a%2Fb", True),
        (b"GET", b"/chat/completions", False),  # replies that were stored, of other programs
        (b"POST", b"/chat/completions/", False),
        (b"POST", b"/chat/completions/abc", False),
        (b"GET", b"/files", False),
        (b"GET", b"/files/abc/content", False),
        (b"POST", b"/load_lora_adapter", False),
        (b"GET", b"/modelsx", False),
        (b"GET", b"", False),
    ],
)
def test_by_default_models_are_asked_and_listed_and_no_more(
    method: bytes, path: bytes, passes: bool
) -> None:
    allow = ModelEndpoint(name="a", url="http://a/v1").allow
    if passes:
        assert path_below(method, b"/v1" + path, allow) == path
    else:
        with pytest.raises(Refused) as raised:
            path_below(method, b"/v1" + path, allow)
        assert raised.value.status == 403


@pytest.mark.parametrize("entry", ["/models", "DELETE /a", "GET models", "GET /a*b", "GET /a b"])
def test_what_is_allowed_names_a_method_and_a_path(entry: str) -> None:
    with pytest.raises(PolicyError, match="is not `GET /PATH`"):
        endpoint = {"name": "a", "url": "http://a/v1", "allow": [entry]}
        SandboxSpec.create(network={"endpoints": [endpoint]})


@settings(database=None)
@given(
    parts=st.lists(st.sampled_from(["k-", "k-k-k-secret", "k", "-", "secret", "\n", "ret"])),
    cuts=st.lists(st.integers(0, 60)),
)
def test_the_key_is_found_however_a_reply_is_cut(parts: list[str], cuts: list[int]) -> None:
    key, data = "k-k-secret", "".join(parts).encode()
    redactor = Redactor(key)
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [redactor.feed(data[a:b]) for a, b in itertools.pairwise(bounds)]
    found = b"".join(pieces) + redactor.end()
    assert found == data.replace(key.encode(), b"*" * len(key))


def test_only_what_may_be_the_keys_beginning_is_held_back() -> None:
    redactor = Redactor(KEY)
    assert redactor.feed(b"data: 1\n\n") == b"data: 1\n\n"
    assert redactor.feed(b"data: sk-te") == b"data: "
    assert redactor.feed(b"a\n\n") == b"sk-tea\n\n"


def test_a_placeholder_is_no_key() -> None:
    assert Redactor("EMPTY").feed(b"EMPTY") == b"EMPTY"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a/v1",
        "http://user:pass@a/v1",
        "http://a/v1?key=secret",
        "http://a/../v1",
        "http:///",
        "http://:80/v1",
        "http://a:b/v1",
        "http://a b/v1",
        "http://a/v1#b",
    ],
)
def test_an_address_that_would_hold_a_secret_is_refused(url: str) -> None:
    with pytest.raises(PolicyError) as raised:
        SandboxSpec.create(network={"endpoints": [{"name": "a", "url": url}]})
    assert "pass" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_key_that_can_not_be_sent_is_refused_without_showing_it() -> None:
    with pytest.raises(PolicyError) as raised:
        ModelEndpoint(name="a", url="http://a/v1", api_key="secret\n")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "field", [{"environment": {"A": f"x{KEY}"}}, {"code": f"k = '{KEY}'"}, {"command": ["a", KEY]}]
)
def test_a_key_may_not_be_given_to_the_code(field: dict[str, object]) -> None:
    network = Network(endpoints=(ModelEndpoint(name="a", url="http://a/v1", api_key=KEY),))
    with pytest.raises(PolicyError, match="would be seen inside") as raised:
        SandboxSpec.create(network=network, **field)
    assert KEY not in str(raised.value)
    shown = SandboxSpec.create(network=network)
    assert KEY not in repr(shown) + shown.model_dump_json()
