from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.text.terminal import (
    _escaped,
    _unsafe,
    encodable,
    one_line,
    several_lines,
    without_escapes,
)
from tests.properties import PROPERTY

ESCAPE_SEQUENCES = {
    "colour": "\x1b[31m",
    "colour with parameters": "\x1b[1;38;5;196m",
    "reset": "\x1b[m",
    "erase the line": "\x1b[2K",
    "cursor up": "\x1b[1A",
    "private mode": "\x1b[?1049h",
    "intermediate byte": "\x1b[4 q",
    "8-bit control sequence": "\x9b31m",
    "title ended by BEL": "\x1b]0;owned\x07",
    "title ended by ST": "\x1b]0;owned\x1b\\",
    "8-bit title": "\x9d0;owned\x9c",
    "link": "\x1b]8;;http://example.org\x1b\\",
    "clipboard": "\x1b]52;c;aGk=\x07",
    "device control string": "\x1bP1$r0m\x1b\\",
    "application command": "\x1b_Gf=24;AAAA\x1b\\",
    "privacy message": "\x1b^secret\x1b\\",
    "start of string": "\x1bXtext\x1b\\",
    "character set": "\x1b(B",
    "full reset": "\x1bc",
    "save the cursor": "\x1b7",
    "reverse index": "\x1bM",
    "keypad": "\x1b=",
}
HOSTILE = st.text(
    st.sampled_from(
        "ab0;?[]()m\\/PX^_ \n\r\t\x00\x07\x08\x0b\x0c\x1b\x7f\x85\x90\x9b\x9c\x9d\u2028\u2029\u202e\ud800\udfff"
    )
    | st.characters()
)


@pytest.mark.parametrize("sequence", ESCAPE_SEQUENCES.values(), ids=ESCAPE_SEQUENCES)
def test_an_escape_sequence_is_removed(sequence: str) -> None:
    assert one_line(f"a{sequence}b") == "ab"
    assert without_escapes(f"{sequence}a{sequence}{sequence}b") == "ab"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("a\r\nb", r"a\r\nb"),
        ("a\tb", r"a\tb"),
        ("a\x00b", r"a\x00b"),
        ("bell\x07", r"bell\x07"),
        ("a\x08b", r"a\x08b"),
        ("a\x0bb\x0cc", r"a\x0bb\x0cc"),
        ("a\x1cb\x1db\x1eb", r"a\x1cb\x1db\x1eb"),
        ("a\x7f", r"a\x7f"),
        ("a\x85b", r"a\x85b"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800", r"\ud800"),
    ],
)
def test_a_control_character_is_shown(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\nb\tc", "a\nb\tc"),
        ("\x1b[31mred\x1b[0m\x07", r"red\x07"),
        ("\u202e", r"\u202e"),
    ],
)
def test_several_lines_stay_and_nothing_that_acts(text: str, shown: str) -> None:
    assert several_lines(text) == shown


@pytest.mark.parametrize("mark", "\u202a\u202d\u202e\u2066\u2067\u2069\u200e\u200f")
def test_a_mark_that_reorders_text_is_shown(mark: str) -> None:
    assert one_line(f"a{mark}b") == f"a\\u{ord(mark):04x}b"


@pytest.mark.parametrize(
    "text",
    ["\x1b", "\x1b]0;a title that never ends", "\x1b[31", "\x1b\x1b[m[31m", "\x9d0;never ends", "\x1bP\x1b[m"],
)
def test_an_unfinished_sequence_is_no_escape_any_more(text: str) -> None:
    assert "\x1b" not in one_line(text)
    assert "\x9d" not in one_line(text)


def test_an_unfinished_title_does_not_swallow_the_next_lines() -> None:
    assert without_escapes("\x1b]0;x\nFAILED test_a\x07").endswith("\nFAILED test_a\x07")


@pytest.mark.parametrize(
    "text", ["", "plain", "caf\u00e9 \u2717 \U0001f600 \u65e5\u672c", "\\n stays", "[31m", "a/b #1: x"]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert one_line(text) == text


@PROPERTY
@given(HOSTILE)
def test_what_is_printed_is_one_line_without_controls(text: str) -> None:
    shown = one_line(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]
    assert len(shown.splitlines()) <= 1
    assert one_line(shown) == shown


@PROPERTY
@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Cn", "Co", "Zl", "Zp"])))
def test_printable_text_loses_nothing(text: str) -> None:
    assert one_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "abc"),
        ("abcd", "abcd"),
        ("abcde", "ab... (1 more characters) ...de"),
        ("\x1b[31mabcd\x1b[m", "abcd"),
        ("a" * 104, "aa... (100 more characters) ...aa"),
    ],
)
def test_a_limit_cuts_what_is_shown_and_counts_the_rest(text: str, shown: str) -> None:
    assert one_line(text, 4) == shown


@pytest.mark.parametrize(
    ("text", "encoding", "written"),
    [
        ("caf\u00e9 \u2717", "utf-8", "caf\u00e9 \u2717"),
        ("caf\u00e9 \u2717", "ascii", r"caf\xe9 \u2717"),
        ("caf\u00e9 \u2717", "latin-1", "caf\u00e9 \\u2717"),
        ("\u20ac\u2717", "cp1252", "\u20ac\\u2717"),
        ("\U0001f600", "ascii", r"\U0001f600"),
        ("\ud800", "utf-8", r"\ud800"),
        ("caf\u00e9\ud800", None, "caf\u00e9\\ud800"),
    ],
)
def test_what_an_encoding_cannot_carry_is_written_as_an_escape(text: str, encoding: str | None, written: str) -> None:
    assert encodable(text, encoding) == written


@PROPERTY
@given(st.text(st.characters()), st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8"]))
def test_any_text_can_be_written_in_any_encoding(text: str, encoding: str) -> None:
    written = encodable(text, encoding)
    assert written.encode(encoding).decode(encoding) == written


@PROPERTY
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(max_codepoint=127)))
def test_what_an_encoding_carries_stays_as_it_is(text: str, ascii_text: str) -> None:
    assert encodable(text, "utf-8") == text
    assert encodable(ascii_text, "ascii") == ascii_text


@PROPERTY
@given(HOSTILE | st.text("ab 1~", max_size=5))
def test_text_that_needs_no_change_is_not_looked_at_longer(text: str) -> None:
    assert one_line(text) == _unsafe("\t\n").sub(_escaped, without_escapes(text))
