import pytest

from nemo_gym.rollout_compare.text.plain import (
    NAME_LIMIT,
    PlainText,
    json_object,
    lines,
    plain_lines,
    safe_name,
    unboxed,
)
from nemo_gym.rollout_compare.text.terminal import without_escapes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb\x1b[0mc", "abc"),
        ("a\x1b(B\x1b[mb", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\b", "ab"),
        ("a\x9b31mb", "ab"),
        ("a\x1b\x1b[1mb", "ab"),
        ("a\x1b7b", "ab"),
        ("a\x1b[31", "a"),
        ("a\x1b]0;never ends", "a0;never ends"),
        ("a\x1b", "a"),
        ("[31m stays", "[31m stays"),
    ],
)
def test_plain_text_has_no_escape_sequences(text: str, expected: str) -> None:
    assert without_escapes(text) == expected


def test_lines_are_not_blank_and_in_their_last_state() -> None:
    assert lines("a\r\n\n \t\n10%\r50%\rdone\r\n  b\n\r\n") == ["a", "done", "  b"]
    assert lines("a\n\n \n b\x0bc\u2028d") == ["a", " b\x0bc\u2028d"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_a[x y]", "test_a[x y]"),
        (" a\nb\tc\x07 ", "a\\nb\\tc\\x07"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\ud800", "\\ud800"),
        ("\u202eabc", "\\u202eabc"),
        ("pr\N{LATIN SMALL LETTER U WITH DIAERESIS}f", "pr\N{LATIN SMALL LETTER U WITH DIAERESIS}f"),
        ("x" * NAME_LIMIT, "x" * NAME_LIMIT),
        ("x" * (NAME_LIMIT + 1), "x" * NAME_LIMIT + "\N{HORIZONTAL ELLIPSIS}"),
        ("\x1b[0m", ""),
    ],
)
def test_a_safe_name(name: str, expected: str) -> None:
    assert safe_name(name) == expected


@pytest.mark.parametrize("text", ["", "[]", "5", "{", "[" * 100_000, '{"a":' * 100_000, "1" * 10_000])
def test_what_is_no_json_object(text: str) -> None:
    assert json_object(text) is None


def test_a_json_object() -> None:
    assert json_object('{"a": 1}') == {"a": 1}


PREFIXES = {
    "docker logs": "2026-09-28T18:52:18.2044700Z ",
    "a build service": "[2026-09-28 18:52:18,204] ",
    "a clock": "18:52:18.204 ",
    "the journal": "Nov  3 18:52:18 host run[12]: ",
    "compose": "tests-1  | ",
    "a build": "#12 0.345 ",
    "ant": "    [junit] ",
    "Kubernetes": "2026-01-01T10:00:00.123456789Z stdout F ",
    "kubectl": "[pod/tests-1/main] ",
    "GitLab": "2026-01-01T10:00:00.123456Z 00O ",
    "a log": "2026-01-01 10:00:00,123 INFO ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_prefix_of_every_line_is_taken_off(prefix: str) -> None:
    said = ["a.py::b PASSED", "  indented", "x: 1", "end"]

    assert plain_lines("\n".join(prefix + line for line in said)) == said
    assert plain_lines("\n".join([*(prefix + line for line in said), ""])) == said


def test_prefixes_may_stand_one_before_the_other() -> None:
    text = "".join(f"2026-09-28T18:52:0{i}Z tests-1  | line {i}\n" for i in range(5))

    assert plain_lines(text) == [f"line {i}" for i in range(5)]


def test_of_more_than_three_prefixes_the_last_ones_stay() -> None:
    """Three programs may have gathered the output; what looks like a fourth is the output's own."""
    before = "2026-09-28T18:52:01Z tests-1  | #12 0.345 "

    assert plain_lines(f"{before}a\n" * 5) == ["a"] * 5
    assert plain_lines(f"{before}18:52:01 a\n" * 5) == ["18:52:01 a"] * 5


@pytest.mark.parametrize("prefix", ["tests-1  | ", "#12 0.345 "])
def test_what_begins_some_lines_only_stays(prefix: str) -> None:
    text = f"{prefix}a\nb\nc\nd"

    assert plain_lines(text) == text.split("\n")
    assert plain_lines(f"{prefix}a\n{prefix}b") == [f"{prefix}a", f"{prefix}b"]  # too few to be sure


def test_an_overwritten_verdict_is_a_line_of_its_own() -> None:
    assert lines("10%\r1 failed\rdone\n") == ["1 failed", "done"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  \u2570\u2500\u25b6 Because x", "Because x"),
        ("  `-> Because x", "Because x"),
        ("   \u2502 Failed asserting", "Failed asserting"),
        ("| E | ", "E"),
        ("`x' is y", "`x' is y"),
        ("expected <4>", "expected <4>"),
    ],
)
def test_a_box_is_taken_off(line: str, expected: str) -> None:
    assert unboxed(line) == expected


def test_plain_lines_are_made_once() -> None:
    text = PlainText("\x1b[31mone\n\ntwo\rthree")
    assert text.lines == ["one", "three"]
    assert text.lines is text.lines


@pytest.mark.parametrize(("others", "taken_off"), [(3, True), (4, False)])
def test_a_prefix_stands_before_85_of_100_lines(others: int, taken_off: bool) -> None:
    said = [*(f"other {i}" for i in range(others)), *(f"2026-01-02 03:04:05 line {i}" for i in range(21 - others))]
    assert (plain_lines("\n".join(said))[-1] == f"line {20 - others}") is taken_off
