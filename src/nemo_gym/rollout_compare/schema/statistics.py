"""The words for figures: whether a difference between two runs is real, and how sure that is."""

from __future__ import annotations

from msgspec import Struct

from nemo_gym.rollout_compare.schema.figures import Count, Probability
from nemo_gym.rollout_compare.schema.subsets import Clustered, Subsets
from nemo_gym.rollout_compare.schema.verdicts import IntervalKind, Margin, SignificanceTest, Verdict, Why


class OnTheseTasks(Struct, frozen=True):
    """The difference on exactly the tasks that ran, whose attempts alone are subject to chance.

    Attributes:
        tasks: Number of tasks with two measured attempts or more on both sides.
        delta: Mean over them of the tasks' differences, new minus old.
        ci_low: Lower end of its 95% interval; None under ten tasks, or where no task's attempts disagree.
        ci_high: Its upper end.
        p_value: Two-sided p of the hypothesis that in each task both sides are equally able.
        test: The test it comes from.
    """

    tasks: int
    delta: float
    ci_low: float | None
    ci_high: float | None
    p_value: float
    test: SignificanceTest


class ByChance(Struct, frozen=True):
    """How many flips repeated attempts at the same tasks make by chance.

    Attributes:
        tasks: Number of tasks with two measured attempts or more on both sides.
        flips: How many of them flipped.
        expected: How many would flip, were the two systems equally able in each task.
        beyond_noise: In how many of them the attempts differ by Fisher's exact test.
        expected_beyond_noise: In how many they would, were the two systems equally able in each task.
    """

    tasks: int
    flips: int
    expected: float
    beyond_noise: int
    expected_beyond_noise: float


class WithoutAgentErrors(Struct, frozen=True):
    """The figures without the flips that have an agent error.

    Attributes:
        n: How many tasks are left.
        delta: Mean of their differences, new minus old; None without any.
        p_value: Two-sided mid-p; None where none of them changed.
        verdict: The outcome in a word.
    """

    n: int
    delta: float | None
    p_value: float | None
    verdict: Verdict


class CarriedBy(Struct, frozen=True):
    """The one task without which the sign of delta or the verdict would be another.

    Attributes:
        task: Its label.
        delta_without: Delta without it.
        verdict_without: The outcome in a word without it.
    """

    task: str
    delta_without: float
    verdict_without: Verdict


class Estimate(Struct, frozen=True):
    """A figure of both sides, their difference, and its interval.

    Attributes:
        old: The old side's.
        new: The new side's.
        delta: New minus old.
        ci_low: Lower end of the 95% interval of delta; None with one task, or where all differ by the same.
        ci_high: Its upper end.
    """

    old: float
    new: float
    delta: float
    ci_low: float | None
    ci_high: float | None


class OfAttempts(Struct, frozen=True):
    """Several attempts as one number.

    Attributes:
        k: So many attempts.
        pass_at: The chance that at least one of k attempts solves a task.
        pass_all: The chance that all k do.
    """

    k: int
    pass_at: Estimate
    pass_all: Estimate


class ToDecide(Struct, frozen=True):
    """What it would take to find a difference in four comparisons of five.

    Attributes:
        delta: The difference: the margin where one was asked for, else the one observed.
        tasks: So many tasks in all.
        attempts: So many attempts at each task that there is; None where that is not known, or no number will do.
        attempts_enough: Whether more attempts could do it; None where that is not known.
    """

    delta: float
    tasks: int
    attempts: int | None
    attempts_enough: bool | None


class Selection(Struct, frozen=True):
    """Tasks that one side did not measure and that were harder, or easier, for the other.

    Attributes:
        side: The side that did not measure them, `old` or `new`.
        tasks: How many there are.
        mean: The other side's mean reward on them.
        mean_measured: The other side's mean reward on the tasks that both sides measured.
        p_value: Fisher's exact two-sided p of solved (a reward of one half or better) against measured by both.
    """

    side: str
    tasks: int
    mean: float
    mean_measured: float
    p_value: float


class Unmeasured(Struct, frozen=True):
    """How far the tasks that a side did not measure could have moved delta.

    All but `tasks` are None where a reward lies outside 0 to 1.

    Attributes:
        tasks: Number of tasks without a measured attempt on some side.
        delta_worst: Delta over all tasks, had every unmeasured side been 0 or 1 to the new side's harm.
        delta_best: The same to the new side's good.
        low: Lower end of the 95% interval of the lower one of both.
        high: Upper end of the 95% interval of the higher one.
        as_failed: Delta over all tasks, had every unmeasured side failed: been 0, or 1 where lower is better.
        could_overturn: Whether the verdict claims what these bounds do not bear out.
        selection: The sides whose unmeasured tasks were harder or easier on the other side than those measured.
    """

    tasks: int
    delta_worst: float | None = None
    delta_best: float | None = None
    low: float | None = None
    high: float | None = None
    as_failed: float | None = None
    could_overturn: bool = False
    selection: tuple[Selection, ...] = ()


class Statistics(Struct, frozen=True, kw_only=True):
    """The paired figures of a comparison, in units of reward unless said otherwise. `why_null` explains each None.

    Attributes:
        n: Number of tasks with a measured attempt on both sides.
        pass_fail: Whether every measured attempt's reward is 0 or 1, so that a mean is the share solved.
        mean_old: Mean reward of the old side over them.
        mean_new: Mean reward of the new side over them.
        delta: Mean of the tasks' differences, new minus old.
        ci_low: Lower end of the 95% interval of delta.
        ci_high: Its upper end.
        interval: The formula that it is from.
        old_wins: Number of tasks whose old reward is the better one, beyond the tolerance.
        new_wins: Number of tasks whose new reward is.
        lower_is_better: Whether the lower of two rewards is the better one; else the higher one is.
        p_value: Two-sided mid-p of a difference at least this large, were the sides interchangeable.
        test: The test it comes from.
        borderline: Whether interval and p disagree on whether there is a difference.
        detectable: The true difference that so many tasks find in four comparisons of five.
        verdict: The outcome in a word.
        reason: Why nothing can be told, and what it would take; None unless the verdict is `cannot tell`.
        margin: What can be said of the margin that was asked for.
        on_these_tasks: The difference on exactly these tasks.
        by_chance: How many flips are by chance.
        without_agent_errors: The figures without the flips that have agent errors.
        carried_by: The one task that decides.
        wins_say: `better` or `worse` where a test of the wins alone says so and the verdict does not.
        attempts: For k = 1, 2, 4 ...: pass@k and pass^k.
        to_decide: How many tasks or attempts would decide.
        chance_better: The chance that the new side is better.
        unmeasured: Bounds of delta over all tasks; None without any task.
        subsets: The comparison by groups, one for each field.
        clustered: The comparison with related tasks kept together.
        why_null: For each figure that is None, why.
    """

    n: Count
    verdict: Verdict
    old_wins: int
    new_wins: int
    lower_is_better: bool = False
    pass_fail: bool = False
    mean_old: float | None = None
    mean_new: float | None = None
    delta: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    interval: IntervalKind | None = None
    p_value: Probability | None = None
    test: SignificanceTest | None = None
    borderline: bool = False
    detectable: float | None = None
    reason: str | None = None
    margin: Margin | None = None
    on_these_tasks: OnTheseTasks | None = None
    by_chance: ByChance | None = None
    without_agent_errors: WithoutAgentErrors | None = None
    carried_by: CarriedBy | None = None
    wins_say: Verdict | None = None
    attempts: tuple[OfAttempts, ...] | None = None
    to_decide: ToDecide | None = None
    chance_better: float | None = None
    unmeasured: Unmeasured | None = None
    subsets: tuple[Subsets, ...] | None = None
    clustered: Clustered | None = None
    why_null: dict[str, Why] = {}


class Repeats(Struct, frozen=True):
    """A flip seen through its attempts.

    Attributes:
        old_solved: How many measured attempts the old side solved.
        old_attempts: Of how many.
        new_solved: The same for the new side.
        new_attempts: Of how many.
        p_value: Fisher's exact two-sided p of the two counts: were both sides equally able, how often would chance
            alone split the solved attempts at least this unevenly?
        within_noise: Whether p_value is above 0.05 though so many attempts could have brought it below. Categories
            never change for it.
        too_few_attempts: Whether even all solved against none would leave p above 0.05, as with fewer than 4 attempts
            a side: then nothing can be told.
    """

    old_solved: int
    old_attempts: int
    new_solved: int
    new_attempts: int
    p_value: float
    within_noise: bool
    too_few_attempts: bool = False
