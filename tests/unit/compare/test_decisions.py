"""From figures to a decision."""

import pytest
from scipy import stats

from nemo_gym.rollout_compare.compare.decisions import (
    chance_better,
    could_overturn,
    is_borderline,
    margin_of,
    most_that_change,
    reason_of,
    tasks_without_change,
    verdict_of,
    wins_say,
)
from nemo_gym.rollout_compare.compare.interval import tango_interval
from nemo_gym.rollout_compare.compare.paired import Basics, basics_of
from nemo_gym.rollout_compare.schema import Conclusion, Margin, Unmeasured, Verdict


def solved(*, old: int = 0, new: int = 0, both: int = 0) -> Basics:
    """The figures of so many tasks that only the old side solved, only the new one, or both."""
    return basics_of([1.0] * old + [0.0] * new + [1.0] * both, [0.0] * old + [1.0] * new + [1.0] * both)


@pytest.mark.parametrize(
    ("old", "new", "both", "verdict"),
    [
        (0, 5, 20, Verdict.BETTER),
        (5, 0, 20, Verdict.WORSE),
        (1, 7, 90, Verdict.BETTER),
        (2, 8, 90, Verdict.NO_SIGNIFICANT_CHANGE),
        (3, 3, 90, Verdict.NO_SIGNIFICANT_CHANGE),
        (0, 4, 20, Verdict.CANNOT_TELL),
        (1, 1, 20, Verdict.CANNOT_TELL),
        (0, 0, 20, Verdict.CANNOT_TELL),
        (0, 0, 73, Verdict.NO_SIGNIFICANT_CHANGE),
        (0, 0, 72, Verdict.CANNOT_TELL),
        (1, 1, 200, Verdict.NO_SIGNIFICANT_CHANGE),
        (0, 1, 0, Verdict.CANNOT_TELL),
    ],
)
def test_verdict_without_a_margin(old: int, new: int, both: int, verdict: Verdict) -> None:
    """1 against 7 has p = 10/256, 2 against 8 p = (56 + 11) / 1024."""
    assert verdict_of(solved(old=old, new=new, both=both)) is verdict


def judged(figures: Basics, margin: float) -> tuple[Verdict, Conclusion]:
    found = margin_of(figures, margin)
    assert found is not None
    return verdict_of(figures, found), found.conclusion


def test_a_margin_is_held_against_the_90_percent_interval() -> None:
    """10 lost and 12 won of 500: -0.0121 to 0.0202 or so."""
    figures = solved(old=10, new=12, both=478)
    low, high = tango_interval(10, 12, 500, 0.9)
    assert margin_of(figures, 0.05) == Margin(0.05, low, high, Conclusion.SAME)
    assert margin_of(figures, None) is None
    assert -0.015 < low < 0
    assert 0.015 < high < 0.03
    assert judged(figures, 0.03) == (Verdict.SAME, Conclusion.SAME)
    assert judged(figures, 0.015) == (Verdict.NOT_WORSE, Conclusion.NOT_WORSE)
    assert judged(figures, 0.01) == (Verdict.NO_SIGNIFICANT_CHANGE, Conclusion.NOT_SHOWN)


def test_what_is_the_same_within_the_margin_is_so_though_p_finds_a_difference() -> None:
    figures = solved(old=40, new=15, both=4_945)
    assert verdict_of(figures) is Verdict.WORSE
    assert judged(figures, 0.02) == (Verdict.SAME, Conclusion.SAME)


def test_better_says_more_than_not_worse() -> None:
    assert judged(solved(new=60, both=140), 0.02) == (Verdict.BETTER, Conclusion.NOT_WORSE)
    assert judged(solved(old=60, both=140), 0.02) == (Verdict.WORSE, Conclusion.NOT_SHOWN)


def test_nothing_changed_in_few_tasks_shows_nothing_of_a_small_margin() -> None:
    assert judged(solved(both=40), 0.02) == (Verdict.CANNOT_TELL, Conclusion.NOT_SHOWN)
    assert judged(solved(both=200), 0.02) == (Verdict.SAME, Conclusion.SAME)


def test_without_an_interval_a_margin_is_not_shown() -> None:
    figures = basics_of([5.0, 5.0], [5.0, 5.0])
    assert judged(figures, 0.1) == (Verdict.CANNOT_TELL, Conclusion.NOT_SHOWN)
    assert verdict_of(basics_of([5.0] * 80, [5.0] * 80)) is Verdict.NO_SIGNIFICANT_CHANGE


def test_reasons_say_what_it_would_take() -> None:
    assert reason_of(None, None).startswith("no task was measured on both sides")
    assert reason_of(solved(new=1), None).startswith("one task cannot tell")
    assert reason_of(solved(new=2, both=8), None) == (
        "only 2 of 10 tasks changed: it takes 5 changed tasks, or 73 of which none changes"
    )
    assert reason_of(solved(both=8), margin_of(solved(both=8), 0.02)) == (
        "no task changed: it takes 5 changed tasks, or 133 of which none changes"
    )
    assert reason_of(solved(both=8), margin_of(solved(both=8), 2.0)) == "no task changed: it takes 5 changed tasks"


@pytest.mark.parametrize(("limit", "confidence"), [(0.05, 0.95), (0.02, 0.9), (0.3, 0.9)])
def test_so_many_tasks_without_a_change_keep_the_interval_within_a_limit(limit: float, confidence: float) -> None:
    n = tasks_without_change(limit, confidence)
    assert n is not None
    assert tango_interval(0, 0, n, confidence)[1] <= limit < tango_interval(0, 0, n - 1, confidence)[1]


def test_the_most_that_change_where_none_did_is_wilsons_limit() -> None:
    expected = stats.binomtest(0, 60).proportion_ci(0.95, "wilson").high
    assert most_that_change(60) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("verdict", "worst", "best", "overturned"),
    [
        (Verdict.BETTER, 0.01, 0.3, False),
        (Verdict.BETTER, -0.01, 0.3, True),
        (Verdict.WORSE, -0.3, -0.01, False),
        (Verdict.WORSE, -0.3, 0.0, True),
        (Verdict.SAME, -0.04, 0.04, False),
        (Verdict.SAME, -0.06, 0.04, True),
        (Verdict.SAME, -0.04, 0.06, True),
        (Verdict.NOT_WORSE, -0.04, 0.3, False),
        (Verdict.NOT_WORSE, -0.05, 0.3, True),
        (Verdict.NO_SIGNIFICANT_CHANGE, -0.3, 0.3, False),
        (Verdict.CANNOT_TELL, -0.3, 0.3, False),
    ],
)
def test_whether_the_unmeasured_tasks_could_overturn_a_verdict(
    verdict: Verdict, worst: float, best: float, overturned: bool
) -> None:
    margin = Margin(0.05, None, None, Conclusion.SAME)
    assert could_overturn(verdict, Unmeasured(3, worst, best), margin) is overturned
    assert could_overturn(verdict, Unmeasured(3, 0.0, 0.0, worst, best), margin) is overturned
    assert not could_overturn(verdict, Unmeasured(0, worst, best), margin)
    assert not could_overturn(verdict, Unmeasured(3), margin)


def test_interval_and_p_that_disagree_are_borderline() -> None:
    found = [
        (old, new)
        for old in range(12)
        for new in range(30)
        if is_borderline(solved(old=old, new=new, both=20))
        for low, high in [tango_interval(old, new, old + new + 20)]
        if (low > 0 or high < 0) == (verdict_of(solved(old=old, new=new, both=20)) in {Verdict.BETTER, Verdict.WORSE})
    ]
    assert found == []
    assert any(is_borderline(solved(old=old, new=new, both=20)) for old in range(12) for new in range(30))
    assert not is_borderline(solved(both=20))
    assert not is_borderline(basics_of([0.5, 0.5], [0.25, 0.25]))


def test_wins_alone_speak_where_the_mean_does_not() -> None:
    """Forty small gains and one great loss: 1 against 40 is no accident, the sum is no gain."""
    assert wins_say(basics_of([0.5] * 41, [0.6] * 40 + [-90.0])) is Verdict.BETTER
    assert wins_say(basics_of([0.6] * 40 + [-90.0], [0.5] * 41)) is Verdict.WORSE
    assert wins_say(basics_of([0.5] * 20, [0.6] * 20)) is None
    assert wins_say(basics_of([0.5] * 4, [0.6] * 2 + [0.4] * 2)) is None
    assert wins_say(solved(old=30, new=2)) is None
    assert wins_say(basics_of([0.5] * 4, [0.5] * 4)) is None


def test_the_chance_that_new_is_better() -> None:
    """1 against 7: 1 - 5/256 of the one-sided mid-p; even odds where nothing speaks for either."""
    assert chance_better(solved(old=1, new=7)) == 1 - 5 / 256
    assert chance_better(solved(old=7, new=1)) == 5 / 256
    assert chance_better(solved(old=2, new=2)) == 0.5
    assert chance_better(solved(both=2)) == 0.5
    assert chance_better(solved(new=1)) is None
    assert chance_better(basics_of([0.5, 1.0], [1.0, 1.0])) is None


@pytest.mark.parametrize("margin", [1e-9, 1e-200, 1e-320])
def test_a_margin_that_takes_more_tasks_than_anybody_has_is_not_counted_in_tasks(margin: float) -> None:
    figures = solved(old=1, both=3)
    assert reason_of(figures, margin_of(figures, margin)) == "only 1 of 4 tasks changed: it takes 5 changed tasks"


def test_a_margin_of_minus_zero_is_zero() -> None:
    judged = margin_of(solved(old=1, both=3), -0.0)
    assert judged is not None
    assert str(judged.margin) == "0.0"
