"""The end of a text as it is written in JSON is an end of that text, wherever it is cut."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.producers.json_rows import end_of_text

#: Texts with long stretches that need no escape, as those of programs have.
TEXTS = st.lists(
    st.one_of(st.text(), st.sampled_from(["\\", '"', "\n", "\ud83d", "\U0001f600", "é", "a line of words\n" * 3])),
    max_size=30,
).map("".join)


@given(TEXTS, st.integers(1, 100), st.booleans())
@example("x" * 50 + "\U0001f600" * 3 + "y" * 15, 1, True)
@example("\\" * 300, 5, True)
@example("é" * 300, 5, False)
def test_the_end_of_a_text_is_as_long_as_asked_or_all_of_it(text: str, most: int, escaped: bool) -> None:
    bare = text if escaped else text.encode("utf-8", "ignore").decode()
    written = json.dumps(bare, ensure_ascii=escaped).encode()
    told = end_of_text(memoryview(written), most)
    whole = json.loads(written)
    assert whole.endswith(told)
    assert told == whole or len(told) > most


def test_of_a_very_long_text_no_more_than_its_end_is_made() -> None:
    written = json.dumps("a line of some words\n" * 10_000).encode()
    assert len(end_of_text(memoryview(written), 100)) < 300
