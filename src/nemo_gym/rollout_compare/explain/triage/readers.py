"""Which reader reads what: the tables, and the two functions in front of them."""

from collections.abc import Callable
from fnmatch import fnmatchcase

from msgspec.structs import replace

from nemo_gym.rollout_compare.explain.triage.cargo_test import read_cargo_test
from nemo_gym.rollout_compare.explain.triage.ctrf import read_ctrf
from nemo_gym.rollout_compare.explain.triage.go_test import read_go_json, read_go_text
from nemo_gym.rollout_compare.explain.triage.junit import read_junit
from nemo_gym.rollout_compare.explain.triage.pytest_text import read_pytest
from nemo_gym.rollout_compare.explain.triage.results import TestResults
from nemo_gym.rollout_compare.explain.triage.unittest_text import read_unittest
from nemo_gym.rollout_compare.text.plain import plain

#: Text without escape sequences -> its tests, or None if the text names none of the reader's kind.
TextReader = Callable[[str], TestResults | None]

#: A whole file -> its tests, or None if it is nothing of the reader's kind.
FileReader = Callable[[bytes], TestResults | None]

#: Asked in this order; the first that finds a test speaks for the whole text. pytest comes first because what it shows
#: of a failed test may hold the output of any other program.
TEXT_READERS: tuple[TextReader, ...] = (read_pytest, read_go_json, read_go_text, read_cargo_test, read_unittest)

#: File name patterns, in lower case, for files of a log folder.
FILE_READERS: tuple[tuple[str, FileReader], ...] = (("ctrf.json", read_ctrf), ("*.xml", read_junit))


def read_tests(text: str, *, cut: bool = False) -> TestResults | None:
    """The single tests that a verifier's output names, or None if it names none.

    What the text says decides who reads it. Escape sequences may be anywhere in it.

    Args:
        text: The output, or as much of it as was read.
        cut: Not all of the output was read. A reader sees most cuts, but not one that falls between two packages; what
            is known to be cut is always truncated.
    """
    text = plain(text)
    results = next((results for read in TEXT_READERS if (results := read(text)) is not None), None)
    return replace(results, truncated=True) if results and cut else results


def read_test_file(name: str, data: bytes) -> TestResults | None:
    """The single tests in a file of a log folder, or None if there are none or the file is of no known kind.

    Args:
        name: The file's name, with or without its folder.
        data: The file from its start, whole or cut off at a bound.
    """
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    return next((read(data) for pattern, read in FILE_READERS if fnmatchcase(base, pattern)), None)
