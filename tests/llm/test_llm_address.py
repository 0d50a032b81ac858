"""Addresses: what people write, where it goes, and that no secret is shown."""

from __future__ import annotations

import pytest

from basanite.errors import InputError
from basanite.llm._address import Address


@pytest.mark.parametrize(
    "given",
    [
        "http://host:8000",
        "http://host:8000/",
        "http://host:8000/v1",
        "http://host:8000/v1/",
        "http://host:8000/v1/chat/completions",
        "  http://host:8000/v1 ",
        "HTTP://host:8000/v1",
    ],
)
def test_every_way_to_write_it_gives_the_same_address(given: str) -> None:
    address = Address.parse(given)
    assert address.base == "http://host:8000/v1"
    assert address.root == "http://host:8000"


def test_a_path_before_v1_is_kept() -> None:
    address = Address.parse("https://host/models/judge/v1")
    assert address.base == "https://host/models/judge/v1"
    assert address.root == "https://host/models/judge"


def test_ipv6_keeps_its_brackets() -> None:
    assert Address.parse("http://[::1]:8000").base == "http://[::1]:8000/v1"


@pytest.mark.parametrize(
    "given", ["", "host:8000", "ftp://host", "http://", "http://host:99999", "http://[::1", "x"]
)
def test_what_is_no_http_address_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="http://HOST:PORT"):
        Address.parse(given)


@pytest.mark.parametrize(
    "given", ["http://host/v1?api-key=hunter2", "http://host/v1#hunter2", "ftp://me:hunter2@host"]
)
def test_a_refused_address_is_not_repeated_where_it_may_hold_a_secret(given: str) -> None:
    with pytest.raises(InputError) as caught:
        Address.parse(given)
    assert "hunter2" not in str(caught.value)


def test_a_password_goes_into_a_header_and_nowhere_else() -> None:
    address = Address.parse("http://me:p%40ss@host:1/v1", api_key="sk-secret")
    assert address.base == "http://host:1/v1"
    assert address.authorization == "Basic bWU6cEBzcw=="
    for text in (repr(address), str(address)):
        for secret in ("p@ss", "p%40ss", "sk-secret", "bWU6cEBzcw=="):
            assert secret not in text


def test_scrubbing_takes_every_secret_out_and_shortens() -> None:
    address = Address.parse("http://me:p%40ss@host:1/v1", api_key="sk-secret")
    said = address.scrub("key sk-secret\nof p@ss or p%40ss, Basic bWU6cEBzcw== " + "x" * 1000)
    assert said.startswith("key *** of *** or ***, Basic *** xxx")
    assert len(said) <= 301


@pytest.mark.parametrize(
    ("given", "local"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://10.0.0.1", False),
        ("http://localhost.example.org", False),
    ],
)
def test_this_machine_is_told_from_others(given: str, local: bool) -> None:
    assert Address.parse(given).local is local
