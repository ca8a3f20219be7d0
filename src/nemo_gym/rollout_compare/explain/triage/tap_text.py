"""TAP, the Test Anything Protocol: what Perl's tests, `node --test`, tape and many others print.

1..3
ok 1 - reads
not ok 2 - rounds
ok 3 # SKIP later
not ok 4 - parses # TODO one day
ok 1 - adds          <- a subtest stands further right, before the test that it belongs to
ok 5 - money
"""

import re
from dataclasses import dataclass, field

from nemo_gym.rollout_compare.explain.triage.results import BETWEEN, Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_TEST = re.compile(r"( {0,40})(not )?+ok(?: (\d{1,9}+))?+(?=$| )(?: ?- )?+ ?+([^#]*+)(#.*)?")
_PLAN = re.compile(r"1\.\.(\d{1,9}+)(?=$| )")
_SUBTEST = re.compile(r"( {0,40})# Subtest: (\S.*)")
_FILE = re.compile(r"([^\s]{1,300}\.t) \.{2,}+ *+$")


@dataclass(slots=True)
class _Run:
    """A stream of TAP as its lines tell it.

    Attributes:
        scopes: Subtests that have begun: how far right they stand, and their names.
        file: The program whose stream it is, where `prove` says so.
        named: How many tests stood there.
        ended: Whether `prove` has told its result.
        planned: How many tests were planned at the left margin; None if no plan was seen.
    """

    collected: Collector = field(default_factory=Collector)
    scopes: list[tuple[int, str]] = field(default_factory=list)
    file: str = ""
    planned: int | None = None
    named: int = 0
    ended: bool = False

    def read(self, line: str) -> None:
        if found := _SUBTEST.match(line):
            self._leave(len(found[1]))
            self.scopes.append((len(found[1]), found[2].strip()))
        elif found := _TEST.match(line):
            self._add(found)
        elif found := _PLAN.match(line):
            self.planned = (self.planned or 0) + int(found[1])
        elif found := _FILE.match(line):
            self.file, self.scopes = found[1], []
        self.ended |= line.startswith("Result: ")

    def names_all(self) -> bool:
        """Whether each test that was planned has been named; of several files only if `prove` came to its end."""
        return self.planned is not None and self.named >= self.planned and (self.ended or not self.file)

    def _add(self, found: re.Match[str]) -> None:
        indent, failed, number, said, directive = found.groups()
        said = said.strip()
        if not number and not said:
            return  # `prove` sums a file up with a bare "ok"
        self.named += not indent
        self._leave(len(indent) + 1)
        if self.scopes and self.scopes[-1] == (len(indent), said):
            self.scopes.pop()
        path = [self.file, *(name for _, name in self.scopes), said or f"test {number}"]
        word = (directive or "").lstrip("# ")[:4].upper()
        outcome = Outcome.SKIPPED if word in {"SKIP", "TODO"} else Outcome.FAILED if failed else Outcome.PASSED
        self.collected.add(BETWEEN.join(filter(None, path)), outcome)

    def _leave(self, indent: int) -> None:
        """Leave the subtests that stand as far right as that, or further."""
        while self.scopes and self.scopes[-1][0] >= indent:
            self.scopes.pop()


def read_tap(text: str) -> TestResults | None:
    """The tests of a TAP stream, subtests as `test > subtest`."""
    if "ok " not in text or ("1.." not in text and "TAP version" not in text):
        return None
    run = _Run()
    for line in lines(text):
        run.read(line)
    run.collected.leave_out_parents()
    return run.collected.results("tap", truncated=not run.names_all())
