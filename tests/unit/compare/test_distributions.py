"""Quantiles and tails, held to scipy and to printed tables."""

from fractions import Fraction
from itertools import product
from math import comb
from random import Random

import pytest
from scipy import stats

from nemo_gym.rollout_compare.compare.distributions import (
    fair_binomial_lower_tail,
    fisher_exact_two_sided,
    normal_quantile,
    student_t_quantile,
)

LEVELS = (0.6, 0.8, 0.9, 0.975, 0.995, 0.9995)


@pytest.mark.parametrize("probability", [0.5, *LEVELS, 0.999999])
def test_normal_quantile_agrees_with_scipy(probability: float) -> None:
    assert normal_quantile(probability) == pytest.approx(stats.norm.ppf(probability), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("probability", LEVELS)
def test_student_t_quantile_agrees_with_scipy(probability: float) -> None:
    many = [1_500, 4_999, 10**4, 10**5, 10**6 - 1, 10**9]
    all_degrees = [*range(1, 1_100), *many]
    for degrees, expected in zip(all_degrees, stats.t.ppf(probability, all_degrees), strict=True):
        assert student_t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-11), degrees


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (60, 2.000), (120, 1.980)],
)
def test_student_t_quantile_agrees_with_the_printed_table(degrees: int, quantile: float) -> None:
    """R. A. Fisher and F. Yates, Statistical Tables (1938), table III: the 5% points, two-sided."""
    assert round(student_t_quantile(0.975, degrees), 3) == quantile


@pytest.mark.parametrize("trials", [0, 1, 2, 7, 60, 199, 200, 201, 202, 299, 300])
def test_binomial_tail_is_the_sum_of_the_binomial_coefficients(trials: int) -> None:
    for count in range(trials // 2 + 1):
        exact = Fraction(sum(comb(trials, x) for x in range(count + 1)), 2**trials)
        assert fair_binomial_lower_tail(count, trials) == pytest.approx(float(exact), rel=1e-13)


def test_binomial_tail_agrees_with_scipy() -> None:
    draw = Random(1)
    trials_of = [int(10 ** draw.uniform(0, 5.5)) for _ in range(2_000)]
    # Within 8 standard deviations of the middle, where tails are more than nothing.
    counts = [max(0, trials // 2 - int(draw.uniform(0, 4) * trials**0.5)) for trials in trials_of]
    for count, trials, expected in zip(counts, trials_of, stats.binom.cdf(counts, trials_of, 0.5), strict=True):
        assert fair_binomial_lower_tail(count, trials) == pytest.approx(expected, rel=1e-9), (count, trials)


def test_binomial_tail_too_small_for_a_double_is_zero() -> None:
    assert fair_binomial_lower_tail(0, 1_000_000) == 0.0


def test_fisher_agrees_with_the_lady_tasting_tea() -> None:
    """R. A. Fisher, The Design of Experiments (1935), chapter II: of the 70 ways to choose 4 cups of 8."""
    assert fisher_exact_two_sided(4, 0, 0, 4) == pytest.approx(2 / 70)
    assert fisher_exact_two_sided(3, 1, 1, 3) == pytest.approx((16 + 1 + 16 + 1) / 70)
    assert fisher_exact_two_sided(2, 2, 2, 2) == pytest.approx(1)


def test_fisher_agrees_with_scipy_on_every_small_table() -> None:
    p_values: dict[tuple[int, ...], float] = {}
    for a, b, c, d in product(range(7), repeat=4):
        if a + b and c + d:
            # One p for the tables that are the same but for the order of their rows and columns.
            same = max((a, b, c, d), (c, d, a, b), (b, a, d, c), (d, c, b, a))
            if same not in p_values:
                p_values[same] = stats.fisher_exact([same[:2], same[2:]]).pvalue
            assert fisher_exact_two_sided(a, b, c, d) == pytest.approx(p_values[same], rel=1e-9), (a, b, c, d)


def test_fisher_agrees_with_scipy_on_random_tables() -> None:
    draw = Random(2)
    for _ in range(2_000):
        a, b, c, d = table = [draw.randrange(int(10 ** draw.uniform(0.5, 2.5))) for _ in range(4)]
        expected = stats.fisher_exact([table[:2], table[2:]]).pvalue
        assert fisher_exact_two_sided(a, b, c, d) == pytest.approx(expected, abs=1e-9), table


def test_fisher_is_exact_where_p_is_exactly_the_noise_level() -> None:
    """C(4, 2) / C(16, 2) = 6 / 120 = 0.05."""
    assert fisher_exact_two_sided(2, 2, 0, 12) == 0.05


@pytest.mark.parametrize("attempts", [199, 200, 201, 202, 400])
def test_fisher_is_the_sum_of_the_less_probable_tables(attempts: int) -> None:
    draw = Random(attempts)
    for _ in range(200):
        first, drawn = draw.randint(0, attempts), draw.randint(0, attempts)
        second = attempts - first
        ways = {
            x: comb(first, x) * comb(second, drawn - x) for x in range(max(0, drawn - second), min(first, drawn) + 1)
        }
        a = draw.choice(list(ways))
        exact = Fraction(sum(way for way in ways.values() if way <= ways[a]), comb(attempts, drawn))
        assert fisher_exact_two_sided(a, first - a, drawn - a, second - drawn + a) == pytest.approx(exact, rel=1e-11)


def test_fisher_of_huge_tables_ends_soon_and_agrees_with_scipy() -> None:
    expected = stats.fisher_exact([[250_000, 250_000], [251_000, 249_000]]).pvalue
    assert fisher_exact_two_sided(250_000, 250_000, 251_000, 249_000) == pytest.approx(expected, abs=1e-9)
    assert fisher_exact_two_sided(10**6, 0, 0, 10**6) == 0.0


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (0, 3, 0, 5), (4, 0, 2, 0)])
def test_fisher_of_a_table_that_could_not_be_otherwise_is_one(table: tuple[int, int, int, int]) -> None:
    assert fisher_exact_two_sided(*table) == 1.0
