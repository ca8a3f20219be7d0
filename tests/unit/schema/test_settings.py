"""A setting is a short text, equal for equal values; whole prompts are not kept, and secrets not at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_hexdigest

from nemo_gym.rollout_compare.schema import (
    long_text,
    named_parts,
    setting_text,
    setting_texts,
    summed_up,
)
from nemo_gym.rollout_compare.schema.settings import SECRET, is_secret
from tests.properties import PROPERTY

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=100),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("gpt-x", "gpt-x"),
        (0.6, "0.6"),
        (1.0, "1.0"),
        (4096, "4096"),
        (True, "true"),
        ("auto", "auto"),
        ("none", '"none"'),
        ("true", '"true"'),
        ("1.0", '"1.0"'),
        ("", '""'),
        (" x", '" x"'),
        ("(secret)", '"(secret)"'),
        ("3 characters #0123456789abcdef", '"3 characters #0123456789abcdef"'),
        ({"effort": "high", "summary": None}, "effort=high"),
        ({"b": 2, "a": [1, None]}, "a=[1, null], b=2"),
        ([1, 2], "[1, 2]"),
        (["table/a"], "table/a"),
        ("https://user:password@host/v1", "https://host/v1"),
    ],
)
def test_a_short_value_is_shown_as_it_is(value: Any, text: str) -> None:
    assert setting_text("name", value) == text


@pytest.mark.parametrize("value", [None, [], {}, {"a": None}, {"a": []}])
def test_what_says_nothing_is_no_setting(value: Any) -> None:
    assert setting_text("name", value) is None


@pytest.mark.parametrize("value", ["x" * 81, "two\nlines"])
def test_a_long_text_is_its_length_and_hash(value: str) -> None:
    text = setting_text("prompt", value)
    assert text == f"{len(value)} characters #{xxh3_64_hexdigest(value.encode())}" == summed_up(value)
    assert long_text(text) == len(value)
    assert named_parts(text) is None


def test_tools_are_their_names_and_a_hash() -> None:
    tools = [{"type": "function", "name": "bash"}, {"type": "function", "function": {"name": "a,b#"}}, {"type": "web"}]
    text = setting_text("tools", tools)
    assert text is not None
    assert text.startswith("bash, a;b, web #")
    assert named_parts(text) == ["bash", "a;b", "web"]
    assert text != setting_text("tools", [{"name": "bash", "type": "custom"}, *tools[1:]])


def test_many_tools_are_counted() -> None:
    text = setting_text("tools", [{"name": f"tool {i}"} for i in range(101)])
    assert text is not None
    assert named_parts(text) == ["101 names"]


def test_long_lists_and_objects_are_summed_up() -> None:
    assert (setting_text("stop", list(range(100))) or "").startswith("100 entries #")
    assert (setting_text("text", {"schema": "x" * 100, "kind": "json"}) or "").startswith("kind, schema #")
    assert (setting_text("n", 10**100) or "").startswith("101 characters #")


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "apiKey", "key", "secret", "client_secret", "password", "Authorization", "cookie"),
        *("access_token", "token", "aws_credentials", "auth", "x-api-key", "bearer"),
    ],
)
def test_a_secret_is_never_told(name: str) -> None:
    assert is_secret(name)
    assert setting_text(name, "s3cr3t-value") == SECRET
    shown = setting_text("headers", {name: "s3cr3t-value", "x": 1})
    assert shown == f"{name}={SECRET}, x=1" if name < "x" else f"x=1, {name}={SECRET}"
    # Not even by its hash.
    one, other = ([{"name": "mcp", "headers": {name: value}}] for value in ("s3cr3t-value", "other"))
    assert setting_text("tools", one) == setting_text("tools", other)


@pytest.mark.parametrize("name", ["max_output_tokens", "monkey", "tokenizer", "top_k", "temperature", "tool_choice"])
def test_other_names_are_no_secrets(name: str) -> None:
    assert not is_secret(name)


def test_what_is_nested_too_deeply_is_cut() -> None:
    value: Any = "end"
    for _ in range(600):
        value = {"a": [value]}
    assert setting_text("deep", value) is not None


def test_of_lists_in_lists_twenty_levels_are_told() -> None:
    def nested(levels: int) -> Any:
        value: Any = 7
        for _ in range(levels):
            value = [value]
        return value

    assert setting_text("deep", nested(20)) == "[" * 20 + "7" + "]" * 20
    assert setting_text("deep", nested(21)) == setting_text("deep", nested(600)) == "[" * 20 + '"..."' + "]" * 20


def test_what_json_cannot_hold_is_told_by_its_type() -> None:
    assert setting_text("seed", 10**5000) == "(int)"  # more digits than Python writes
    assert setting_text("seeds", [10**5000, 1]) == "(list)"


def test_what_json_does_not_know_has_a_text() -> None:
    assert setting_text("odd", {1, 2}) == '"{1, 2}"'
    assert setting_text("odd", {"a": float("nan")}) == "a=NaN"


def test_only_what_has_a_value_is_a_setting() -> None:
    assert setting_texts({"model": "m", "top_p": None, "tools": []}) == {"model": "m"}


@PROPERTY
@given(JSON)
def test_equal_values_have_equal_texts_and_texts_are_short(value: Any) -> None:
    text = setting_text("name", value)
    assert text == setting_text("name", value)
    assert text is None or len(text) < 1000


@PROPERTY
@given(st.text(max_size=200), st.text(max_size=200))
def test_different_texts_have_different_settings(one: str, other: str) -> None:
    assert (one == other) == (setting_text("name", one) == setting_text("name", other))
