"""`go test`: the text of `-v`, and the events of `-json`.

    === RUN   TestTable/two_words
        basket_test.go:19: got 4, want 5
    --- FAIL: TestTable (0.00s)
        --- FAIL: TestTable/two_words (0.00s)
    FAIL	example.com/shop/basket	0.003s

The text names a package after its tests, if the run comes so far. So in text tests of one name in several packages
share one entry, which has their worst outcome. An event always names its package, and the test is `package.Test`.
"""

from dataclasses import dataclass, field
from typing import Any

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import json_object, lines

_RUN = "=== RUN "

_MARKS = {
    "--- PASS: ": Outcome.PASSED,
    "--- FAIL: ": Outcome.FAILED,
    "--- SKIP: ": Outcome.SKIPPED,
}

_ACTIONS = {
    "pass": Outcome.PASSED,
    "fail": Outcome.FAILED,
    "skip": Outcome.SKIPPED,
}

_NOT_BUILT = ("[build failed]", "[setup failed]")


def read_go_text(text: str) -> TestResults | None:
    """The tests that the text of `go test` names. Without `-v` it names failed ones only."""
    if not any(mark in text for mark in (*_MARKS, *_NOT_BUILT)):
        return None
    run = _Run()
    for line in lines(text):
        _read_line(run, line)
    return run.collected.results("go", truncated=run.truncated())


def read_go_json(text: str) -> TestResults | None:
    """The tests that the events of `go test -json` name."""
    if '"Action"' not in text:
        return None
    run = _Run()
    for line in lines(text):
        if line.startswith("{"):
            event = json_object(line)
            run.damaged |= event is None
            _read_event(run, event or {})
        else:
            _read_package_line(run, line)
    return run.collected.results("go-json", truncated=run.truncated())


@dataclass(slots=True)
class _Run:
    """A run of `go test` as its lines or events tell it.

    Attributes:
        running: Tests that began and have not ended, in their order; by package, which is "" in text.
        panicked: Tests whose own output holds a panic, by package: Go before 1.15 says that they passed.
        damaged: Something is missing for certain: a test ended that never began, or an event is cut off.
        ended: Whether the last package came to its end.
    """

    collected: Collector = field(default_factory=Collector)
    running: dict[str, dict[str, None]] = field(default_factory=dict)
    panicked: dict[str, set[str]] = field(default_factory=dict)
    damaged: bool = False
    ended: bool = False

    def begin(self, package: str, test: str) -> None:
        self.running.setdefault(package, {})[test] = None
        self.ended = False

    def is_running(self, package: str, test: str) -> bool:
        return test in self.running.get(package, ())

    def end(self, package: str, test: str, outcome: Outcome) -> None:
        self.damaged |= not self.is_running(package, test)
        self.running.get(package, {}).pop(test, None)
        self.collected.add(_full_name(package, test), outcome)
        self.ended = False

    def end_package(self, package: str, *, failed: bool) -> None:
        """What was running when a package failed was stopped with it, by a panic elsewhere or the time limit."""
        unfinished = self.running.pop(package, {})
        for test in unfinished if failed else ():
            self.collected.add(_full_name(package, test), Outcome.ERROR)
        for test in self.panicked.pop(package, set()) if failed else ():
            if self.collected.outcomes.get(_full_name(package, test)) is Outcome.PASSED:
                self.collected.add(_full_name(package, test), Outcome.ERROR)
        self.ended = True

    def not_built(self, package: str) -> None:
        self.collected.add(package, Outcome.ERROR)
        self.ended = True

    def truncated(self) -> bool:
        return self.damaged or not self.ended


def _full_name(package: str, test: str) -> str:
    return f"{package}.{test}" if package else test


def _read_line(run: _Run, line: str) -> None:
    if line.startswith(_RUN):
        run.begin("", line[len(_RUN) :].strip())
    elif ended := _ended_test(run, line, ""):
        run.end("", *ended)
    else:
        _read_package_line(run, line)


def _read_package_line(run: _Run, line: str) -> None:
    """`ok  <tab>package<tab>0.1s`, `FAIL<tab>package [build failed]`, or a bare `PASS` or `FAIL`."""
    word, _, rest = line.partition("\t")
    if word == "FAIL" and rest.endswith(_NOT_BUILT):
        run.not_built(rest.rpartition(" [")[0])
    elif (rest and word.strip() in {"ok", "FAIL"}) or line in {"PASS", "FAIL"}:
        run.end_package("", failed=word == "FAIL")


def _ended_test(run: _Run, line: str, package: str) -> tuple[str, Outcome] | None:
    """The test that a line ends. What a test prints without a line's end comes before it; then it must be running."""
    mark, at = next(((mark, at) for mark in _MARKS if (at := line.find(mark)) >= 0), ("", -1))
    name, parenthesis, _ = line[at + len(mark) :].rpartition(" (")
    if not mark or not parenthesis:
        return None
    glued = bool(line[:at].strip())
    return None if glued and not run.is_running(package, name) else (name, _MARKS[mark])


def _read_event(run: _Run, event: dict[str, Any]) -> None:
    action, package, test = (_text(event, key) for key in ("Action", "Package", "Test"))
    if action == "run":
        run.begin(package, test)
    elif action == "output":
        # Go before 1.20 tells the end of a test no other way if the test's own output does not end its line.
        output = _text(event, "Output")
        if output.startswith("panic: ") and test:
            run.panicked.setdefault(package, set()).add(test)
        ended = _ended_test(run, output, package)
        if ended and ended[0] == test and run.is_running(package, test):
            run.end(package, *ended)
    elif action in _ACTIONS:
        _read_end_event(run, event, package, test)


def _read_end_event(run: _Run, event: dict[str, Any], package: str, test: str) -> None:
    outcome = _ACTIONS[_text(event, "Action")]
    if "FailedBuild" in event:
        run.not_built(package)
    elif not test:
        run.end_package(package, failed=outcome is Outcome.FAILED)
    elif run.is_running(package, test) or _full_name(package, test) not in run.collected.outcomes:
        run.end(package, test, outcome)


def _text(event: dict[str, Any], key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""
