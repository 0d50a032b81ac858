"""Reading JSON from replies: tolerant around it, strict inside."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.llm import read_json

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(st.text(), _JSON, max_size=3)
_PROSE = st.text(alphabet=st.characters(exclude_characters="{}[]`"), max_size=30)


@given(_JSON)
def test_a_whole_json_is_read_as_it_is(value: object) -> None:
    assert read_json(f" \n{json.dumps(value)}\n ") == value


@given(_OBJECTS, _PROSE, _PROSE)
def test_an_object_with_prose_around_it_is_found(
    value: dict[str, object], before: str, after: str
) -> None:
    assert read_json(f"{before} {json.dumps(value)} {after}") == value


@given(_OBJECTS)
def test_a_code_fence_is_taken_off(value: dict[str, object]) -> None:
    text = json.dumps(value).replace("`", "\\u0060")
    assert read_json(f"Here it is:\n```json\n{text}\n```\nDone.") == value


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_message(text: str) -> None:
    try:
        read_json(text)
    except ValueError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "not JSON"),
        ("I can't do that.", "not JSON"),
        ('{"a1": "entailed"', "not JSON"),
        ('{"a1": "entailed",}', "not JSON"),
        ("{'a1': 'entailed'}", "not JSON"),
        ('{"a1": 1} or {"a1": 2}', "2 JSON values"),
        ('{"a1": "x", "a1": "y"}', "'a1' twice"),
        ('{"score": NaN}', "NaN"),
        ('{"score": -Infinity}', "Infinity"),
        ("[" * 100_000, "deep"),
        ('{"a":' * 100_000, "deep"),
    ],
)
def test_what_is_not_one_json_value_is_refused(text: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        read_json(text)


def test_a_key_twice_with_one_value_is_no_contradiction() -> None:
    assert read_json('{"a1": "x", "a1": "x"}') == {"a1": "x"}


def test_an_object_wins_over_lists_in_the_prose() -> None:
    assert read_json('As [1] and [2] say: {"a1": "neutral"}') == {"a1": "neutral"}


def test_a_text_full_of_braces_is_refused_quickly() -> None:
    with pytest.raises(ValueError, match="not JSON"):
        read_json("{ " * 500_000)
