"""Trees of ticks and crosses: jest, vitest, mocha, karma, `node --test`, PHPUnit's TestDox.

    FAIL t/money.test.js                          <- jest: the file
      money                                       <- a suite; what stands further right is in it
        ✓ adds numbers (1 ms)
        rounding
          ✕ rounds half up (3 ms)
          1) rounds half up                       <- mocha: failed
          ○ skipped rounds down
    ● money > rounding > rounds half up           <- jest without --verbose names failed tests only (with U+203A)
     ✓ money.test.mjs > money > adds numbers 3ms  <- vitest
     FAIL  money.test.mjs > money > rounding > rounds half up

A test is named by its file, where that is known, its suites and its title.
"""

import re
from dataclasses import dataclass, field

from nemo_gym.rollout_compare.explain.triage.mocha_text import failed_titles
from nemo_gym.rollout_compare.explain.triage.results import BETWEEN, Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_PASSED, _FAILED, _SKIPPED = (
    "\u2713\u2714\u221a",
    "\u2715\u2717\u2718\u00d7\u2716",
    "\u25cb\u25cc\u2193\ufe63\u21a9\u2205\u270e",
)
_OUTCOMES = {
    **dict.fromkeys(_PASSED, Outcome.PASSED),
    **dict.fromkeys(_FAILED, Outcome.FAILED),
    **dict.fromkeys(_SKIPPED, Outcome.SKIPPED),
}
_MARKED = re.compile(rf"([{_PASSED}{_FAILED}{_SKIPPED}]) ++(?:(?:skipped|todo) )?+(\S.*)")
_TIMES = "\u00d7"  # vitest's, always with a duration; uv and pip begin other messages with it
_PROBLEMS = re.compile(r"[\u2716\u2715] \d++ problems? \(")  # ESLint
_DURATION = re.compile(r" ++\(?\d++(?:\.\d++)?+ ?m?s\)?(?: # SKIP)?$| # (?:SKIP|TODO).*$")
_LIST_PASSED = re.compile(rf"[{_PASSED}] ++(\S.*): \d++ms$")  # mocha's reporter `list`: suites and title are one
_MOCHA_FAILED = re.compile(r"\d++\) (\S.*)")
_MOCHA_PENDING = re.compile(r"- (\S.*)")
_FILE = re.compile(r"(PASS|FAIL) ++([^\s:]++)(?: \(.*\))?$")
_BULLET = "\u25cf "
_VITEST_FILE = re.compile(r"(\S++) \(\d++ tests?\b")
_VITEST_FAIL = re.compile(r"FAIL ++(\S++ > .*)")
_KARMA = re.compile(
    r"(?:Chrome|HeadlessChrome|Chrome Headless|Firefox|Safari|PhantomJS|jsdom)\b[^()]{0,60}\([^()]{0,60}\):? "
)

# The counts at the end; "passed" is there unless none did.
_COUNTS = (
    re.compile(r" *+Tests: {2,}(.*)total$"),  # jest
    re.compile(r" *+Tests  (.*)\(\d++\)$"),  # vitest
    re.compile(r" *+(\d{1,9}+ passing)\b"),  # mocha
    re.compile(r"\u2139 (pass \d{1,9}+)$"),  # node
    re.compile(r"Executed \d++ of \d++ (.*)"),  # karma
    re.compile(r"(Tests: \d++, Assertions: .*|OK \(\d++ tests?, .*)"),  # PHPUnit
)
_NUMBER = re.compile(r"(\d{1,9}+) pass|pass (\d{1,9}+)")


_POINTER = "\u276f "
_NOWHERE = 1_000_000


@dataclass(slots=True)
class _Run:
    """A run as its lines tell it.

    Attributes:
        file: The test file that jest speaks of.
        whole_files: Files of which only the verdict was told so far.
        suites: The suites around the next line: how far right they stand, and their names.
        passed: How many tests passed, by the counts at the end; None until they came, -1 where they do not say.
        unnamed: How far right the file stands whose tests are listed without their suites.
        is_list: Whether mocha's reporter `list` is at work.
        in_tree: Whether the tree goes on: after its counts mocha and node tell the failures again.
    """

    collected: Collector = field(default_factory=Collector)
    file: str = ""
    whole_files: dict[str, Outcome] = field(default_factory=dict)
    suites: list[tuple[int, str]] = field(default_factory=list)
    passed: int | None = None
    in_tree: bool = True
    unnamed: int = _NOWHERE
    is_list: bool = False

    def read(self, line: str) -> None:
        text = line.strip()
        if counts := next((found for pattern in _COUNTS if (found := pattern.match(line))), None):
            number = _NUMBER.search(counts[1])
            said = int(number[1] or number[2]) if number else -1
            self.passed, self.in_tree, self.suites = (self.passed or 0) + max(said, 0), False, []
        elif found := _FILE.match(text):
            self.file, self.suites, self.in_tree = found[2], [], True
            self.whole_files[self.file] = Outcome.PASSED if found[1] == "PASS" else Outcome.FAILED
        elif text.startswith(_BULLET):
            self._add_bullet(text.removeprefix(_BULLET))
        elif found := _VITEST_FAIL.match(text):
            self._add(_DURATION.sub("", found[1]), Outcome.FAILED)
        elif found := _KARMA.match(text):
            self._add_karma(text[found.end() :])
        elif self.in_tree:
            self._read_tree(len(line) - len(line.lstrip()), text)

    def _is_of_vitest_file(self, indent: int, text: str) -> bool:
        """Under a file that failed vitest lists tests without their suites: they are told again with them."""
        found = _VITEST_FILE.match(text.removeprefix(_POINTER)) if text.startswith(_POINTER) else None
        if found:
            self.whole_files[found[1]] = Outcome.FAILED
            self.unnamed = indent
        elif indent <= self.unnamed:
            self.unnamed = _NOWHERE
        return self.unnamed < _NOWHERE

    def _read_tree(self, indent: int, text: str) -> None:
        if self._is_of_vitest_file(indent, text):
            return
        self.suites = [(at, name) for at, name in self.suites if at < indent]
        if found := _LIST_PASSED.match(text):
            self.is_list = True
            self._add(found[1], Outcome.PASSED)
        elif (text.startswith(_TIMES) and not _DURATION.search(text)) or _PROBLEMS.match(text):
            pass
        elif found := _MARKED.match(text):
            self._add_marked(_OUTCOMES[found[1]], _DURATION.sub("", found[2]))
        elif self.suites and (found := _MOCHA_FAILED.match(text)):
            self._add_in_suites(found[1], Outcome.FAILED)
        elif self.suites and (found := _MOCHA_PENDING.match(text)):
            self._add_in_suites(found[1], Outcome.SKIPPED)
        elif len(text) < _LONGEST_SUITE:
            self.suites.append((indent, text.removeprefix("\u25b6 ")))

    def _add_marked(self, outcome: Outcome, name: str) -> None:
        if found := _VITEST_FILE.match(name):
            self.whole_files[found[1]] = outcome
        elif " > " in name:
            self._add(name, outcome)
        else:
            self._add_in_suites(name, outcome)

    def _add_in_suites(self, name: str, outcome: Outcome) -> None:
        suites = [suite for _, suite in self.suites]
        self._add(BETWEEN.join(filter(None, [self.file, *suites, name])), outcome)

    def _add_bullet(self, text: str) -> None:
        """What stands after a bullet: suites and a test, or `Console` and its like, which name no test."""
        self.in_tree = False
        if " \u203a " in text:
            self._add(BETWEEN.join(filter(None, [self.file, *text.split(" \u203a ")])), Outcome.FAILED)

    def _add_karma(self, text: str) -> None:
        for word, outcome in ((" FAILED", Outcome.FAILED), (" SUCCESS", Outcome.PASSED)):
            if text.endswith(word) and not text.startswith("Executed "):
                self._add(text.removesuffix(word), outcome)

    def _add(self, name: str, outcome: Outcome) -> None:
        self.collected.add(name, outcome)
        if self.file:
            self.whole_files.pop(self.file, None)
        self.whole_files.pop(name.partition(BETWEEN)[0], None)


_LONGEST_SUITE = 200


def read_tree(text: str) -> TestResults | None:
    """The tests of a tree, as `file > suite > test`."""
    if not any(mark in text for mark in (*_PASSED, *_FAILED, _BULLET, " passing", "FAILED\n")):
        return None
    run = _Run()
    for line in lines(text):
        run.read(line)
    for file, outcome in run.whole_files.items():
        run.collected.add(file, outcome)
    for titles in failed_titles(text):
        run.collected.add((" " if run.is_list else BETWEEN).join(titles), Outcome.FAILED)
    run.collected.leave_out_parents()
    named = sum(outcome is Outcome.PASSED for outcome in run.collected.outcomes.values())
    return run.collected.results("tree", truncated=run.passed is None or named < run.passed)
