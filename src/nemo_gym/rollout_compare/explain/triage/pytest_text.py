"""pytest's text: the lines of `-v`, with and without xdist, and the summary that `-rA` and its like print.

    tests/test_a.py::test_x[a b] PASSED                   [ 50%]
    [gw0] [ 50%] FAILED tests/test_a.py::test_x[a b]
    FAILED tests/test_a.py::test_x[a b] - AssertionError: 1
    ERROR tests/test_b.py - ModuleNotFoundError: numpy
    ====== 1 failed, 3 passed in 0.05s ======

`SKIPPED [1] file:line: reason` names no test. A subtest counts for its test.
"""

import re
from dataclasses import dataclass, field

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

# An unexpected pass is a pass, unless the mark is strict: then pytest itself says FAILED.
_OUTCOMES = {
    "PASSED": Outcome.PASSED,
    "FAILED": Outcome.FAILED,
    "ERROR": Outcome.ERROR,
    "SKIPPED": Outcome.SKIPPED,
    "XFAIL": Outcome.SKIPPED,
    "XPASS": Outcome.PASSED,
    "SUBFAILED": Outcome.FAILED,
    "SUBFAIL": Outcome.FAILED,  # pytest-subtests, which shows its `[description]` first
}

_WORDS = "|".join(_OUTCOMES)

# A line without any of these says nothing of tests: most of an output is spared a closer look.
_MARKS = ("::", "===", " in ", *_OUTCOMES)

# "[gw0] [ 50%] PASSED ...", "PASSED ...": what stands before is xdist's.
_OUTCOME_FIRST = re.compile(rf"(?:\[[^\]]*+\] *+){{0,2}}+({_WORDS})(?= \S|[\[(])")

# An outcome after the node id: a reason in parentheses, or a subtest in brackets, may follow.
_OUTCOME_AFTER = re.compile(rf" ({_WORDS})(?=$|[ \[(])")

# "test_x[a b] [row 1] (n=1)": what describes a subtest
_SUBTEST = re.compile(r" [\[(]")

# "[ 50%]", "[ 3/20]", "[100%] 0.01s" at the end of a line of `-v`
_PROGRESS = re.compile(r" \[ *+\d++(?:%|/\d++)\][ \w.]*+$")

# The last line, "=== 1 failed, 3 passed, 1 xpassed in 0.05s ===", without "===" under -q.
_COUNT = re.compile(r"(?<![\w.])(\d{1,9}+) x?passed\b")
_COUNTED = r"\d++ \w++(?: (?!in \d)\w++)?+"
_LAST_LINE = re.compile(rf"(?:=++ )?+{_COUNTED}(?:, {_COUNTED})*+ in \d")


def read_pytest(text: str) -> TestResults | None:
    """The tests that pytest names, by node id."""
    if not any(word in text for word in _OUTCOMES):
        return None
    run = _Run()
    marks = [mark for mark in _MARKS if mark in text]
    for line in lines(text):
        if any(map(line.__contains__, marks)):
            run.read(line)
    return run.collected.results("pytest", truncated=not run.names_all_passed())


@dataclass(slots=True)
class _Run:
    """A pytest run as its lines tell it.

    Attributes:
        passed: How many tests passed, by the run's last line; None until it came.
        pending: The node id of a line without an outcome: with `-s` the test's own output comes in between.
    """

    collected: Collector = field(default_factory=Collector)
    passed: int | None = None
    passed_names: set[str] = field(default_factory=set)
    pending: str = ""

    def read(self, line: str) -> None:
        line = line.strip()
        first = _OUTCOME_FIRST.match(line)
        if first and (name := _id_in_summary(line[first.end() :])):
            self._add(name, first[1])
        elif _LAST_LINE.match(line):
            self.passed = (self.passed or 0) + sum(int(count) for count in _COUNT.findall(line))
        elif line.startswith("==="):
            self.pending = ""
        else:
            self._read_verbose(_without_progress(line))

    def names_all_passed(self) -> bool:
        """Whether the run came to its end and each test that it counts as passed has been named."""
        return self.passed is not None and len(self.passed_names) >= self.passed

    def _add(self, name: str, word: str) -> None:
        if word.startswith("SUB"):
            name = _SUBTEST.split(name, maxsplit=1)[0]
        self.collected.add(name, _OUTCOMES[word])
        if _OUTCOMES[word] is Outcome.PASSED:
            self.passed_names.add(name)
        self.pending = ""

    def _read_verbose(self, line: str) -> None:
        name, rest = _split_verbose(line)
        if name:
            self.pending = name
        word = _outcome_at_end(rest)
        if self.pending and word:
            self._add(self.pending, word)


def _split_verbose(line: str) -> tuple[str, str]:
    """A line of `-v` -> (node id, what follows it); ("", line) if it does not begin with a node id."""
    if "::" not in line or not _is_node_id(line[: line.find("::") + 2]):
        return "", line
    bracket = line.find("[")
    for after in _OUTCOME_AFTER.finditer(line):
        if not 0 <= bracket < after.start() or line[after.start() - 1] == "]":
            return line[: after.start()], after[1]
    end = line.find(" ") if bracket < 0 else line.find("] ", bracket) + 1
    return (line[:end], line[end:]) if end > 0 else (line, "")


def _outcome_at_end(rest: str) -> str:
    """The outcome that ends a line, be it glued to what the test printed."""
    return next((word for word in _OUTCOMES if rest.endswith(word)), "")


def _id_in_summary(rest: str) -> str:
    """What follows an outcome, ` id` or ` id - message` -> the node id, or "" if it is none.

    The text of a parameter may hold anything; it ends with the first bracket that ends the line or is before a dash.
    """
    rest = rest.strip()
    if rest[:1] in {"[", "("}:  # a subtest's description, then the id
        rest = rest[rest.rfind(" ", 0, max(rest.find("::"), 0)) + 1 :]
    dash, bracket = rest.find(" - "), rest.find("[")
    if bracket >= 0 and (dash < 0 or bracket < dash):
        closing = rest.find("] - ", bracket)
        dash = closing + 1 if closing >= 0 else -1
    name = rest if dash < 0 else rest[:dash]
    return name if _is_node_id(name) else ""


def _is_node_id(name: str) -> bool:
    """Whether it reads like `file.py`, or `file.ext::...`: log lines, too, begin with such words as ERROR."""
    path, found, _ = name.partition("::")
    if path.endswith(".py"):
        return True
    base = path.rpartition("/")[2]
    return bool(found) and " " not in path and "." in base.strip(".")


def _without_progress(line: str) -> str:
    at = line.rfind(" [")
    return line[:at].rstrip() if at >= 0 and _PROGRESS.match(line, at) else line
