"""Which single tests changed between two sides."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from nemo_gym.rollout_compare.compare import NOISE_LEVEL, fisher_exact_two_sided
from nemo_gym.rollout_compare.explain.triage.names import same_names
from nemo_gym.rollout_compare.explain.triage.results import Outcome, TestResults
from nemo_gym.rollout_compare.schema import TestChanges, TestRate

_FAILED = (Outcome.FAILED, Outcome.ERROR)
_NUMBERS = re.compile(r"(\d{1,18}+)")


def compare_tests(old: TestResults | None, new: TestResults | None) -> TestChanges | None:
    """Which tests broke, which were fixed and which did not run any more.

    A test that passed on the old side and is not named by the new one, or was skipped there, did not run: its file
    could not be imported, its class could not be set up, or the run ended before it. If the new side's output is
    truncated nobody knows, and the test is left out.

    Returns:
        None where either side's tests are not known, or their names have nothing in common.
    """
    return compare_attempts([old], [new])


def compare_attempts(old: Sequence[TestResults | None], new: Sequence[TestResults | None]) -> TestChanges | None:
    """The same over all attempts of both sides: with several, a test broke or was fixed if its pass rate says so.

    Its rates must differ beyond noise (Fisher's exact p of 0.05 or less), or all of two or more attempts passed and all
    of two or more failed. Other differences are `changed`. Attempts whose tests are not known are left out.
    """
    known_old, known_new = ([tests for tests in side if tests] for side in (old, new))
    if not known_old or not known_new:
        return None
    renamed = _renamed(known_old, known_new)
    if renamed is None:
        return None
    if len(known_old) == len(renamed) == 1:
        return _of_one_attempt(known_old[0], renamed[0])
    return _of_attempts(known_old, renamed)


def natural(names: Iterable[str]) -> tuple[str, ...]:
    """The names in the order in which a person counts: `t2` before `t10`."""
    return tuple(sorted(names, key=_natural_key))


def _natural_key(name: str) -> tuple[list[tuple[int, int | str]], str]:
    parts = [(0, int(part)) if part.isdecimal() else (1, part) for part in _NUMBERS.split(name) if part]
    return parts, name


def _renamed(old: Sequence[TestResults], new: Sequence[TestResults]) -> Sequence[TestResults] | None:
    """The new side's results under the old side's names; None if they cannot be compared."""
    old_names, new_names = ({name for tests in side for name in tests.outcomes} for side in (old, new))
    one_naming = len({tests.naming for tests in (*old, *new)}) == 1
    if old_names & new_names:
        return new
    matched = same_names(sorted(old_names), sorted(new_names))
    if not matched:
        return new if one_naming else None
    return [replace(tests, outcomes=_under(tests.outcomes, matched)) for tests in new]


def _under(outcomes: Mapping[str, Outcome], names: Mapping[str, str]) -> Mapping[str, Outcome]:
    return {names.get(name, name): outcome for name, outcome in outcomes.items()}


def _of_one_attempt(old: TestResults, new: TestResults) -> TestChanges:
    passed_old, passed_new = (
        {name for name, outcome in side.outcomes.items() if outcome is Outcome.PASSED} for side in (old, new)
    )
    return TestChanges(
        broken=natural(name for name in passed_old if new.outcomes.get(name) in _FAILED),
        fixed=natural(name for name in passed_new if old.outcomes.get(name) in _FAILED),
        not_run=_not_run(passed_old, [new]),
    )


def _not_run(passed: Iterable[str], new: Sequence[TestResults]) -> tuple[str, ...]:
    """The tests that no attempt of the new side ran, though all of their outputs are complete."""
    if any(tests.truncated for tests in new):
        return ()
    ran = {name for tests in new for name, outcome in tests.outcomes.items() if outcome is not Outcome.SKIPPED}
    return natural(name for name in passed if name not in ran)


def _of_attempts(old: Sequence[TestResults], new: Sequence[TestResults]) -> TestChanges:
    (passed_old, all_old), (passed_new, all_new) = _counts(old), _counts(new)
    broken: list[str] = []
    fixed: list[str] = []
    changed: list[TestRate] = []
    for name in natural(all_old.keys() & all_new.keys()):
        counts = (passed_old[name], all_old[name], passed_new[name], all_new[name])
        if counts[0] * counts[3] == counts[2] * counts[1]:
            continue
        if _beyond_noise(*counts):
            (broken if counts[0] * counts[3] > counts[2] * counts[1] else fixed).append(name)
        else:
            changed.append(TestRate(name, f"{counts[0]}/{counts[1]}", f"{counts[2]}/{counts[3]}"))
    always = [name for name, passed in passed_old.items() if passed == all_old[name]]
    return TestChanges(tuple(broken), tuple(fixed), _not_run(always, new), tuple(changed))


def _counts(side: Sequence[TestResults]) -> tuple[Counter[str], Counter[str]]:
    """In how many attempts each test passed, and in how many it ran."""
    passed, ran = Counter[str](), Counter[str]()
    for tests in side:
        for name, outcome in tests.outcomes.items():
            if outcome is not Outcome.SKIPPED:
                ran[name] += 1
                passed[name] += outcome is Outcome.PASSED
    return passed, ran


def _beyond_noise(passed_old: int, ran_old: int, passed_new: int, ran_new: int) -> bool:
    failed_old, failed_new = ran_old - passed_old, ran_new - passed_new
    if min(ran_old, ran_new) > 1 and (failed_old == passed_new == 0 or passed_old == failed_new == 0):
        return True
    return fisher_exact_two_sided(passed_old, failed_old, passed_new, failed_new) <= NOISE_LEVEL
