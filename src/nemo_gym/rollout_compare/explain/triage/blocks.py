"""The errors of an output in its order: what test programs say about a failed test, and what single lines say."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nemo_gym.rollout_compare.explain.triage import tap_blocks
from nemo_gym.rollout_compare.explain.triage.cursor import Cursor
from nemo_gym.rollout_compare.explain.triage.errors import ErrorLine, Weight, error_line, is_exception, telling
from nemo_gym.rollout_compare.explain.triage.noise import REMEMBERED, is_noise
from nemo_gym.rollout_compare.explain.triage.tap_blocks import NOT_OK, TEST_MORE
from nemo_gym.rollout_compare.text import unboxed

_PYTEST = re.compile(r"E(?: {2,}|$)")
_PYTEST_CAPTURED = re.compile(r"-{3,}+ (?:Captured|generated) ")
_PYTEST_SECTION = re.compile(r"={3,}|_{3,}|(?:_ ){3,}")
_WHERE = re.compile(r"\+ {1,9}where ")
_TRACEBACK = re.compile(r"[ |]*+Traceback \(most recent call last\):")
_RUST_PANIC = re.compile(r"thread '[^']*+' (?:\(\d++\) )?+panicked at ")
_PANIC_INLINE = re.compile(r"'(?P<message>.*)', [^\s:]++:\d++:\d++$")

_UNITTEST = re.compile(r"(?:FAIL|ERROR): \S++ \(")
_GO_RUN = re.compile(r"=== (?:RUN|CONT|NAME) ++(\S++)")
_GO_END = re.compile(r" *+--- (PASS|FAIL|SKIP): (\S++)")
_GO_LOG = re.compile(r" {4,}+\w++\.go:\d++: ?(?P<message>.*)")
_TESTIFY = re.compile(r"\s++Error:\s++(?P<message>\S.*)")
_JEST = re.compile(r" *+\u25cf (?!Console)\S")
_VITEST = re.compile(r" *+FAIL {2}\S++(?: > |$)")
_NUMBERED = re.compile(r" *+[1-9]\d*+\) (?P<rest>\S.*)")
_OF_CLASS = re.compile(r"[^\s(][^(]*+\([A-Za-z_$][\w.$]*+\)$")
_JUNIT5 = "=> "
_DOTNET = "Error Message:"
_EX_UNIT = re.compile(r"(?:test|doctest|property) .* \([A-Z][\w.]*+\)$")
_SUREFIRE = re.compile(r".*<<< (?:FAILURE|ERROR)!(?! -- in )(?! - in )")
_GTEST = re.compile(r"(?:[^\s:]++:\d++|unknown file): (?:Failure$|error$)|.*\(\d++\): error$")
_GTEST_NEXT = re.compile(r"$|\[ |Google Test trace:|[^\s:]++:\d++: Failure$")
_GTEST_THROWN = re.compile(r'C\+\+ exception with description "(?P<message>[^"]++)')
_GTEST_END = re.compile(r"\[ {2}(FAILED|SKIPPED) {1,2}\] |\[ {7}(OK) \] ")
_TESTDOX = re.compile(r" [\u2718\u2717] ")
_CMAKE = re.compile(r"CMake Error at \S++")
_TEST_UNIT = re.compile(r"Failure: test\w*+\([\w:]++\)$")
_TEST_UNIT_SOURCE = re.compile(r"[^\s:]++:\d++:in |\s++(?:=> )?+\d++: ")
_RSPEC = "Failure/Error:"

#: The lines right before a failed test's message.
_BEFORE_THE_MESSAGE = (_JEST, _VITEST, _SUREFIRE, _TESTDOX)
#: The lines that begin something, by themselves and without blanks around them.
_BEGINS = (
    *(_PYTEST, _PYTEST_CAPTURED, _TRACEBACK, _RUST_PANIC, _GO_RUN, _GO_END, _GO_LOG, *_BEFORE_THE_MESSAGE),
    *(_NUMBERED, _TEST_UNIT, NOT_OK, TEST_MORE),
)
_BEGINS_STRIPPED = (re.compile(_DOTNET), re.compile(re.escape(_RSPEC)), re.compile(_JUNIT5), _GTEST, _CMAKE)


@lru_cache(maxsize=REMEMBERED)
def _says_nothing(line: str) -> bool:
    """Whether a line neither begins something nor says anything by itself, as most lines."""
    for begins in _BEGINS:
        if begins.match(line):
            return False
    text = line.strip()
    for begins in _BEGINS_STRIPPED:
        if begins.match(text):
            return False
    return error_line(unboxed(line)) is None


class Reader(Cursor):
    """Reads the lines of an output one after the other; each step may look at those that follow."""

    def __init__(self, said: Sequence[str]) -> None:
        super().__init__(said)
        self._go_logs: dict[str, list[str]] = {}
        self._go_test = ""
        self._go_failed = False

    def errors(self) -> Iterator[ErrorLine]:
        """All errors in the order of the output."""
        while self._at < len(self._said):
            line = self._said[self._at]
            self._at += 1
            if not _says_nothing(line):
                yield from self._step(line)

    def _step(self, line: str) -> Iterator[ErrorLine]:
        text = line.strip()
        if _PYTEST.match(line):
            yield self._pytest(line)
        elif _PYTEST_CAPTURED.match(line):
            self._skip_captured()
        elif _TRACEBACK.match(line):
            yield from self._traceback(line)
        elif panic := _RUST_PANIC.match(line):
            yield telling(self._panic(line[panic.end() :]))
        elif _GO_RUN.match(line) or _GO_END.match(line) or _GO_LOG.match(line):
            yield from self._go(line)
        else:
            yield from self._by_program(line, text)

    def _by_program(self, line: str, text: str) -> Iterator[ErrorLine]:
        if text == _DOTNET or any(begins.match(line) for begins in _BEFORE_THE_MESSAGE):
            yield from self._own(self.next_text())
        elif numbered := _NUMBERED.match(line):
            yield from self._numbered(line, numbered["rest"])
        elif _TEST_UNIT.match(line):
            yield from self._test_unit()
        elif text.startswith(_RSPEC):
            yield from self._rspec(line)
        elif _GTEST.match(text):
            yield from self._gtest()
        elif not_ok := NOT_OK.match(line):
            yield tap_blocks.not_ok(self, not_ok)
        elif failed := TEST_MORE.match(line):
            yield from filter(None, [tap_blocks.test_more(self, failed)])
        elif text.startswith(_JUNIT5) and is_exception(text.removeprefix(_JUNIT5)):
            yield from self._own(text.removeprefix(_JUNIT5))
        elif _CMAKE.match(text):
            yield telling(self.next_text())
        else:
            yield from map(self._continued, filter(None, [error_line(unboxed(line))]))

    def _own(self, message: str) -> Iterator[ErrorLine]:
        if message and not is_noise(message):
            yield ErrorLine(Weight.OWN, self._with_values(message))

    def _with_values(self, message: str) -> str:
        """A message that ends in a colon goes on in the next line."""
        if message.endswith(":") and self.peek().strip() and is_exception(message):
            return f"{message} {self.peek().strip()}"
        return message

    def _pytest(self, first: str) -> ErrorLine:
        """Lines that pytest marks with `E`: the message comes first, unless it is the source that could not be read."""
        block = [first]
        while _PYTEST.match(self.peek()):
            block.append(self.peek())
            self._at += 1
        block = [text for line in block if (text := line[1:].strip())] or [""]
        message = next((line for line in block if is_exception(line)), block[0])
        where = next((line for line in block if _WHERE.match(line)), "")
        return ErrorLine(Weight.OWN, f"{message} {where}" if where and len(message.split()) <= 3 else message)

    def _skip_captured(self) -> None:
        """What pytest shows of a failed test's own output comes after the error and may hold anything."""
        while self._at < len(self._said) and not _PYTEST_SECTION.match(self.peek()):
            self._at += 1

    def _traceback(self, line: str) -> Iterator[ErrorLine]:
        """All of a traceback stands further right than its head, but for the exception, whatever its name is."""
        indent = len(line) - len(line.lstrip(" |"))
        while self._at < len(self._said):
            text = self._said[self._at]
            self._at += 1
            rest = text[indent:]
            if text[:indent].strip(" |") or (rest and not rest[0].isspace()):
                message = rest.strip()
                if not is_noise(message):
                    yield telling(self._with_values(message))
                return

    def _panic(self, rest: str) -> str:
        """Since Rust 1.73 the message is on a line of its own, before that it stood in quotes."""
        inline = _PANIC_INLINE.match(rest)
        return inline["message"] if inline else self.next_text() or rest

    def _go(self, line: str) -> Iterator[ErrorLine]:
        """A test's logs are told when it has failed, or after it did; those of a test that passed say nothing."""
        if begun := _GO_RUN.match(line):
            self._go_test, self._go_failed = begun[1], False
        elif ended := _GO_END.match(line):
            word, test = ended.groups()
            logs = self._go_logs.pop(test, [])
            self._go_test, self._go_failed = test, word == "FAIL"
            if word == "FAIL":
                yield from (ErrorLine(Weight.OWN, message) for message in logs[:1])
        else:
            log = _GO_LOG.match(line)
            assert log is not None  # no other line is of Go
            testify = _TESTIFY.match(self._said[min(self._at + 1, len(self._said) - 1)])
            message = log["message"].strip() or (testify["message"] if testify else "")
            if self._go_failed and message:
                yield ErrorLine(Weight.OWN, message)
            elif message:
                self._go_logs.setdefault(self._go_test, []).append(message)

    def _numbered(self, line: str, rest: str) -> Iterator[ErrorLine]:
        """`1) suite` of mocha, whose title ends in a colon; `1) Class::test` of PHPUnit and JUnit; `1) Failure:`."""
        indent = len(line) - len(line.lstrip())
        start = self._at
        if _EX_UNIT.match(rest):
            self.next_text()  # the place
            yield from self._own(self.next_text().removeprefix("** "))
        elif "::" in rest or _OF_CLASS.match(rest):
            yield from self._own(self.next_text())
        elif rest in {"Failure:", "Error:"}:  # minitest
            self.next_text()
            yield from self._expected_and_actual()
        elif indent and not self.peek().strip().startswith(_RSPEC):
            titles = 0
            while not rest.endswith(":") and titles < _MOST_TITLES:
                rest, titles = self.next_text(), titles + 1
            if rest.endswith(":"):
                yield from self._own(self.next_text())
            else:
                self._at = start

    def _expected_and_actual(self) -> Iterator[ErrorLine]:
        message = self.next_text()
        following = self.peek().strip()
        if following.startswith(("Actual:", "got:", "<")) or message.endswith(":"):
            message = f"{message} {following}"
        yield from self._own(message)

    def _rspec(self, line: str) -> Iterator[ErrorLine]:
        """The source comes first; what was expected stands further right, an exception's name as far as the source."""
        indent = len(line) - len(line.lstrip())
        while self._at < len(self._said):
            following = self.peek()
            text = following.strip()
            if is_exception(text) or text.startswith("expected") or len(following) - len(text) <= indent - 2:
                break
            self._at += 1
        yield from self._expected_and_actual()

    def _test_unit(self) -> Iterator[ErrorLine]:
        """The place and the source come first."""
        while _TEST_UNIT_SOURCE.match(self.peek()):
            self._at += 1
        yield from self._expected_and_actual()

    def _gtest(self) -> Iterator[ErrorLine]:
        """The message counts if its test is said to have failed, or is never heard of again.

        `FAIL() << "no rate"` says `Failed` first, and nothing else if there is no message.
        """
        message = self.next_text()
        if message == "Failed":
            message = "" if _GTEST_NEXT.match(self.peek()) else self.next_text()
        thrown = _GTEST_THROWN.match(message)
        message = thrown["message"] if thrown else message
        for line in self.following(_GTEST_LINES):
            if ended := _GTEST_END.match(line):
                if not ended[1]:
                    return
                break
        following = self.peek().strip()
        yield ErrorLine(Weight.OWN, f"{message}\n{following}" if message.endswith(":") else message)

    def _continued(self, found: ErrorLine) -> ErrorLine:
        """Some messages end where their point begins."""
        weight, message = found
        following = unboxed(self.peek())
        if message == "cannot find symbol":
            for line in self.following(4):
                if line.strip().startswith("symbol:"):
                    return ErrorLine(weight, f"{message}: {' '.join(line.split()[1:])}")
        because = following.removeprefix("cause: ")
        if "No solution found when" in message and because.startswith("Because "):
            return ErrorLine(weight, f"No solution found: {because.partition(' and ')[0]}")
        if message.endswith(":") and is_exception(message) and following:
            return ErrorLine(weight, f"{message} {following}")
        return found


_MOST_TITLES = 8
_GTEST_LINES = 200
