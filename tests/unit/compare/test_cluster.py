"""Related tasks kept together, held to statsmodels."""

import warnings
from random import Random

import numpy
import pytest
import statsmodels.api as sm
from msgspec.structs import replace
from scipy import stats

from nemo_gym.rollout_compare.compare.cluster import clustered
from nemo_gym.rollout_compare.compare.paired import sign_flip_permutation


def test_the_interval_agrees_with_statsmodels() -> None:
    draw = Random(1)
    values = [draw.choice("abcdefghij") for _ in range(120)]
    effects = {name: draw.gauss(0, 0.3) for name in "abcdefghij"}
    differences = [effects[name] + draw.gauss(0.1, 0.2) for name in values]
    found = clustered("text", values, differences)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = sm.OLS(numpy.array(differences), numpy.ones(120)).fit(
            cov_type="cluster", cov_kwds={"groups": [ord(name) for name in values], "df_correction": False}
        )
    error = float(fit.bse[0])  # statsmodels corrects for few groups by itself
    delta = sum(differences) / 120
    margin = stats.t.ppf(0.975, 9) * error
    assert (found.ci_low, found.ci_high) == pytest.approx((delta - margin, delta + margin))
    assert (found.field, found.groups) == ("text", 10)
    sums = [sum(d for d, name in zip(differences, values, strict=True) if name == one) for one in "abcdefghij"]
    assert found.p_value == sign_flip_permutation(sums)


def test_tasks_that_are_all_alone_are_as_without_groups() -> None:
    differences = [1.0, 0.0, 0.0, -1.0, 1.0, 1.0, 0.0, 1.0]
    found = clustered("id", [str(i) for i in range(8)], differences)
    expected = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected))
    assert found.p_value == sign_flip_permutation(differences)


def test_few_groups_say_nothing() -> None:
    found = clustered("text", [*"abcde"], [1.0, 0.0, 1.0, 0.0, 1.0])
    assert (found.groups, found.ci_low, found.ci_high, found.p_value) == (5, None, None, None)


def test_groups_in_which_nothing_changed_say_nothing() -> None:
    found = clustered("text", [*"abcdefg"], [0.0] * 7)
    assert (found.groups, found.ci_low, found.p_value) == (7, None, None)
    evened_out = clustered("text", [*"aabbccddeeff"], [1.0, -1.0] * 6)
    assert (evened_out.ci_low, evened_out.p_value) == (None, None)


def test_the_interval_never_leaves_what_rewards_from_0_to_1_allow() -> None:
    """One group of six lost everything: 0.4 -+ 0.82 would reach beyond 1."""
    groups = ["a"] * 8 + list("bcdef") + ["f"] * 7
    differences = [-1.0] * 8 + [0.0] * 12
    wide, cut = (clustered("text", groups, differences, bounded=bounded) for bounded in (False, True))
    assert wide.ci_low is not None
    assert wide.ci_low < -1
    assert cut == replace(wide, ci_low=-1.0)
