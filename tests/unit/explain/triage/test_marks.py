"""No line that a rule finds something in is passed over for want of a mark."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.explain.triage import causes, errors
from nemo_gym.rollout_compare.explain.triage.marks import has_mark
from tests.triage_support import SAMPLES

PATTERNS = (
    *(row[0] for row in causes._TABLE),
    *(causes._SYSTEM_WORDS, causes._SYSTEM_NAMES, causes._MISSING_FILE, causes._SHELL_DIED),
    *(*errors._TELLING, errors._GO_COMPILER, errors._COMPILER, errors._RUBY, errors._IN_THE_MIDDLE),
    *(errors._SUMMARY, errors._GO_TEST_LOG, errors._VAGUE, *errors._NO_COMMAND),
)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.pattern[:40])
def test_all_that_a_pattern_finds_has_a_mark(pattern: re.Pattern[str]) -> None:
    @given(st.from_regex(pattern))
    def check(line: str) -> None:
        assert has_mark(line)

    check()


def test_lines_without_a_mark_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {line.strip()[:500] for path in SAMPLES.rglob("*.txt") for line in path.read_text("utf-8").split("\n")}
    passed_over = [line for line in lines if not errors._may_tell(line)]
    assert len(passed_over) > len(lines) / 3
    monkeypatch.setattr(errors, "has_mark", lambda _: True)
    assert [line for line in passed_over if errors.error_line.__wrapped__(line)] == []


def test_letters_that_patterns_take_for_others_count_as_marks() -> None:
    assert has_mark("\u017fegmentation fault"[:13])  # a long s is an s where case is ignored
    assert not has_mark("hello")
