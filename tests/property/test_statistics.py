"""What holds of the paired statistics whatever the rewards."""

import math
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy import stats

from nemo_gym.rollout_compare.compare import paired
from nemo_gym.rollout_compare.compare.distributions import fisher_exact_two_sided, student_t_quantile
from nemo_gym.rollout_compare.compare.interval import tango_interval
from nemo_gym.rollout_compare.compare.paired import mcnemar_mid_p
from nemo_gym.rollout_compare.compare.repeats import compare_repeats
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks, paired_statistics
from nemo_gym.rollout_compare.compare.task_side import summarize_side
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask
from nemo_gym.rollout_compare.schema import CarriedBy, Selection, SignificanceTest, Statistics, Unmeasured, Verdict

Pairs = list[tuple[float, float]]

BINARY = st.sampled_from([0.0, 1.0])
EIGHTHS = st.integers(0, 8).map(lambda solved: solved / 8)
THIRDS = st.integers(0, 3).map(lambda solved: solved / 3)
ANY_REWARD = st.floats(-1e6, 1e6)
EXTREME = st.floats(allow_nan=False, allow_infinity=False)

MIRRORED = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


@pytest.fixture(autouse=True, scope="module")
def _few_patterns() -> Iterator[None]:
    """What holds of p holds from however many patterns of signs it is taken; more of them only take longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "DRAW_BITS", 10)
        yield


def pairs_of(reward: st.SearchStrategy[float], most: int = 30) -> st.SearchStrategy[Pairs]:
    return st.lists(st.tuples(reward, reward), max_size=most)


PAIRS = st.one_of(*(pairs_of(reward) for reward in (BINARY, EIGHTHS, THIRDS, ANY_REWARD, EXTREME)))
UNMEASURED = st.lists(st.tuples(st.none() | EIGHTHS, st.none()) | st.tuples(st.none(), st.none() | EIGHTHS), max_size=5)


def statistics_of(pairs: Pairs, unmeasured: list[UnmeasuredTask] | None = None) -> Statistics:
    return paired_statistics(
        MeasuredTasks(
            old=[old for old, _ in pairs],
            new=[new for _, new in pairs],
            labels=[f"{old!r} {new!r}" if old < new else f"{new!r} {old!r}" for old, new in pairs],
            unmeasured=unmeasured or [],
        )
    )


def negated(value: float | None) -> float | None:
    return None if value is None else -value


@given(PAIRS, UNMEASURED)
@settings(deadline=None)
def test_swapping_the_sides_mirrors_what_has_a_sign(pairs: Pairs, unmeasured: list[UnmeasuredTask]) -> None:
    there = statistics_of(pairs, unmeasured)
    back = statistics_of([(new, old) for old, new in pairs], [(new, old) for old, new in unmeasured])
    assert back == replace(
        there,
        mean_old=there.mean_new,
        mean_new=there.mean_old,
        delta=negated(there.delta),
        ci_low=negated(there.ci_high),
        ci_high=negated(there.ci_low),
        old_wins=there.new_wins,
        new_wins=there.old_wins,
        verdict=MIRRORED.get(there.verdict, there.verdict),
        chance_better=None if there.chance_better is None else pytest.approx(1 - there.chance_better),
        wins_say=MIRRORED[there.wins_say] if there.wins_say else None,
        carried_by=there.carried_by
        and CarriedBy(
            there.carried_by.task,
            -there.carried_by.delta_without,
            MIRRORED.get(there.carried_by.verdict_without, there.carried_by.verdict_without),
        ),
        unmeasured=there.unmeasured and mirrored(there.unmeasured),
    )


def mirrored(bounds: Unmeasured) -> Unmeasured:
    other = {"old": "new", "new": "old"}
    return Unmeasured(
        bounds.tasks,
        negated(bounds.delta_best),
        negated(bounds.delta_worst),
        negated(bounds.high),
        negated(bounds.low),
        negated(bounds.as_failed),
        bounds.could_overturn,
        tuple(
            Selection(other[one.side], one.tasks, one.mean, one.mean_measured, one.p_value)
            for one in reversed(bounds.selection)
        ),
    )


@given(PAIRS, UNMEASURED, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_tasks_does_not_matter(pairs: Pairs, unmeasured: list[UnmeasuredTask], order: Random) -> None:
    shuffled, others = pairs.copy(), unmeasured.copy()
    order.shuffle(shuffled)
    order.shuffle(others)
    assert statistics_of(shuffled, others) == statistics_of(pairs, unmeasured)


@given(st.one_of(*(pairs_of(reward) for reward in (BINARY, EIGHTHS, ANY_REWARD))), st.lists(BINARY, max_size=20))
@settings(deadline=None)
def test_identical_tasks_leave_wins_and_p_alone(pairs: Pairs, identical: list[float]) -> None:
    few = statistics_of([*pairs, (1.0, 1.0), (0.0, 0.0)])
    more = statistics_of([*pairs, (1.0, 1.0), (0.0, 0.0), *((reward, reward) for reward in identical)])
    assert (more.old_wins, more.new_wins, more.test, more.p_value) == (
        few.old_wins,
        few.new_wins,
        few.test,
        few.p_value,
    )


@given(PAIRS)
@settings(deadline=None)
def test_an_interval_holds_its_delta_and_p_is_a_probability(pairs: Pairs) -> None:
    statistics = statistics_of(pairs)
    assert (statistics.ci_low is None) == (statistics.ci_high is None) == (statistics.interval is None)
    if statistics.ci_low is not None and statistics.ci_high is not None and statistics.delta is not None:
        assert statistics.ci_low <= statistics.delta <= statistics.ci_high
        assert statistics.ci_low < statistics.ci_high
    if statistics.detectable is not None:
        assert 0 < statistics.detectable < math.inf
    assert (statistics.test is None) == (statistics.p_value is None)
    assert statistics.p_value is None or 0 < statistics.p_value <= 1


@given(PAIRS, UNMEASURED)
@settings(deadline=None)
def test_what_is_missing_has_a_reason_and_the_verdict_follows_p(pairs: Pairs, unmeasured: list[UnmeasuredTask]) -> None:
    statistics = statistics_of(pairs, unmeasured)
    absent = {name for name in Statistics.__struct_fields__ if getattr(statistics, name) is None}
    assert set(statistics.why_null) == absent - {"reason"}
    assert (statistics.reason is None) == (statistics.verdict is not Verdict.CANNOT_TELL)
    if statistics.verdict in MIRRORED:
        assert statistics.p_value is not None
        assert statistics.p_value < 0.05
        assert statistics.delta is not None
        assert (statistics.delta > 0) == (statistics.verdict is Verdict.BETTER)
    if statistics.verdict is Verdict.NO_SIGNIFICANT_CHANGE:
        assert statistics.p_value is None or statistics.p_value >= 0.05


@given(pairs_of(EIGHTHS), UNMEASURED)
@settings(deadline=None)
def test_bounds_hold_every_delta_the_unmeasured_tasks_could_have_made(
    pairs: Pairs, unmeasured: list[UnmeasuredTask]
) -> None:
    bounds = statistics_of(pairs, unmeasured).unmeasured
    if not pairs and not unmeasured:
        assert bounds is None
        return
    assert bounds is not None
    draw = Random(len(pairs))
    for _ in range(5):
        filled = [tuple(draw.random() if reward is None else reward for reward in task) for task in unmeasured]
        delta = math.fsum(new - old for old, new in [*pairs, *filled]) / (len(pairs) + len(filled))
        assert bounds.delta_worst is not None
        assert bounds.delta_best is not None
        assert bounds.delta_worst - 1e-12 <= delta <= bounds.delta_best + 1e-12


@given(pairs_of(BINARY, most=60))
@settings(deadline=None, max_examples=300)
def test_figures_of_0_and_1_agree_with_scipy(pairs: Pairs) -> None:
    statistics = statistics_of(pairs)
    changed = statistics.old_wins + statistics.new_wins
    if changed and len(pairs) > 1:
        assert statistics.test is SignificanceTest.MCNEMAR
        assert statistics.p_value == pytest.approx(mid_p(statistics.new_wins, changed), rel=1e-9)
    if pairs:
        expected = tango_interval(statistics.old_wins, statistics.new_wins, len(pairs))
        assert (statistics.ci_low, statistics.ci_high) == expected


def mid_p(wins: int, changed: int) -> float:
    if 2 * wins == changed:
        return 1.0
    return float(stats.binomtest(wins, changed).pvalue - stats.binom.pmf(wins, changed, 0.5))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 200), st.sampled_from([0.9, 0.95]))
def test_tangos_interval_is_mirrored_and_lies_around_the_difference(c: int, b: int, same: int, sure: float) -> None:
    n = max(1, c + b + same)
    low, high = tango_interval(c, b, n, sure)
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert tango_interval(b, c, n, sure) == (-high, -low)
    narrow = tango_interval(c, b, n, sure - 0.1)
    assert low <= narrow[0] <= narrow[1] <= high


@given(st.integers(0, 200_000), st.integers(0, 200_000))
@example(0, 0)
def test_mcnemar_agrees_with_scipy(old_wins: int, new_wins: int) -> None:
    assert mcnemar_mid_p(old_wins, new_wins) == pytest.approx(
        mid_p(old_wins, old_wins + new_wins), rel=1e-7, abs=1e-280
    )


@given(st.floats(0.5, 0.9999), st.integers(1, 10**7))
def test_student_t_quantile_agrees_with_scipy(probability: float, degrees: int) -> None:
    expected = stats.t.ppf(probability, degrees)
    assert student_t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_fisher_agrees_with_scipy_and_does_not_mind_rows_or_columns_swapped(table: list[int]) -> None:
    a, b, c, d = table
    p_value = fisher_exact_two_sided(a, b, c, d)
    assert p_value == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue, abs=1e-9)
    assert p_value == pytest.approx(fisher_exact_two_sided(c, d, a, b), rel=1e-12)
    assert p_value == pytest.approx(fisher_exact_two_sided(b, a, d, c), rel=1e-12)
    assert p_value == pytest.approx(fisher_exact_two_sided(a, c, b, d), rel=1e-12)


@given(st.lists(BINARY, min_size=2, max_size=12), st.lists(BINARY, min_size=2, max_size=12))
def test_repeats_agree_with_scipy(old: list[float], new: list[float]) -> None:
    repeats = compare_repeats(
        *(summarize_side([{"task_id": "t", "reward": reward} for reward in side]) for side in (old, new))
    )
    assert repeats is not None
    table = [[side.count(1.0), side.count(0.0)] for side in (old, new)]
    assert repeats.p_value == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)
    assert (repeats.old_solved, repeats.old_attempts) == (table[0][0], len(old))
    assert (repeats.new_solved, repeats.new_attempts) == (table[1][0], len(new))
    fewest = stats.fisher_exact([[len(old), 0], [0, len(new)]]).pvalue
    assert repeats.too_few_attempts == (fewest > 0.05)
    assert repeats.within_noise == (repeats.p_value > 0.05 >= fewest)
