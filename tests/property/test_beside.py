"""What stands beside the input is told alike, whichever way a row is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.producers.beside import Beside, BesideDecoder
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, parse_object
from tests.properties import PROPERTY

PATHS = ("reward", "params.input", "params.metadata.id", "response.output")


class Item(msgspec.Struct, frozen=True):
    type: Any = None


KINDS = {"response.output": list[Item | int | str | list[Any] | None] | bool | int | float | str | None}


def made(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True)


BESIDE = Beside("params", frozenset({"input", "metadata"}), made)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["input", "metadata", "a", "id", "caf\u00e9"]), inner, max_size=3)
    ),
    max_leaves=8,
)
PARAMS = st.dictionaries(st.sampled_from(["input", "metadata", "temperature", "tools", "x"]), VALUES, max_size=5)
ROWS = st.fixed_dictionaries(
    {},
    optional={"reward": st.integers(0, 1), "params": PARAMS | VALUES, "response": st.just({"output": [{"type": "m"}]})},
)


def plainly(line: bytes) -> tuple[Any, ...]:
    return BesideDecoder(PATHS, KINDS, BESIDE).pick(parse_object(line))


def comparable(values: tuple[Any, ...]) -> list[Any]:
    *first, steps, beside = values
    types = [one.type if isinstance(one, Item) else one.get("type") for one in steps or ()]
    return [*first, types, beside]


@PROPERTY
@given(st.lists(ROWS, min_size=1, max_size=6), st.booleans())
def test_the_fast_and_the_plain_way_agree(rows: list[dict[str, Any]], spaced: bool) -> None:
    separators = (" , ", " :\t") if spaced else (",", ":")
    lines = [json.dumps(row, separators=separators).encode() for row in rows]
    decoder = BesideDecoder(PATHS, KINDS, BESIDE)
    for _ in range(2):  # the second time it knows that there is something beside
        found = list(zip(*decoder.columns(lines), strict=True))
        assert list(map(comparable, found)) == [comparable(plainly(line)) for line in lines]


@pytest.mark.parametrize(
    ("params", "beside"),
    [
        ('{"input": "a", "temperature": 1.0}', {"temperature": 1.0}),
        ('{"input": "a"}', None),
        ('{"input": "a", "temperature": null}', None),
        ('{"input": 1, "input": 2, "x": 3}', {"x": 3}),
        # A tool has a parameter of the input's name and, by chance, its value.
        ('{"tools": {"input": 1}, "input": 1, "x": 3}', {"tools": {"input": 1}, "x": 3}),
        (
            '{"x": {"input": {"metadata": 7}}, "metadata": 7, "input": {"metadata": 7}}',
            {"x": {"input": {"metadata": 7}}},
        ),
        ('{"x": "\\"input\\": 1", "input": 1}', {"x": '"input": 1'}),
        ('{"x": NaN}', {"x": float("nan")}),
        ("[1, 2, 3]", None),
        ("null", None),
        ("5", None),
    ],
)
def test_what_stands_beside(params: str, beside: Any) -> None:
    decoder = BesideDecoder(PATHS, KINDS, BESIDE)
    lines = [f'{{"reward": 1, "params": {params}}}'.encode()] * 2
    expected = None if beside is None else made(beside)
    for _ in range(2):
        assert list(decoder.columns(lines)[-1]) == [expected, expected]


def test_texts_of_which_the_same_is_left_may_say_different_things_only_in_what_stands_apart() -> None:
    decoder = BesideDecoder(PATHS, KINDS, BESIDE)
    lines = [
        b'{"params": {"input": %d, "metadata": {"id": %d}, "tools": {"input": %d}}}' % (i, i, tool)
        for i, tool in [(1, 1), (2, 2), (1, 2), (2, 1)]
    ]
    columns = decoder.columns(lines)
    assert columns[-1] == [made({"tools": {"input": tool}}) for tool in (1, 2, 2, 1)]
    assert list(columns[1]) == list(columns[2]) == [1, 2, 1, 2]


def test_what_was_made_is_made_once() -> None:
    calls: list[Mapping[str, Any]] = []

    def noted(held: Mapping[str, Any]) -> int:
        calls.append(held)
        return len(calls)

    decoder = BesideDecoder(PATHS, KINDS, Beside("params", frozenset({"input"}), noted))
    decoder.columns([b'{"params": {"input": "task %d", "temperature": 1}}' % i for i in range(50)])
    assert calls == [{"temperature": 1}]


def test_only_so_much_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nemo_gym.rollout_compare.producers.beside._MOST_REMEMBERED", 100)
    decoder = BesideDecoder(PATHS, KINDS, BESIDE)
    lines = [b'{"params": {"input": 1, "x": "%d%s"}}' % (i % 3, b"-" * 40) for i in range(9)]
    assert decoder.columns(lines)[-1] == [made({"x": f"{i % 3}{'-' * 40}"}) for i in range(9)]


@pytest.mark.parametrize("paths", [("params",), ('a"b', "params.input")])
def test_paths_that_cannot_be_known_beforehand_are_read_plainly(paths: tuple[str, ...]) -> None:
    decoder = BesideDecoder(paths, {}, BESIDE)
    assert decoder.columns([b'{"params": {"input": 1, "x": 2}}'])[-1] == (made({"x": 2}),)


def test_no_lines_are_columns_without_values() -> None:
    assert BesideDecoder(PATHS, KINDS, BESIDE).columns([]) == [()] * 5


def test_a_line_that_is_none_is_refused() -> None:
    decoder = BesideDecoder(PATHS, KINDS, BESIDE)
    with pytest.raises(InvalidLine, match="invalid JSON"):
        decoder.columns([b'{"params": {"x": 1}}', b'{"params": {"x": 1}'])


@pytest.mark.parametrize("end", ['"', '\\ud800"'])
def test_a_field_of_many_megabytes_says_what_a_small_one_says(end: str) -> None:
    """The fast decoder takes it, but for half a pair of surrogates."""
    line = f'{{"{BESIDE.object}": {{"large": "{"x" * (5 << 20)}{end}}}}}'.encode()
    decoder = BesideDecoder(PATHS, KINDS, BESIDE)
    decoder.columns([f'{{"{BESIDE.object}": {{"large": 1}}}}'.encode()])
    assert [column[0] for column in decoder.columns([line])] == list(decoder.pick(parse_object(line)))
