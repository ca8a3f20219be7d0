"""The fast decoder and the plain one agree on every line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, RowDecoder, parse_object
from tests.properties import PROPERTY

PATHS = ["reward", "mask_sample", "instance_config.mask_sample", "failure_kind", "error", "response.metadata"]
KEYS = [
    "task_id",
    "verifier_metadata.task_id",
    "verifier_metadata",
    "response.metadata.id",
    "response",
    "reward",
    "reward.value",
    "error..type",
]
DECODERS = {key: RowDecoder([*PATHS, key]) for key in KEYS}

NAMES = [
    *["reward", "mask_sample", "instance_config", "failure_kind", "error", "response", "metadata", "verifier_metadata"],
    *[
        "task_id",
        "id",
        "value",
        "type",
        "",
        "junk",
        "x_error_type",
        "rew\\u0061rd",
        "\\ud800",
        "a.b",
        "caf\u00e9",
        "field_0",
    ],
]
SCALARS = [
    *["0", "-0", "-0.0", "1", "1.5", "1e5", "1E400", "-1e-400", "5e-324", "0.1000000000000000055511151231257827"],
    *["01", "1.", ".5", "-", "+1", "1e", "--1", "0x1", "1_0"],
    *["NaN", "Infinity", "-Infinity", "nan", "true", "false", "null", "tru", "None"],
    *["18446744073709551615", "18446744073709551616", "-9223372036854775809", "9" * 400, "1" * 5000, "-" + "1" * 5000],
    *['""', '"x"', '"\\u00e9"', '"\\ud800"', '"\\udc00\\ud83d"', '"\\ud83d\\ude00"', '"\\/"', '"\u2028"', '"\x7f"'],
    *['"\\q"', '"\\u12"', '"\x01"', '"\t"', '"unfinished', "'x'", "//", ""],
    *["[" * 300 + "]" * 300, '{"id":' * 300 + "1" + "}" * 300, "[" * 3000 + "]" * 3000, "[" * 3000],
]
BYTES = [
    b"",
    b"\x00",
    b"\t",
    b"\r",
    b'"',
    b"\\",
    b",",
    b"}",
    b"\x80",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf0\x9f",
    b"\xff",
]
WHITE = st.sampled_from(["", "", " ", "\t", "\r", "\x0b", "\xa0", "\ufeff"])


def _array(items: list[str]) -> str:
    return f"[{','.join(items)}]"


def _object(fields: list[tuple[str, str, str]]) -> str:
    return "{" + ",".join(f'{white}"{name}":{value}' for white, name, value in fields) + "}"


def _objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(WHITE, st.sampled_from(NAMES), values), max_size=5).map(_object)


VALUES = st.recursive(
    st.sampled_from(SCALARS), lambda values: st.lists(values, max_size=3).map(_array) | _objects(values), max_leaves=8
)
LINES = st.builds(lambda before, row, after: (before + row + after).encode(), WHITE, _objects(VALUES), WHITE)


@st.composite
def mutated_lines(draw: st.DrawFn) -> bytes:
    """A line in which a few bytes were lost, replaced or put in."""
    line: bytes = draw(LINES)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(line)))
        lost = draw(st.integers(0, 3))
        line = line[:at] + draw(st.sampled_from(BYTES) | st.binary(max_size=2)) + line[at + lost :]
    return line


def _outcome(decoder: RowDecoder, line: bytes, *, plainly: bool) -> str:
    """The values as text, in which 1, 1.0, true and NaN are told apart; or the error."""
    try:
        values = decoder.pick(parse_object(line)) if plainly else decoder.decode(line)
    except InvalidLine as error:
        return f"error: {error}"
    return repr(values)


def _assert_agreement(line: bytes) -> None:
    for decoder in DECODERS.values():
        plain = _outcome(decoder, line, plainly=True)
        assert _outcome(decoder, line, plainly=False) == plain
        try:
            lines: list[bytes | memoryview] = [b'{"reward": 1}', memoryview(line), b'{"reward": 2}']
            (before, values, after) = zip(*decoder.columns(lines), strict=True)
        except InvalidLine:
            assert plain.startswith("error: ")
        else:
            assert (before[0], repr(values), after[0]) == (1, plain, 2)


@PROPERTY
@given(mutated_lines())
def test_the_decoders_agree_on_rows_and_near_rows(line: bytes) -> None:
    _assert_agreement(line)


@PROPERTY
@given(st.binary(max_size=40))
def test_the_decoders_agree_on_any_bytes(line: bytes) -> None:
    _assert_agreement(line)


@pytest.mark.parametrize("scalar", SCALARS, ids=range(len(SCALARS)))
@pytest.mark.parametrize(
    "frame",
    [
        '{"reward": %s, "task_id": "a"}',
        '{"junk": %s, "task_id": "a"}',
        '{"response": {"metadata": %s}}',
        '{"response": %s}',
        '{"verifier_metadata": {"task_id": %s}, "instance_config": {"mask_sample": %s}}',
        '{"verifier_metadata": %s, "instance_config": %s, "error": %s}',
        '{"response": {"metadata": {"id": 1}}, "response": %s}',
    ],
)
def test_the_decoders_agree_on_any_type_at_any_place(frame: str, scalar: str) -> None:
    _assert_agreement(frame.replace("%s", scalar).encode())


@PROPERTY
@given(
    st.dictionaries(
        st.sampled_from(["reward", "task_id", "error", "junk", "response"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
            lambda values: st.lists(values, max_size=3) | st.dictionaries(st.sampled_from(["metadata", "id"]), values),
            max_leaves=6,
        ),
    ),
    st.booleans(),
)
def test_both_decoders_read_back_what_was_written(row: dict[str, object], ascii_only: bool) -> None:
    line = json.dumps(row, ensure_ascii=ascii_only).encode("utf-8", "replace" if ascii_only else "surrogatepass")
    written = json.loads(line.decode("utf-8", "replace"))
    names = ("reward", "task_id", "error", "junk", "response")
    expected = repr(tuple(written.get(name) for name in names))
    assert repr(RowDecoder(names).decode(line)) == expected
    assert repr(RowDecoder(names).pick(parse_object(line))) == expected


def test_the_decoders_agree_on_a_large_row() -> None:
    transcript = [{"role": "assistant", "text": "x" * (i * 37 % 2000), "ids": list(range(50))} for i in range(500)]
    row = {"response": {"output": transcript, "metadata": {"id": "r1"}}, "task_id": "a", "reward": 0.25}
    line = json.dumps(row).encode()
    assert DECODERS["response.metadata.id"].decode(line) == (0.25, None, None, None, None, {"id": "r1"}, "r1")
    _assert_agreement(line)
