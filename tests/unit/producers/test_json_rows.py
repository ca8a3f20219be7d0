from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, RowDecoder, dig, parse_object
from nemo_gym.rollout_compare.schema import CompareInputError

ROW = {
    "reward": 0.5,
    "task": {"id": {"name": "sort", "set": None}, "tags": ["a", "b"]},
    "response": {"metadata": {"id": 7, "agent_error_type": "Timeout"}, "output": [{"text": "long"}]},
    "none": None,
    "a.b": "a field whose name has a dot",
}


class TestParseObject:
    def test_gives_every_field_of_the_row(self) -> None:
        assert parse_object(json.dumps(ROW).encode()) == ROW

    @pytest.mark.parametrize(
        ("line", "value"), [(b"Infinity", math.inf), (b"-Infinity", -math.inf), (b"1e400", math.inf)]
    )
    def test_accepts_infinities_as_numbers(self, line: bytes, value: float) -> None:
        assert parse_object(b'{"reward": ' + line + b"}") == {"reward": value}

    def test_accepts_nan_as_a_number(self) -> None:
        assert math.isnan(parse_object(b'{"reward": NaN}')["reward"])

    def test_of_two_equal_keys_the_last_counts(self) -> None:
        assert parse_object(b'{"task": 1, "reward": 2, "task": 3}') == {"task": 3, "reward": 2}

    @pytest.mark.parametrize(
        ("raw", "text"),
        [
            (b"\xff", "\ufffd"),
            (b"caf\xe9", "caf\ufffd"),
            (b"\xf0\x9f\x98", "\ufffd"),
            ("caf\u00e9 \U0001f600".encode(), "caf\u00e9 \U0001f600"),
        ],
    )
    def test_invalid_bytes_become_replacement_characters(self, raw: bytes, text: str) -> None:
        assert parse_object(b'{"task": "' + raw + b'"}') == {"task": text}

    @pytest.mark.parametrize("char", ["\u2028", "\u2029", "\u0085"])
    def test_line_separators_stand_inside_strings(self, char: str) -> None:
        assert parse_object(f'{{"task": "a{char}b"}}'.encode()) == {"task": f"a{char}b"}

    def test_a_surrogate_without_a_partner_is_kept(self) -> None:
        assert parse_object(rb'{"task": "\ud83d"}') == {"task": "\ud83d"}

    def test_an_integer_of_400_digits_is_exact(self) -> None:
        assert parse_object(b'{"seed": 1' + b"0" * 399 + b"}") == {"seed": 10**399}

    def test_an_integer_of_5000_digits_elsewhere_in_the_row_is_no_error(self) -> None:
        assert parse_object(b'{"task": "a", "seed": ' + b"7" * 5000 + b"}")["task"] == "a"

    def test_an_id_of_5000_digits_keeps_all_of_them(self) -> None:
        assert str(parse_object(b'{"task": ' + b"7" * 5000 + b"}")["task"]) == "7" * 5000

    def test_carriage_returns_around_the_object_are_white_space(self) -> None:
        assert parse_object(b'\r{"reward": 1}\r') == {"reward": 1}

    @pytest.mark.parametrize(
        "line",
        [
            b"{",
            b'{"reward": 1',
            b'{"reward": 1}}',
            b'{"reward": 1} {"reward": 2}',
            b"{'reward': 1}",
            b'{"reward": 01}',
            b'{"reward": nan}',
            b'{"reward": .5}',
            b'{"reward": 1,}',
            b'{"reward" 1}',
            b'{"task": "a\tb"}',
            b'{"task": "\\q"}',
            b'{"task": "\\ud8"}',
            b"\x00",
            b'{"reward": 1}\x00',
            b"\xef\xbb\xbf{}",
            b"not json",
        ],
    )
    def test_what_json_loads_refuses_is_invalid_json(self, line: bytes) -> None:
        with pytest.raises(InvalidLine, match=r"^invalid JSON \(.+\)$"):
            parse_object(line)

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ('{"a": 1, }', "Illegal trailing comma before end of object: column 8"),
            ('{"a": [1,\t]}', "Illegal trailing comma before end of array: column 9"),
            ('{"a": [1,}', "Expecting value: column 10"),
            ('{"a": 1,]', "Expecting property name enclosed in double quotes: column 9"),
            ('{"a": ]', "Expecting value: column 7"),
        ],
    )
    def test_a_comma_too_many_is_said_in_the_same_words_by_every_python(self, line: str, what: str) -> None:
        with pytest.raises(InvalidLine) as refused:
            parse_object(line.encode())
        assert str(refused.value) == f"invalid JSON ({what})"

    @pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
    def test_nesting_too_deep_is_invalid_json(self, line: bytes) -> None:
        with pytest.raises(InvalidLine, match=r"^invalid JSON \(nested too deeply\)$"):
            parse_object(line)

    @pytest.mark.parametrize("line", [b"[]", b'"text"', b"1", b"1.5", b"true", b"null", b"NaN", b'[{"reward": 1}]'])
    def test_json_that_is_no_object_is_refused(self, line: bytes) -> None:
        with pytest.raises(InvalidLine, match=r"^expected a JSON object per line$"):
            parse_object(line)

    def test_its_errors_are_input_errors(self) -> None:
        with pytest.raises(CompareInputError):
            parse_object(b"{")


class TestDig:
    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("reward", 0.5),
            ("task.id.name", "sort"),
            ("task.id", {"name": "sort", "set": None}),
            ("task.id.set", None),
            ("task.absent", None),
            ("absent", None),
            ("absent.id", None),
            ("none.id", None),
            ("reward.id", None),
            ("task.tags.a", None),
            ("task.tags.0", None),
            ("task.id.name.s", None),
            ("a.b", None),
        ],
    )
    def test_gives_the_value_at_the_path_or_none(self, path: str, value: object) -> None:
        assert dig(ROW, path.split(".")) == value

    def test_goes_into_any_mapping(self) -> None:
        assert dig(MappingProxyType({"a": MappingProxyType({"b": 1})}), ["a", "b"]) == 1


class TestRowDecoder:
    PATHS = (
        "reward",
        "task.id.name",
        "response.metadata",
        "response.metadata.id",
        "response.metadata.id.deeper",
        "task.id",
        "absent",
        "none",
        "none.more",
        "reward.more",
    )
    VALUES = (
        0.5,
        "sort",
        {"id": 7, "agent_error_type": "Timeout"},
        7,
        None,
        {"name": "sort", "set": None},
        None,
        None,
        None,
        None,
    )

    def test_gives_a_lines_values_in_the_order_of_the_paths(self) -> None:
        assert RowDecoder(self.PATHS).decode(json.dumps(ROW).encode()) == self.VALUES

    def test_gives_the_same_values_of_a_row_at_hand(self) -> None:
        assert RowDecoder(self.PATHS).pick(ROW) == self.VALUES

    def test_gives_the_same_values_in_another_order_of_paths(self) -> None:
        decoder = RowDecoder(self.PATHS[::-1])
        assert decoder.decode(json.dumps(ROW).encode()) == self.VALUES[::-1]

    def test_a_path_may_be_asked_for_twice(self) -> None:
        assert RowDecoder(["reward", "reward"]).decode(b'{"reward": 1}') == (1, 1)

    @pytest.mark.parametrize(
        "path", ["field_0", "__class__", "__doc__", "real.imag", "a-b", "1", "", "caf\u00e9", "def"]
    )
    def test_a_field_may_have_any_name(self, path: str) -> None:
        assert RowDecoder([path, "a"]).decode(b'{"a": 1}') == (None, 1)
        *outer, last = path.split(".")
        row: dict[str, Any] = {last: "here"}
        for name in reversed(outer):
            row = {name: row}
        assert RowDecoder([path, "a"]).decode(json.dumps(row).encode()) == ("here", None)

    def test_no_attribute_of_a_python_value_is_taken_for_a_field(self) -> None:
        assert RowDecoder(["a.real", "a.field_0"]).decode(b'{"a": 5}') == (None, None)

    def test_a_key_written_with_escapes_is_the_same_key(self) -> None:
        assert RowDecoder(["reward", "task.id"]).decode(rb'{"re\u0077ard": 1, "t\u0061sk": {"i\u0064": 2}}') == (1, 2)

    @pytest.mark.parametrize("outer", [b"null", b"true", b"3", b"0.5", b'"text"', b"[]", b'[{"id": 1}]'])
    def test_a_value_that_is_no_object_has_nothing_below_it(self, outer: bytes) -> None:
        assert RowDecoder(["task.id", "reward"]).decode(b'{"task": ' + outer + b', "reward": 1}') == (None, 1)

    @pytest.mark.parametrize("path", ["task.id", "task.id.name"])
    def test_of_two_equal_objects_the_last_counts_whole(self, path: str) -> None:
        line = b'{"task": {"id": {"name": 1}}, "task": {}}'
        assert RowDecoder([path, "reward"]).decode(line) == (None, None)

    def test_a_number_beyond_64_bits_is_exact(self) -> None:
        assert RowDecoder(["task", "reward"]).decode(b'{"task": 18446744073709551617}') == (2**64 + 1, None)

    def test_what_only_the_plain_decoder_knows_is_read(self) -> None:
        reward, task = RowDecoder(["reward", "task"]).decode(b'{"reward": NaN, "task": "\\ud800\xff"}')
        assert math.isnan(reward)
        assert task == "\ud800\ufffd"

    @pytest.mark.parametrize("path", ["task.id", "task"])
    def test_many_lines_give_what_each_gives(self, path: str) -> None:
        rows: list[tuple[bytes, tuple[Any, ...]]] = [
            (b'{"task": {"id": 1}, "reward": 0.5}', (0.5, {"task.id": 1, "task": {"id": 1}}[path])),
            (b'{"reward": Infinity}', (math.inf, None)),
            (b'{"task": null, "reward": 1}', (1, None)),
        ]
        lines, values = zip(*rows, strict=True)
        decoder = RowDecoder(["reward", path])
        for many, expected in ((lines, values), (lines[:1] * 3, values[:1] * 3), (lines[1:], values[1:])):
            assert list(zip(*decoder.columns(many), strict=True)) == list(expected)
            assert list(zip(*decoder.columns([memoryview(line) for line in many]), strict=True)) == list(expected)
        assert [list(column) for column in decoder.columns([])] == [[], []]

    def test_a_line_among_many_that_is_no_row_is_refused(self) -> None:
        with pytest.raises(InvalidLine):
            RowDecoder(["reward", "task"]).columns([b'{"reward": 1}', b'{"reward": '])

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b'{"reward": 1', r"invalid JSON \(.*\)"),
            (b'{"reward": 1, "junk": tru}', r"invalid JSON \(.*\)"),
            (b'{"junk": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", r"invalid JSON \(nested too deeply\)"),
            (b"[]", "expected a JSON object per line"),
        ],
    )
    def test_a_line_that_is_no_row_is_refused(self, line: bytes, message: str) -> None:
        with pytest.raises(InvalidLine, match=f"^{message}$"):
            RowDecoder(["reward", "task"]).decode(line)


class TestWithoutTheFastDecoder:
    @pytest.mark.parametrize("path", ['say "x"', "a\\b", ".".join("a" * 40)], ids=["quote", "backslash", "long"])
    def test_fields_that_it_cannot_know_have_their_values_all_the_same(self, path: str) -> None:
        value: Any = 7
        for name in reversed(path.split(".")):
            value = {name: value}
        decoder = RowDecoder(("reward", path))
        lines = [json.dumps(row).encode() for row in ({"reward": 1, **value}, {"reward": 2})]
        assert [list(column) for column in decoder.columns(lines)] == [[1, 2], [7, None]]
        assert decoder.decode(lines[0]) == (1, 7)
        with pytest.raises(InvalidLine):
            decoder.columns([lines[0], b"[]"])


class TestObjectsOnTheWay:
    """Several rows at once, of which some have no object where a path goes on."""

    PATHS = ("response.metadata.id", "response.model", "response.usage.total")

    def columns(self, *responses: Any) -> list[list[Any]]:
        lines = [json.dumps({} if response is None else {"response": response}).encode() for response in responses]
        return [list(column) for column in RowDecoder(self.PATHS).columns(lines)]

    def test_absent_objects_have_no_values(self) -> None:
        assert self.columns(None, None) == [[None, None]] * 3

    def test_absent_ones_between_others(self) -> None:
        rows = [{"model": "m", "metadata": {"id": 7}}, None, {"usage": {"total": 3}}]
        assert self.columns(*rows) == [[7, None, None], ["m", None, None], [None, None, 3]]

    @pytest.mark.parametrize("other", [3, "text", [1], True])
    def test_something_else_than_an_object_has_no_values(self, other: Any) -> None:
        rows = [{"model": "m", "metadata": other}, other, {"metadata": {"id": 7}}]
        assert self.columns(*rows) == [[None, None, 7], ["m", None, None], [None, None, None]]
