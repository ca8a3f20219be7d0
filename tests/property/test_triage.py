import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.explain.triage import (
    SignedFlip,
    TestResults,
    clusters,
    merge_tests,
    read_test_file,
    read_tests,
    signature,
)
from nemo_gym.rollout_compare.explain.triage.anonymous import anonymous
from nemo_gym.rollout_compare.explain.triage.changes import compare_tests
from nemo_gym.rollout_compare.explain.triage.pytest_text import _Run, read_pytest
from nemo_gym.rollout_compare.explain.triage.results import Outcome
from nemo_gym.rollout_compare.schema import Side
from nemo_gym.rollout_compare.text.plain import lines
from tests.properties import PROPERTY
from tests.triage_support import SAMPLES

# Words of the formats, so that junk comes close to them.
PIECES = [
    *["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "SUBFAILED", "a.py::b", "[x y]", "[gw0]", "[ 50%]", " - "],
    *["test_a (m.T)", " ... ", "ok", "FAIL: ", "Ran 1 test in 0.1s", "skipped 'x'", "====="],
    *["=== RUN   TestA", "--- PASS: TestA (0.00s)", "--- FAIL: ", "FAIL\tm\t1s", '{"Action":"run","Test":"a"}'],
    *["running 1 test", "test a ... ok", "test result: ok.", "bench: "],
    *["Traceback (most recent call last):", "KeyError: 'a'", "E   x", "thread 'a' panicked at ", "--- Captured "],
    *["'", '"', "`", "/", ".", ":", ",", "0x1f", "12", "tmp", "http://", "exit code ", "<n>", "'<value>'", "assert "],
    *["\n", "\r", " ", "\x1b[31m", "\x1b", "\x9b", "\x00", "\ud800", "\u202e"],
]
junk = st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3))).map("".join))

SAMPLE_TEXTS = {
    str(path.relative_to(SAMPLES)): path.read_text(encoding="utf-8")
    for path in sorted(SAMPLES.glob("*/*.txt"))
    if path.parent.name != "runners"  # of a tree whose start is gone nobody knows the suites
}
SAMPLE_FILES = {path.name: path.read_bytes() for path in [SAMPLES / "ctrf/ctrf.json", SAMPLES / "junit/pytest.xml"]}


def names(results: TestResults | None) -> set[str]:
    return set(results.outcomes) if results else set()


@PROPERTY
@given(junk)
def test_junk_is_harmless(text: str) -> None:
    results = read_tests(text)

    if results is not None:
        assert results.outcomes
        assert all(name.isprintable() for name in results.outcomes)
        json.dumps(dict(results.outcomes), ensure_ascii=False).encode()


@PROPERTY
@given(junk)
def test_the_signature_of_junk_is_one_short_printable_line(text: str) -> None:
    said = signature(text)

    assert said is None or (said.isprintable() and 0 < len(said) < 200)


@PROPERTY
@given(st.binary() | junk.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_a_file_of_junk_is_harmless(data: bytes) -> None:
    for name in ("ctrf.json", "junit.xml"):
        read_test_file(name, data)


@PROPERTY
@given(st.recursive(st.none() | junk | st.integers(), lambda some: st.lists(some) | st.dictionaries(junk, some)))
def test_any_json_in_the_place_of_tests_is_harmless(value: object) -> None:
    read_test_file("ctrf.json", json.dumps({"results": {"tests": [value, {"name": value, "status": value}]}}).encode())
    read_test_file("ctrf.json", json.dumps({"results": {"tests": value, "tool": value}}).encode())


@pytest.mark.parametrize("text", SAMPLE_TEXTS.values(), ids=SAMPLE_TEXTS.keys())
@PROPERTY
@given(data=st.data())
def test_the_start_of_an_output_names_some_of_its_tests_and_is_truncated(text: str, data: st.DataObject) -> None:
    lines = text.splitlines(keepends=True)
    results = read_tests("".join(lines[: data.draw(st.integers(0, len(lines)))]))

    assert names(results) <= names(read_tests(text))


@pytest.mark.parametrize("text", SAMPLE_TEXTS.values(), ids=SAMPLE_TEXTS.keys())
@PROPERTY
@given(data=st.data())
def test_the_end_of_an_output_names_some_of_its_tests(text: str, data: st.DataObject) -> None:
    lines = text.splitlines(keepends=True)
    results = read_tests("".join(lines[data.draw(st.integers(0, len(lines))) :]))

    assert names(results) <= names(read_tests(text))


@pytest.mark.parametrize(("name", "content"), SAMPLE_FILES.items())
@PROPERTY
@given(data=st.data())
def test_the_start_of_a_file_has_some_of_its_tests_with_the_same_outcomes(
    name: str, content: bytes, data: st.DataObject
) -> None:
    part = read_test_file(name, content[: data.draw(st.integers(0, len(content) - 10))])
    whole = read_test_file(name, content)

    assert whole is not None
    if part is not None:
        assert part.truncated
        assert part.outcomes.items() <= whole.outcomes.items()


LINE_READERS: dict[str, Callable[[str, Outcome], str]] = {
    "pytest": lambda name, outcome: f"a.py::{name} {outcome.upper()}",
    "go": lambda name, outcome: f"--- {({'passed': 'PASS', 'skipped': 'SKIP'}).get(outcome, 'FAIL')}: {name} (0.00s)",
}


@pytest.mark.parametrize("line", LINE_READERS.values(), ids=LINE_READERS.keys())
@PROPERTY
@given(tests=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(Outcome))), data=st.data())
def test_the_order_of_lines_makes_no_difference(
    line: Callable[[str, Outcome], str], tests: list[tuple[str, Outcome]], data: st.DataObject
) -> None:
    lines = [line(*test) for test in tests]
    mixed = data.draw(st.permutations(lines))

    assert read_tests("\n".join(lines)) == read_tests("\n".join(mixed))


@PROPERTY
@given(junk)
@example("'a\"b' \"c'd\"")
@example("exit  code 5")
def test_anonymous_twice_is_anonymous_once(text: str) -> None:
    once = anonymous(text)

    assert anonymous(once) == once


@PROPERTY
@given(junk)
def test_a_signature_is_anonymous(text: str) -> None:
    said = signature("ValueError: no way " + "".join(text.splitlines()))

    assert said is None or anonymous(said) == said


@PROPERTY
@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_make_no_difference(one: int, other: int) -> None:
    error = "ValueError: row {} of /app/run-{}/x.csv took {}s"

    assert signature(error.format(one, one, one)) == signature(error.format(other, other, other))


outcomes = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(Outcome), min_size=1)
sides = st.builds(TestResults, outcomes, st.just("pytest"), st.booleans())


@PROPERTY
@given(sides, sides)
def test_sides_that_change_places_turn_broken_into_fixed(old: TestResults, new: TestResults) -> None:
    there, back = compare_tests(old, new), compare_tests(new, old)

    assert there is not None
    assert back is not None
    assert (there.broken, there.fixed) == (back.fixed, back.broken)
    assert not set(there.broken) & {*there.fixed, *there.not_run}


@PROPERTY
@given(sides)
def test_a_side_does_not_differ_from_itself(side: TestResults) -> None:
    changes = compare_tests(side, side)

    assert changes is not None
    assert not changes.broken
    assert not changes.fixed


@PROPERTY
@given(st.lists(sides), st.data())
def test_the_order_of_parts_makes_no_difference(parts: list[TestResults], data: st.DataObject) -> None:
    assert merge_tests(parts) == merge_tests(data.draw(st.permutations(parts)))


flips = st.lists(
    st.builds(SignedFlip, st.text(max_size=3), st.sampled_from(Side), st.sampled_from([None, "a", "b", "c"]))
)


@PROPERTY
@given(flips, st.data())
def test_clusters_hold_each_signed_flip_once_largest_first(some: list[SignedFlip], data: st.DataObject) -> None:
    gathered = clusters(some)

    sizes = [len(cluster.tasks) for cluster in gathered]
    assert sizes == sorted(sizes, reverse=True)
    members = [(task, cluster.signature) for cluster in gathered for task in cluster.tasks]
    signed = [flip for flip in some if flip.signature is not None]
    assert sorted(members) == sorted((flip.task, flip.signature) for flip in signed)
    assert sum(cluster.old_wins for cluster in gathered) == sum(flip.winner is Side.OLD for flip in signed)
    assert all(cluster.old_wins + cluster.new_wins == len(cluster.tasks) for cluster in gathered)
    assert gathered == clusters(data.draw(st.permutations(some)))


@PROPERTY
@given(st.one_of(junk, st.sampled_from(sorted(SAMPLE_TEXTS.values()))))
def test_the_lines_that_pytest_s_reader_passes_over_say_nothing(text: str) -> None:
    every_line = _Run()
    for line in lines(text):
        every_line.read(line)
    found = every_line.collected.results("pytest", truncated=not every_line.names_all_passed())
    assert read_pytest(text) == found
