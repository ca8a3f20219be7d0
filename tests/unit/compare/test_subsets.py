"""Groups of tasks, held to statsmodels and to simulation."""

from random import Random

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from nemo_gym.rollout_compare.compare.paired import Basics, basics_of
from nemo_gym.rollout_compare.compare.subsets import holm, not_the_same, subsets_of


def test_groups_stand_by_size_then_name_and_small_ones_together() -> None:
    values = [*"b" * 6, *"a" * 6, *"c" * 8, *"de", "d"]
    old = [1.0] * len(values)
    new = [0.0] * 6 + [1.0] * (len(values) - 6)
    found = subsets_of("kind", values, old, new, 1e-9)
    assert found.field == "kind"
    assert [(group.name, group.n, group.delta) for group in found.groups] == [
        ("c", 8, 0.0),
        ("a", 6, 0.0),
        ("b", 6, -1.0),
        (None, 3, 0.0),
    ]
    assert [group.p_value for group in found.groups] == [None, None, 1 / 64, None]
    assert (found.groups[2].old, found.groups[2].new) == (1.0, 0.0)


def test_a_group_has_the_figures_that_it_would_have_alone() -> None:
    draw = Random(1)
    values = [draw.choice("xyz") for _ in range(90)]
    old, new = ([draw.random() for _ in values] for _ in range(2))
    found = subsets_of("kind", values, old, new, 1e-9)
    alone = {}
    for group in found.groups:
        places = [i for i, value in enumerate(values) if value == group.name]
        alone[group.name] = basics_of([old[i] for i in places], [new[i] for i in places])
        interval = alone[group.name].interval()
        assert interval
        assert (group.ci_low, group.ci_high) == (interval.low, interval.high)
        assert group.delta == alone[group.name].delta
    adjusted = multipletests([one.p_value for one in alone.values()], method="holm")[1]
    assert [group.p_value for group in found.groups] == pytest.approx(list(adjusted))


def test_holm_agrees_with_statsmodels() -> None:
    draw = Random(2)
    for size in (1, 2, 5, 20):
        p_values: dict[str | None, float] = {str(i): draw.random() ** 3 for i in range(size)}
        expected = multipletests(list(p_values.values()), method="holm")[1]
        adjusted = holm(p_values)
        assert [adjusted[name] for name in p_values] == pytest.approx(list(expected))


def test_groups_that_differ_are_told() -> None:
    same = basics_of([1.0] * 30, [1.0] * 30)
    lost = basics_of([1.0] * 30, [0.0] * 10 + [1.0] * 20)
    p_value = not_the_same([same, lost])
    assert p_value is not None
    assert p_value < 0.01
    assert not_the_same([lost, lost]) == 1.0


def test_one_group_or_no_spread_cannot_differ_and_the_reason_is_told() -> None:
    for values, old, new, why in (
        ("aaaaaa", [1.0] * 6, [0.0] * 6, "all tasks are in one group"),
        ("aaaaaabbbbbb", [1.0] * 12, [1.0] * 12, "no task changed"),
        ("aaaaaabbbbbb", [1.0] * 12, [0.75] * 12, "every task changed by the same amount"),
        ("aaaaaabbbbbb", [0.3, 0.4] * 6, [0.2, 0.3] * 6, "every task changed by the same amount"),
    ):
        found = subsets_of("kind", values, old, new, 1e-9)
        assert (found.p_value, found.why_null) == (None, why)
    differ = subsets_of("kind", "aaaaaabbbbbb", [1.0] * 12, [0.0] * 6 + [1.0] * 6, 1e-9)
    assert differ.p_value is not None
    assert differ.why_null is None


def apart(*groups: tuple[int, float]) -> list[Basics]:
    """Groups of so many tasks, in each of which all changed by the same amount."""
    return [basics_of([1.0] * n, [1.0 + change] * n) for n, change in groups]


@pytest.mark.parametrize(
    "groups",
    [
        ((6, -1.0), (6, 0.0)),
        ((30, -1.0), (20, 0.0), (10, 0.0)),
        ((12, -0.5), (9, 0.25), (8, 0.0), (40, 0.0)),
        ((40, -0.125), (40, 0.0)),
    ],
)
def test_where_each_group_changed_by_one_amount_p_is_that_of_kruskal_and_wallis(
    groups: tuple[tuple[int, float], ...],
) -> None:
    expected = stats.kruskal(*([change] * n for n, change in groups)).pvalue
    assert not_the_same(apart(*groups)) == pytest.approx(max(expected, dealt(groups)), rel=1e-9)


@pytest.mark.parametrize(
    "groups", [((1, -1.0), (1, 0.0)), ((6, -1.0), (1, 0.0)), ((7, 0.0), (6, 0.0), (2, -1.0)), ((6, -1.0), (6, 0.0))]
)
def test_of_few_tasks_p_is_the_chance_that_they_are_dealt_out_so(groups: tuple[tuple[int, float], ...]) -> None:
    assert not_the_same(apart(*groups)) == pytest.approx(dealt(groups), rel=1e-9)


def dealt(groups: tuple[tuple[int, float], ...]) -> float:
    """The chance of the table of groups by amounts, given its margins: scipy's multivariate hypergeometric."""
    amounts = sorted({change for _, change in groups})
    table = [[n if change == amount else 0 for amount in amounts] for n, change in groups]
    columns = [sum(column) for column in zip(*table, strict=True)]
    return float(stats.random_table([n for n, _ in groups], columns).pmf(table))


def test_q_is_wrong_of_equal_groups_in_about_5_of_100_runs() -> None:
    draw = Random(3)
    wrong = 0
    for _ in range(1_500):
        groups = []
        for size in (8, 20, 40):
            pairs = draw.choices([(0.0, 1.0), (1.0, 0.0), (1.0, 1.0)], weights=[1, 2, 4], k=size)
            groups.append(basics_of([old for old, _ in pairs], [new for _, new in pairs]))
        p_value = not_the_same(groups)
        wrong += p_value is not None and p_value < 0.05
    assert 0.02 < wrong / 1_500 < 0.075


@pytest.mark.parametrize("degrees", [1, 2, 3, 8, 9, 40])
def test_the_tail_of_chi_square_agrees_with_scipy(degrees: int) -> None:
    from nemo_gym.rollout_compare.compare.distributions import chi_square_upper_tail

    for value in (0.0, 1e-6, 0.5, 3.84, 20.0, 200.0):
        assert chi_square_upper_tail(value, degrees) == pytest.approx(stats.chi2.sf(value, degrees), rel=1e-9)
