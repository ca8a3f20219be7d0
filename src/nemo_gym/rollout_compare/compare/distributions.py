"""Probabilities and quantiles the comparison's figures need, from the standard library alone.

Importing scipy takes over a second; these few functions take microseconds. The tests hold each of them to scipy's
answer within 1e-9.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from operator import mul

# From this many degrees of freedom on, the expansion around the normal quantile is as exact as a double can tell.
_MANY_DEGREES = 1000

# Up to so many trials binomial coefficients are summed as they are, in microseconds and without rounding.
_FEW_TRIALS = 200

# Weights are relative to the most probable count, whose weight is 1. What lies below this adds nothing to a double.
_NEGLIGIBLE_WEIGHT = 1e-300

# Two tables are equally probable when their weights differ by no more than rounding can explain.
_SAME_WEIGHT = 1 + 1e-9


def normal_quantile(probability: float) -> float:
    """The z that a standard normal value stays below with this probability, which lies in [0.5, 1).

    Solves erf(z / sqrt(2)) = 2 probability - 1, the mass between -z and z.
    """
    return _solve_central_mass(
        mass=lambda z: math.erf(z / math.sqrt(2)),
        density=lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi),
        target=2 * probability - 1,
        start=0.0,
    )


@lru_cache(maxsize=64)
def student_t_quantile(probability: float, degrees: int) -> float:
    """The t that a Student t value with so many degrees of freedom (1 or more) stays below with this probability.

    The probability lies in [0.5, 1). Few degrees: the closed form of the mass between -t and t, solved for t. Many:
    the expansion in 1 / degrees around the normal quantile, whose first term left out is of order degrees^-5.
    """
    z = normal_quantile(probability)
    if degrees >= _MANY_DEGREES:
        return _student_t_expansion(z, degrees)
    return _solve_central_mass(
        mass=lambda t: _student_t_central_mass(t, degrees),
        density=lambda t: _student_t_density(t, degrees),
        target=2 * probability - 1,
        start=z,
    )


def _solve_central_mass(
    mass: Callable[[float], float], density: Callable[[float], float], target: float, start: float
) -> float:
    """The x >= start at which mass(x), the probability between -x and x, reaches the target.

    Newton's method. The mass is concave right of 0, so from below the root every step stays below it: the steps only
    shrink, and the first that rounding makes negligible (or negative) ends the climb.
    """
    x = start
    while (step := (target - mass(x)) / (2 * density(x))) > 1e-15 * x:
        x += step
    return x


def _student_t_central_mass(t: float, degrees: int) -> float:
    """P(-t < T < t) for T of Student's t distribution.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 (odd degrees) and 26.7.4 (even).
    """
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    ratios = ((power - 1) / power * cosine * cosine for power in range(2 + odd, degrees - 1, 2))
    first = cosine if odd else 1.0
    series = 0.0 if degrees == 1 else sine * math.fsum(accumulate(ratios, mul, initial=first))
    return 2 / math.pi * (angle + series) if odd else series


def _student_t_density(t: float, degrees: int) -> float:
    log_constant = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
    return math.exp(log_constant - (degrees + 1) / 2 * math.log1p(t * t / degrees))


def _student_t_expansion(z: float, degrees: int) -> float:
    """Student's t quantile from the normal one. Source: Abramowitz and Stegun (1964), 26.7.5."""
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / degrees + second / degrees**2 + third / degrees**3 + fourth / degrees**4


def fair_binomial_lower_tail(count: int, trials: int) -> float:
    """P(X <= count) for X heads in so many tosses of a fair coin, where count is at most trials / 2.

    Few trials: the sum of C(trials, x) / 2^trials in whole numbers, rounded once. Many: the same weights, walked from
    the middle down by the ratio of neighbours and divided by their sum, so that no factorial is formed and the cost
    grows with sqrt(trials). Probabilities below about 1e-300 come out as 0 then.
    """
    if trials <= _FEW_TRIALS:
        return sum(math.comb(trials, x) for x in range(count + 1)) / (1 << trials)
    middle = trials // 2
    weights = _walk(x / (trials - x + 1) for x in range(middle, 0, -1))
    total = 2 * math.fsum(weights) - (1.0 if trials % 2 == 0 else 0.0)
    return math.fsum(weights[middle - count :]) / total


@lru_cache(maxsize=4096)
def fisher_exact_two_sided(a: int, b: int, c: int, d: int) -> float:
    """Fisher's exact test, two-sided, of the table [[a, b], [c, d]]: are both rows draws from one urn?

    With the margins fixed, a is hypergeometric: P(a = x) = C(a+b, x) C(c+d, a+c-x) / C(a+b+c+d, a+c). The p-value is
    the sum over all tables that are at most as probable as this one. Source: R. A. Fisher, The Design of Experiments
    (1935), chapter II; two-sided by the smaller probabilities, as R and scipy have it.

    Few attempts: the products of coefficients in whole numbers, rounded once. Many: their ratios, walked outwards from
    the most probable table, so that the cost grows with the square root of the attempts.

    Args:
        a: Solved attempts of the old side.
        b: Its unsolved attempts.
        c: Solved attempts of the new side.
        d: Its unsolved attempts.
    """
    first, second, drawn = a + b, c + d, a + c
    weights, low = hypergeometric_weights(first, second, drawn)
    observed = weights[a - low] if 0 <= a - low < len(weights) else 0
    return exact_sum(weight for weight in weights if weight <= as_probable(observed)) / exact_sum(weights)


def hypergeometric_weights(first: int, second: int, drawn: int) -> tuple[Sequence[float], int]:
    """How probable each number of balls of the first colour is among those drawn, in relation; and the smallest number.

    Few balls: the ways to draw them, C(first, x) C(second, drawn - x), in whole numbers. Many: 1 for the most probable
    number, the others by the ratios of neighbours, without ends that hold nothing, so that the cost grows with the
    square root of the balls.
    """
    low, high = max(0, drawn - second), min(first, drawn)
    if first + second <= _FEW_TRIALS:
        return [math.comb(first, x) * math.comb(second, drawn - x) for x in range(low, high + 1)], low
    mode = (drawn + 1) * (first + 1) // (first + second + 2)

    def up(x: int) -> float:
        return (first - x) * (drawn - x) / ((x + 1) * (second - drawn + x + 1))

    above = _walk(up(x) for x in range(mode, high))
    below = _walk(1 / up(x - 1) for x in range(mode, low, -1))
    return [*reversed(below), *above[1:]], mode - len(below) + 1


def as_probable(weight: float) -> float:
    """The largest weight that is the same as this one but for rounding: a whole number is exact."""
    return weight if isinstance(weight, int) else weight * _SAME_WEIGHT


def exact_sum(weights: Iterable[float]) -> float:
    """The sum, of whole numbers as a whole number, of others rounded once."""
    every = list(weights)
    return sum(every) if all(isinstance(weight, int) for weight in every) else math.fsum(every)


def _walk(ratios: Iterable[float]) -> list[float]:
    """Weights from the most probable count outwards: 1, then each its neighbour times the ratio, while they matter."""
    return list(takewhile(lambda weight: weight > _NEGLIGIBLE_WEIGHT, accumulate(ratios, mul, initial=1.0)))


def chi_square_upper_tail(value: float, degrees: int) -> float:
    """P(X > value) for X of the chi-square distribution with so many degrees of freedom (1 or more).

    Even: exp(-h) sum h^j / j!, j < degrees / 2, with h = value / 2. Odd: erfc(sqrt(h)) plus the like sum over halves.
    Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.4.4 and 26.4.5.
    """
    half = value / 2
    odd = degrees % 2
    start = math.erfc(math.sqrt(half)) if odd else 0.0
    if half == 0:
        return 1.0
    terms = (math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in _powers(odd, degrees))
    return min(1.0, start + math.fsum(terms))


def _powers(odd: int, degrees: int) -> Iterable[float]:
    return (j + odd / 2 for j in range(degrees // 2))
