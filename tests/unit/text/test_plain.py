import pytest

from nemo_gym.rollout_compare.text.plain import NAME_LIMIT, json_object, lines, plain, safe_name


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
        ("a\x1b]0;never ends", "a"),
        ("a\x1b", "a"),
        ("[31m stays", "[31m stays"),
    ],
)
def test_plain_text_has_no_escape_sequences(text: str, expected: str) -> None:
    assert plain(text) == expected


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
