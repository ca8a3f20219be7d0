"""Marks that are not seen: shown as escapes, but for joiners inside an emoji or a script that is spelt with them."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.report import summary_lines
from nemo_gym.rollout_compare.text import one_line
from nemo_gym.rollout_compare.text.terminal import json_line
from tests.properties import PROPERTY

SHAPELESS = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
HIDDEN = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in SHAPELESS]

JOINED = {
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "a woman with a colour at a laptop": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "a rainbow flag, its flag in picture form": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "a heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "Persian, without a join": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi, a half form": "\u0915\u094d\u200d\u0937",
    "Sinhala": "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
}

ALONE = {
    "between Latin letters": ("fix\u200dadd", "fix\\u200dadd"),
    "between Latin letters, no join": ("fix\u200cadd", "fix\\u200cadd"),
    "at the start": ("\u200d\U0001f469", "\\u200d\U0001f469"),
    "at the end": ("\U0001f469\u200d", "\U0001f469\\u200d"),
    "emoji and letter": ("\U0001f469\u200da", "\U0001f469\\u200da"),
    "letter and emoji": ("a\u200d\U0001f469", "a\\u200d\U0001f469"),
    "two of them": ("\U0001f469\u200d\u200d\U0001f4bb", "\U0001f469\\u200d\\u200d\U0001f4bb"),
    "no join between emoji": ("\U0001f469\u200c\U0001f4bb", "\U0001f469\\u200c\U0001f4bb"),
    "two scripts": ("\u0645\u200cx", "\u0645\\u200cx"),
    "a space of no width in a script": ("\u0645\u200b\u062e", "\u0645\\u200b\u062e"),
}


@pytest.mark.parametrize("text", JOINED.values(), ids=JOINED)
def test_a_joiner_that_belongs_to_what_is_written_stays(text: str) -> None:
    assert one_line(text) == text
    assert json_line(json.dumps(text, ensure_ascii=False)) == f'"{text}"'


@pytest.mark.parametrize(("text", "shown"), ALONE.values(), ids=ALONE)
def test_any_other_joiner_is_shown(text: str, shown: str) -> None:
    assert one_line(text) == shown
    assert json_line(json.dumps(text, ensure_ascii=False)) == f'"{shown}"'


def test_every_other_character_without_a_shape_is_shown_in_a_report() -> None:
    assert len(HIDDEN) > 130_000  # private and surrogate ones most of all
    raw = [char for char in HIDDEN if char in one_line(f"a{char}a")]
    assert raw == []


def test_json_has_the_same_characters_as_escapes_and_says_the_same() -> None:
    for char in HIDDEN:
        [line] = [one for one in summary_lines({"task": f"a{char}a"}) if "task" in one]
        assert char not in line
        assert json.loads(f"{{{line}}}") == {"task": f"a{char}a"}


@pytest.mark.parametrize(
    ("char", "escape"),
    [("\x9b", "\\u009b"), ("\x7f", "\\u007f"), ("\u202e", "\\u202e"), ("\U000e0041", "\\udb40\\udc41"), ("\n", "\\n")],
)
def test_json_escapes_are_those_of_json(char: str, escape: str) -> None:
    assert json_line(json.dumps(f"a{char}a", ensure_ascii=False)) == f'"a{escape}a"'


@PROPERTY
@given(
    st.text(st.sampled_from(["\u200d", "\u200c", "\U0001f469", "\ufe0f", "\u0645", "\\", '"', "\x9b", "a", "\u202e"]))
)
def test_any_mixture_is_the_same_json(text: str) -> None:
    line = json_line(json.dumps({text: text}, ensure_ascii=False))
    assert json.loads(line) == {text: text}
    assert "\x9b" not in line
    assert "\u202e" not in line
