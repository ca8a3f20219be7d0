"""Which reader reads what: the tables, and the functions in front of them."""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from nemo_gym.rollout_compare.explain.triage.ant_text import read_ant
from nemo_gym.rollout_compare.explain.triage.automake_text import read_automake
from nemo_gym.rollout_compare.explain.triage.cargo_test import read_cargo_test
from nemo_gym.rollout_compare.explain.triage.ctest_text import read_ctest
from nemo_gym.rollout_compare.explain.triage.ctrf import read_ctrf
from nemo_gym.rollout_compare.explain.triage.go_test import read_go_json, read_go_text
from nemo_gym.rollout_compare.explain.triage.gradle_text import read_gradle
from nemo_gym.rollout_compare.explain.triage.gtest_text import read_gtest
from nemo_gym.rollout_compare.explain.triage.js_json import read_js_json, read_json_file
from nemo_gym.rollout_compare.explain.triage.junit import read_junit
from nemo_gym.rollout_compare.explain.triage.junit_text import read_junit_core, read_launcher
from nemo_gym.rollout_compare.explain.triage.maven_text import read_maven
from nemo_gym.rollout_compare.explain.triage.nextest_text import read_nextest
from nemo_gym.rollout_compare.explain.triage.phpunit_text import read_phpunit
from nemo_gym.rollout_compare.explain.triage.prove_text import read_prove
from nemo_gym.rollout_compare.explain.triage.pytest_text import read_pytest
from nemo_gym.rollout_compare.explain.triage.results import TestResults
from nemo_gym.rollout_compare.explain.triage.rspec_text import read_rspec
from nemo_gym.rollout_compare.explain.triage.ruby_text import read_ruby
from nemo_gym.rollout_compare.explain.triage.sympy_text import read_sympy
from nemo_gym.rollout_compare.explain.triage.tap_text import read_tap
from nemo_gym.rollout_compare.explain.triage.tree_text import read_tree
from nemo_gym.rollout_compare.explain.triage.unittest_text import read_unittest
from nemo_gym.rollout_compare.text import PlainText

#: Text without escape sequences -> its tests, or None if the text names none of the reader's kind.
TextReader = Callable[[str], TestResults | None]

#: A whole file -> its tests, or None if it is nothing of the reader's kind.
FileReader = Callable[[bytes], TestResults | None]

#: Asked in this order; the first that finds a test speaks for the whole text. pytest comes first because what it shows
#: of a failed test may hold the output of any other program; those whose marks are common words come last.
TEXT_READERS: tuple[TextReader, ...] = (
    *(read_pytest, read_sympy, read_go_json, read_go_text, read_nextest, read_cargo_test, read_unittest),
    *(read_gtest, read_ctest, read_ant, read_maven, read_launcher, read_junit_core, read_gradle),
    *(read_js_json, read_tree, read_phpunit, read_ruby, read_rspec, read_tap, read_prove, read_automake),
)

#: File name patterns, in lower case, for files of a log folder. The first reader that finds a test speaks for its file.
FILE_READERS: tuple[tuple[str, FileReader], ...] = (
    ("*.json", read_ctrf),
    ("*.json", read_json_file),
    ("*.xml", read_junit),
)

#: Files that may hold anything: those are reports whose names have one of the words.
_ANYTHING = ".json"
_REPORT_WORDS = ("ctrf", "report", "result", "test", "jest", "vitest", "mocha", "rspec")
_WHOLE = "ctrf.json"

# "[... 120 lines omitted ...]", "<truncated 500 characters>", "--- output truncated ---": what was read has a hole.
# pytest's own "...Full output truncated (3 lines hidden)" is about one value.
_HOLE = re.compile(
    r"[\W_]{1,20}+(?:(?:\d++|output|log|lines|middle|some|more) ){0,3}+"
    r"(?:lines?|characters|chars|bytes|output|log)?+ ?+"
    r"(?:\w++ ){0,2}?(?:omitted|truncated|elided|left out|removed)\b[^a-z]{0,40}+(?:\d++ \w{1,12})?+[\W_]*+$",
    re.IGNORECASE,
)
_HOLE_WORDS = ("omitted", "truncated", "elided", "left out", "removed")
_LONGEST_HOLE = 120


def read_tests(text: str | PlainText, *, cut: bool = False) -> TestResults | None:
    """The single tests that a verifier's output names, or None if it names none.

    What the text says decides who reads it. Escape sequences may be anywhere in it.

    Args:
        text: The output, or as much of it as was read.
        cut: Not all of the output was read. A reader sees most cuts, but not one that falls between two packages; what
            is known to be cut is always truncated.
    """
    said = (PlainText(text) if isinstance(text, str) else text).lines
    plain = "\n".join(said)
    results = next((results for read in TEXT_READERS if (results := read(plain)) is not None), None)
    return replace(results, truncated=True) if results and (cut or _has_hole(plain, said)) else results


def _has_hole(text: str, said: Sequence[str]) -> bool:
    return any(word in text for word in _HOLE_WORDS) and any(map(_is_hole, said))


def _is_hole(line: str) -> bool:
    """Whether a line stands for lines that somebody left out."""
    if len(line) > _LONGEST_HOLE or not any(word in line for word in _HOLE_WORDS):
        return False
    return "Full output" not in line and _HOLE.match(line) is not None


def is_report(name: str) -> bool:
    """Whether a file by its name may be a report of single tests, which `read_test_file` is to read."""
    base = _base(name)
    return bool(_readers_of(base)) and (not base.endswith(_ANYTHING) or any(word in base for word in _REPORT_WORDS))


def is_certain_report(name: str) -> bool:
    """Whether a file by its name holds single tests for certain; other JSON may hold anything."""
    base = _base(name)
    return base == _WHOLE or (bool(_readers_of(base)) and not base.endswith(_ANYTHING))


def is_of_the_whole(name: str) -> bool:
    """Whether a report by its name speaks for the whole run of tests."""
    return _base(name) == _WHOLE


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2].lower()


def _readers_of(base: str) -> list[FileReader]:
    return [read for pattern, read in FILE_READERS if fnmatchcase(base, pattern)]


def read_test_file(name: str, data: bytes) -> TestResults | None:
    """The single tests in a file of a log folder, or None if there are none or the file is of no known kind.

    Args:
        name: The file's name, with or without its folder.
        data: The file from its start, whole or cut off at a bound.
    """
    readers = _readers_of(_base(name))
    return next((results for read in readers if (results := read(data)) is not None), None)
