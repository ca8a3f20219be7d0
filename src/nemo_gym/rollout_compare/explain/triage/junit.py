"""JUnit XML, as pytest, Surefire, gotestsum, Jest and many others write it."""

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults

_ROOTS = {"testsuites", "testsuite"}

# What may stand in a test case. A flaky failure is one that a later try made good, so it is none.
_OUTCOMES = {
    "failure": Outcome.FAILED,
    "error": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
}

# Some programs say with an attribute that a test did not run.
_NOT_RUN = {"notrun", "skipped", "disabled", "ignored"}

# Suites within suites are seldom more than a few; whatever is deeper is no report.
_DEPTH_LIMIT = 100


def read_junit(data: bytes) -> TestResults | None:
    """The tests of a JUnit XML file, named `classname.name`; of one that is cut off, the tests before the cut.

    A name that occurs in several suites has its suite before it. A document with a DTD, which is where entity bombs are
    made, is refused: no results.
    """
    # Imported late: few runs have such files.
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, XMLParser

    report = _Report()
    parser = XMLParser(target=report, forbid_dtd=True)
    truncated = False
    try:
        parser.feed(data)
        parser.close()
    except DefusedXmlException:
        return None
    except (ParseError, ValueError, LookupError):  # not XML, or no longer; an encoding nobody knows
        truncated = True
    return report.collected.with_suites().results("junit", truncated=truncated)


class _Report:
    """What the parser tells its events to: no tree is built, so memory grows with the number of tests alone."""

    def __init__(self) -> None:
        self.collected = Collector()
        self._suites: list[str] = []
        self._depth = 0
        self._case_depth = 0
        self._name = ""
        self._outcomes: list[Outcome] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        tag = _local(tag)
        if self._depth == _DEPTH_LIMIT or (self._depth == 0 and tag not in _ROOTS):
            raise ValueError("not a JUnit report")
        self._depth += 1
        if tag in _ROOTS:
            self._suites.append(attributes.get("name", ""))
        if tag == "testcase" and not self._case_depth:
            self._case_depth = self._depth
            self._name = _test_name(attributes)
            self._outcomes = [_outcome_by_attribute(attributes)]
        elif self._depth == self._case_depth + 1 and tag in _OUTCOMES:
            self._outcomes.append(_OUTCOMES[tag])

    def end(self, tag: str) -> None:
        """An element ends; a test case that does is known whole."""
        if self._depth == self._case_depth:
            self._case_depth = 0
            # A test that was tried again stands here several times: its last attempt counts.
            suite = self._suites[-1] if self._suites else ""
            self.collected.add_by_suite(suite, self._name, _worst(self._outcomes), again=True)
        elif _local(tag) in _ROOTS and self._suites:
            self._suites.pop()
        self._depth -= 1

    def close(self) -> None:
        """The document ends."""


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _test_name(attributes: dict[str, str]) -> str:
    scope, name = attributes.get("classname", ""), attributes.get("name", "")
    return f"{scope}.{name}" if scope and name and scope != name else name or scope


def _outcome_by_attribute(attributes: dict[str, str]) -> Outcome:
    return Outcome.SKIPPED if attributes.get("status", "").lower() in _NOT_RUN else Outcome.PASSED


def _worst(outcomes: list[Outcome]) -> Outcome:
    """A skipped test has no failure beside it; without either it passed."""
    found = set(outcomes)
    order = (Outcome.ERROR, Outcome.FAILED, Outcome.SKIPPED, Outcome.PASSED)
    return next(outcome for outcome in order if outcome in found)
