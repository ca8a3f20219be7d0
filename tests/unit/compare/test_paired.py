"""The paired tests and intervals, held to scipy, to statsmodels and to worked examples."""

import math
import statistics
from fractions import Fraction
from random import Random

import numpy
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.weightstats import DescrStatsW

from nemo_gym.rollout_compare.compare import paired
from nemo_gym.rollout_compare.compare.interval import paired_t_interval
from nemo_gym.rollout_compare.compare.interval import tango_interval as tango
from nemo_gym.rollout_compare.compare.paired import (
    Interval,
    basics_of,
    detectable_difference,
    mcnemar_mid_p,
    sign_flip_permutation,
    standard_error,
)
from nemo_gym.rollout_compare.schema import IntervalKind, SignificanceTest

#: Differences in height, in eighths of an inch, of 15 pairs of crossed and self-fertilised maize (C. Darwin, 1876).
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

#: Hours of sleep gained, second drug less the first ("Student", Biometrika 6, 1908).
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]

DRAWN_PATTERNS = 2**paired.DRAW_BITS


def interval_of(differences: list[float]) -> tuple[float, float]:
    error = standard_error(differences)
    assert error is not None
    return paired_t_interval(math.fsum(differences) / len(differences), error, len(differences))


def exact_p(multiples: list[int]) -> Fraction:
    """The sign-flip p of whole numbers, from the exact distribution of their signed sums."""
    ways = {0: 1}
    for multiple in map(abs, multiples):
        longer: dict[int, int] = {}
        for total, count in ways.items():
            for sum_ in (total + multiple, total - multiple):
                longer[sum_] = longer.get(sum_, 0) + count
        ways = longer
    found = abs(sum(multiples))
    share = Fraction(sum(count for total, count in ways.items() if abs(total) > found), 2 ** len(multiples))
    return share + Fraction(ways[found], 2 ** len(multiples))


@pytest.mark.parametrize(
    ("old_wins", "new_wins", "p_value"),
    [
        (0, 0, 1.0),
        (1, 0, 0.5),
        (1, 1, 1.0),
        (3, 3, 1.0),
        (3, 0, 0.125),
        (0, 4, 0.0625),
        (0, 5, 1 / 32),
        (1, 7, 10 / 256),
    ],
)
def test_mcnemar_by_hand(old_wins: int, new_wins: int, p_value: float) -> None:
    assert mcnemar_mid_p(old_wins, new_wins) == p_value


def test_mcnemar_of_children_with_airways_that_react() -> None:
    """Fagerland, Lydersen and Laake (2013), table 1 (Bentur et al., 2009): 1 against 7, mid-p 0.0391."""
    assert mcnemar_mid_p(1, 7) == 0.0390625


def test_mcnemar_of_the_prime_minister_survey() -> None:
    """A. Agresti, Categorical Data Analysis (2nd ed., 2002), section 10.1: z^2 = 64^2 / 236 = 17.36 on one degree."""
    assert mcnemar_mid_p(86, 150) == pytest.approx(stats.chi2.sf(17.36, 1), rel=0.07)


def test_mcnemar_agrees_with_scipy_and_statsmodels() -> None:
    draw = Random(3)
    for _ in range(2_000):
        changed = int(10 ** draw.uniform(0, 4))
        old_wins = round(min(changed, max(0.0, draw.gauss(changed / 2, changed**0.5))))
        p_value = mcnemar_mid_p(old_wins, changed - old_wins)
        found = stats.binom.pmf(old_wins, changed, 0.5)
        if 2 * old_wins == changed:
            assert p_value == pytest.approx(1.0, rel=1e-12)
            continue
        exact = stats.binomtest(old_wins, changed).pvalue
        assert p_value == pytest.approx(exact - found, abs=1e-9), (old_wins, changed)
        exact = mcnemar([[5, old_wins], [changed - old_wins, 5]]).pvalue
        assert p_value == pytest.approx(exact - found, abs=1e-9)


def test_sign_flips_of_darwins_maize() -> None:
    """R. A. Fisher, The Design of Experiments (1935), section 21: 835 sums are larger of 32,768, 28 equal."""
    assert sum(DARWIN) == 314
    assert sign_flip_permutation(DARWIN) == (2 * 835 + 28) / 32_768


@pytest.mark.parametrize("unit", [1 / 8, 1 / 3, 1.0, 1e-6, 1e100])
def test_sign_flips_agree_with_scipy_where_sums_tie(unit: float) -> None:
    draw = Random(4)
    for _ in range(60):
        differences = [draw.randint(-8, 8) * unit for _ in range(draw.randint(2, 10))]
        assert sign_flip_permutation(differences) == pytest.approx(scipy_p(differences), abs=1e-9), differences


def test_sign_flips_agree_with_scipy_on_continuous_rewards() -> None:
    draw = Random(5)
    for size in [*(draw.randint(2, 9) for _ in range(300)), 12, 14, 16]:
        differences = [draw.gauss(0.3, 1) for _ in range(size)]
        assert sign_flip_permutation(differences) == pytest.approx(scipy_p(differences), abs=1e-9), differences


def scipy_p(differences: list[float]) -> float:
    """The exact p, less half the share of scipy's sums that are as far from 0 as the one found."""
    result = stats.permutation_test(
        (numpy.array(differences),),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=math.inf,
    )
    sums, found = numpy.abs(result.null_distribution), abs(result.statistic)
    rounding = max(1e-9, 1e-12 * numpy.abs(differences).sum())
    if found <= rounding:
        return 1.0
    return float((sums > found + rounding).mean() + (abs(sums - found) <= rounding).mean() / 2)


def test_rounding_of_rewards_does_not_break_ties() -> None:
    """0.9 - 0.6 and 0.3 - 0.0 are unequal as doubles; 0.3 - 0.3 + 0.3 ties with each of them.

    Of 8 sums two are 0.9 from 0 and six 0.3: (2 + 6 / 2) / 8, and (2 / 2) / 8.
    """
    assert 0.9 - 0.6 != 0.3
    assert sign_flip_permutation([0.9 - 0.6, 0.3, 0.0 - 0.3]) == 5 / 8
    assert sign_flip_permutation([0.9 - 0.6, 0.3, 0.7 - 0.4]) == 1 / 8


def test_drawn_sign_flips_are_as_close_to_the_exact_p_as_independent_draws() -> None:
    draw = Random(6)
    squares = []
    for size in [18, 20, 24, 30, 40, 60, 80] * 3:
        multiples = [draw.choice([-1, 1, 1]) * draw.randint(1, 8) for _ in range(size)]
        exact = float(exact_p(multiples))
        deviation = (exact * (1 - exact) / DRAWN_PATTERNS) ** 0.5
        off = sign_flip_permutation([multiple / 8 for multiple in multiples]) - exact
        assert abs(off) < 5 * deviation + 1 / DRAWN_PATTERNS, (multiples, exact)
        squares.append((off / deviation) ** 2)
    assert statistics.fmean(squares) < 1.5


def test_drawn_sign_flips_agree_with_scipys_draws() -> None:
    draw = Random(7)
    differences = [draw.gauss(0.15, 1) for _ in range(150)]
    result = stats.permutation_test(
        (numpy.array(differences),),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=100_000,
        batch=2_000,
        rng=numpy.random.default_rng(1),
    )
    p_value = float(result.pvalue)
    # scipy doubles the smaller tail, so its p has twice the variance.
    assert sign_flip_permutation(differences) == pytest.approx(p_value, abs=5 * (3 * p_value / 100_000) ** 0.5)


def test_drawn_sign_flips_are_never_impossible() -> None:
    assert sign_flip_permutation([0.5] * 200) == 1 / 131_072


@pytest.mark.parametrize("changed", [2, 16, 17])
def test_every_pattern_of_signs_is_tried_up_to_17_changed_tasks(changed: int) -> None:
    assert sign_flip_permutation([0.5] * changed) == 1 / 2**changed
    assert sign_flip_permutation([0.5] * (changed - 1) + [-0.25]) == 3 / 2**changed
    assert sign_flip_permutation([0.5] * changed + [1e-9, -1e-9, 0.0]) == 1 / 2**changed


def test_drawn_sign_flips_go_through_every_pattern_of_the_largest_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """5 large wins to 1, and small changes that only when all agree with the large ones tie with the sum found."""
    monkeypatch.setattr(paired, "DRAW_BITS", 6)
    for seed in range(20):
        monkeypatch.setattr(paired, "DRAW_SEED", seed)
        assert sign_flip_permutation([1e-4] * 60 + [1.0] * 5 + [-1.0]) == 2 / 2**6


def test_drawn_sign_flips_mind_neither_the_order_nor_which_side_is_old() -> None:
    draw = Random(12)
    differences = [draw.gauss(0.1, 1) for _ in range(60)]
    p_value = sign_flip_permutation(differences)
    assert 0 < p_value < 1
    assert sign_flip_permutation(reversed(differences)) == p_value
    assert sign_flip_permutation(-difference for difference in differences) == p_value


def test_no_changed_task_is_no_evidence() -> None:
    assert sign_flip_permutation([]) == 1.0
    assert sign_flip_permutation([0.0, 1e-9]) == 1.0


def test_p_is_uniform_when_sides_are_interchangeable(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Random(8)
    exact = [sign_flip_permutation([draw.gauss(0, 1) for _ in range(12)]) for _ in range(1_000)]
    assert stats.kstest(exact, "uniform").pvalue > 0.01
    monkeypatch.setattr(paired, "DRAW_BITS", 11)
    drawn = []
    for seed in range(1_000):
        monkeypatch.setattr(paired, "DRAW_SEED", seed)
        drawn.append(sign_flip_permutation([draw.gauss(0, 1) for _ in range(40)]))
    assert stats.kstest(drawn, "uniform").pvalue > 0.01


@pytest.mark.parametrize("tasks", [10, 20, 50, 200])
def test_mcnemar_is_wrong_of_equal_sides_in_hardly_more_than_5_of_100_runs(tasks: int) -> None:
    """By enumeration, for every share of tasks that may change: at most half where the sides are equal."""
    given_changed = [
        sum(
            stats.binom.pmf(wins, changed, 0.5)
            for wins in range(changed + 1)
            if mcnemar_mid_p(wins, changed - wins) < 0.05
        )
        for changed in range(tasks + 1)
    ]
    shares = [percent / 100 for percent in range(1, 51)]
    wrong = [numpy.dot(stats.binom.pmf(numpy.arange(tasks + 1), tasks, share), given_changed) for share in shares]
    assert 0.01 < max(wrong) < 0.055


def test_interval_of_students_sleep() -> None:
    """As R prints it for its data set `sleep`: mean 1.58, 95 percent interval 0.7001142 to 2.4598858."""
    assert interval_of(SLEEP) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)


def test_interval_of_darwins_maize() -> None:
    """R. A. Fisher, The Design of Experiments (1935), section 17: mean 20.933, t = 2.148, just beyond 2.145."""
    error = standard_error(DARWIN)
    assert error is not None
    assert 314 / 15 / error == pytest.approx(2.148, abs=5e-4)
    assert interval_of([float(difference) for difference in DARWIN])[0] == pytest.approx(0.03, abs=5e-3)


def test_interval_agrees_with_scipy_and_statsmodels() -> None:
    draw = Random(10)
    for _ in range(1_000):
        size, scale = int(2 * 10 ** draw.uniform(0, 2.5)), 10 ** draw.uniform(-3, 3)
        old = [draw.gauss(0, 1) * scale for _ in range(size)]
        new = [reward + draw.gauss(0.1, 1) * scale for reward in old]
        low, high = interval_of([b - a for a, b in zip(old, new, strict=True)])
        expected = stats.ttest_rel(new, old).confidence_interval(0.95)
        assert (low, high) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-9 * scale)
        weighted = DescrStatsW(numpy.subtract(new, old)).tconfint_mean(0.05)
        assert (low, high) == pytest.approx(tuple(weighted), rel=1e-9, abs=1e-9 * scale)


def test_interval_holds_the_true_difference_in_95_of_100_runs() -> None:
    """Pass rates 0.5 and 0.6 whose results agree more often than not, as those of two runs of the same tasks do."""
    draw = Random(11)
    held = 0
    for _ in range(4_000):
        differences = [float(value) for value in draw.choices([-1, 0, 1], weights=[0.1, 0.7, 0.2], k=120)]
        low, high = interval_of(differences)
        held += low <= 0.1 <= high
    assert 0.94 < held / 4_000 < 0.96


@pytest.mark.parametrize(
    "differences", [[], [0.5], [0.25] * 7, [0.9 - 0.6, 0.3, 0.4 - 0.1], [0.1, 0.1 + 9e-10], [1e100 * 0.3, 1e99 * 3]]
)
def test_no_spread_no_standard_error(differences: list[float]) -> None:
    assert standard_error(differences) is None


def test_standard_error_by_hand() -> None:
    assert standard_error([0.0, 1.0]) == pytest.approx(0.5)
    assert standard_error([0.0, 0.0, 0.0, 1.0]) == pytest.approx(0.25)
    assert standard_error([0.0, 2e-9]) == pytest.approx(1e-9)


def test_detectable_difference_is_found_in_80_of_100_runs() -> None:
    assert detectable_difference(1.0) == pytest.approx(stats.norm.ppf(0.975) + stats.norm.ppf(0.8), rel=1e-12)
    found = stats.norm.sf(stats.norm.ppf(0.975), loc=detectable_difference(1.0))
    assert found == pytest.approx(0.8, abs=1e-9)
    assert detectable_difference(0.25) == pytest.approx(detectable_difference(1.0) / 4)


def test_the_basic_figures_by_hand() -> None:
    """Four tasks, differences 0.5, 0.25, 0, -0.25: sum 0.5, and of 8 patterns two sum to 1 and four to 0.5 or -0.5."""
    figures = basics_of([0.0, 0.0, 1.0, 0.5], [0.5, 0.25, 1.0, 0.25])
    assert (figures.n, figures.old_wins, figures.new_wins, figures.changed) == (4, 1, 2, 3)
    assert (figures.mean_old, figures.mean_new, figures.delta) == (0.375, 0.5, 0.125)
    assert (figures.test, figures.p_value) == (SignificanceTest.SIGN_FLIP, 0.5)
    assert (figures.pass_fail, figures.bounded) == (False, True)
    assert figures.error == pytest.approx(math.sqrt((0.375 - 4 * 0.125**2) / 3 / 4))


def test_the_formula_of_the_interval_follows_the_rewards() -> None:
    assert basics_of([0.0, 1.0], [0.0, 0.0]).interval() == Interval(*tango(1, 0, 2), IntervalKind.TANGO)
    assert basics_of([0.5, 1.0], [0.5, 1.0]).interval() == Interval(*tango(0, 0, 2), IntervalKind.TANGO)
    partial = basics_of([0.5, 1.0], [0.5, 0.0]).interval(0.9)
    assert partial == Interval(-1.0, 1.0, IntervalKind.PAIRED_T)  # cut off: -0.5 -+ 6.3 * 0.5
    wide = basics_of([5.0, 1.0], [5.0, 0.0]).interval(0.9)
    assert wide == Interval(*paired_t_interval(-0.5, 0.5, 2, 0.9), IntervalKind.PAIRED_T)
    assert basics_of([2.0, 1.0], [2.0, 1.0]).interval() is None
    assert basics_of([0.5, 0.5], [0.25, 0.25]).interval() is None


def test_a_difference_within_the_tolerance_is_none() -> None:
    figures = basics_of([0.5, 0.5, 0.5], [0.6, 0.4, 0.9], tolerance=0.1000001)
    assert (figures.old_wins, figures.new_wins) == (0, 1)
    assert figures.delta == pytest.approx(0.4 / 3)
    assert figures.mean_new == pytest.approx(1.9 / 3)


def test_a_p_value_that_nobody_asked_for_is_not_computed() -> None:
    figures = basics_of([0.0, 1.0], [1.0, 1.0], tested=False)
    assert (figures.p_value, figures.test, figures.new_wins) == (None, None, 1)
