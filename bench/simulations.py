"""Are the figures right? Runs of made-up systems whose true difference is known, compared over and over.

Prints five tables in Markdown: how often the verdict is wrong for equal systems, how often an interval holds the true
difference, both for exactly these tasks, the same for the bounds over unmeasured tasks, and how many flips chance makes
against what is expected.
Needs NumPy for the draws alone; about ten minutes of processor time.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy

from nemo_gym.rollout_compare.compare import paired
from nemo_gym.rollout_compare.compare.attempts import Case
from nemo_gym.rollout_compare.compare.by_chance import flips_by_chance
from nemo_gym.rollout_compare.compare.decisions import verdict_of
from nemo_gym.rollout_compare.compare.on_these_tasks import on_these_tasks
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask, unmeasured_bounds
from nemo_gym.rollout_compare.schema import REWARD_TOLERANCE, Verdict

TASKS = (10, 20, 50, 200, 1_000)
ATTEMPTS = (1, 4, 8)

#: Patterns of the sign-flip test here: fewer than the 2^17 of the program, or thousands of tests would take an hour.
DRAW_BITS = 12

#: How able the systems are at a task: mostly hard or easy ones, 60% solved on average.
ALPHA, BETA = 0.6, 0.4

Array = Any


def abilities(draw: Any, tasks: int) -> Array:
    """The chance of solving each task that was drawn."""
    return draw.beta(ALPHA, BETA, tasks)


def means(draw: Any, chances: Array, attempts: int) -> Array:
    """The mean reward of each task's attempts."""
    return draw.binomial(attempts, chances) / attempts


def changed(name: str, draw: Any, chances: Array) -> Array:
    """What becomes of the old system's chances in a new one."""
    if name == "a tenth less":
        return 0.9 * chances
    if name == "a fifth of the tasks lost":
        return numpy.where(draw.random(len(chances)) < 0.2, 0.0, chances)
    return abilities(draw, len(chances)) if name == "other tasks solved" else chances


#: The true difference of each new system.
TRUE = {"equal": 0.0, "a tenth less": -0.1 * 0.6, "a fifth of the tasks lost": -0.2 * 0.6, "other tasks solved": 0.0}


def size_rows(draw: Any, runs: int) -> Iterator[tuple[object, ...]]:
    """How often the verdict finds a difference between equal systems."""
    for tasks, attempts in product(TASKS, ATTEMPTS):
        found = 0
        count = runs if tasks < 50 or attempts == 1 else runs // 4  # where signs are drawn a test takes longest
        for _ in range(count):
            chances = abilities(draw, tasks)
            old, new = (means(draw, chances, attempts).tolist() for _ in range(2))
            found += verdict_of(paired.basics_of(old, new)) in {Verdict.BETTER, Verdict.WORSE}
        yield tasks, attempts, f"{found / count:.1%}"


def coverage_rows(draw: Any, runs: int) -> Iterator[tuple[object, ...]]:
    """How often the 95% interval holds the true difference."""
    for name, tasks, attempts in product(TRUE, TASKS[2:], ATTEMPTS):
        held = 0
        for _ in range(runs):
            chances = abilities(draw, tasks)
            old, new = means(draw, chances, attempts), means(draw, changed(name, draw, chances), attempts)
            interval = paired.basics_of(old.tolist(), new.tolist(), tested=False).interval()
            held += interval is not None and interval.low <= TRUE[name] <= interval.high
        yield name, tasks, attempts, f"{held / runs:.1%}"


def these_tasks_rows(draw: Any, runs: int) -> Iterator[tuple[object, ...]]:
    """The figures on exactly these tasks: intervals that hold the difference there, and wrong findings."""
    for tasks, attempts in product((10, 50, 200), (2, 4, 8)):
        held = wrong = 0
        for _ in range(runs):
            chances = abilities(draw, tasks)
            worse = 0.9 * chances
            found = on_these_tasks(cases(draw, chances, worse, attempts))
            true = float((worse - chances).mean())
            held += found.ci_low is not None and found.ci_low <= true <= found.ci_high
            wrong += on_these_tasks(cases(draw, chances, chances, attempts)).p_value < 0.05
        yield tasks, attempts, f"{held / runs:.1%}", f"{wrong / runs:.1%}"


def cases(draw: Any, old: Array, new: Array, attempts: int) -> Any:
    """How many tasks had which attempts solved."""
    solved = zip(draw.binomial(attempts, old).tolist(), draw.binomial(attempts, new).tolist(), strict=True)
    return Counter(Case(before, attempts, after, attempts) for before, after in solved)


#: Which of a side's results are masked, given its rewards.
MASKS: dict[str, tuple[Callable[[Any, Array], Array], bool]] = {
    "a tenth at random, both sides": (lambda draw, rewards: draw.random(len(rewards)) < 0.1, True),
    "45% of new's failures": (lambda draw, rewards: (rewards == 0) & (draw.random(len(rewards)) < 0.45), False),
    "20% of both sides' failures": (lambda draw, rewards: (rewards == 0) & (draw.random(len(rewards)) < 0.2), True),
}


def bounds_rows(draw: Any, runs: int) -> Iterator[tuple[object, ...]]:
    """How often the interval and the bounds hold the true difference when results are masked."""
    for (mask, (masked, both)), change, tasks in product(MASKS.items(), ("equal", "a tenth less"), (50, 200, 500)):
        held = naive = 0
        for _ in range(runs):
            chances = abilities(draw, tasks)
            old, new = means(draw, chances, 1), means(draw, changed(change, draw, chances), 1)
            gone_old = masked(draw, old) if both else numpy.zeros(tasks, bool)
            gone_new = masked(draw, new)
            known = ~(gone_old | gone_new)
            before, after = old[known].tolist(), new[known].tolist()
            lost: list[UnmeasuredTask] = [
                (None if gone_old[i] else old[i], None if gone_new[i] else new[i]) for i in numpy.flatnonzero(~known)
            ]
            figures = paired.basics_of(before, after, tested=False)
            bounds = unmeasured_bounds(figures, before, after, lost, REWARD_TOLERANCE)
            interval = figures.interval()
            held += bounds.low <= TRUE[change] <= bounds.high
            naive += interval.low <= TRUE[change] <= interval.high
        yield mask, change, tasks, f"{naive / runs:.1%}", f"{held / runs:.1%}"


def chance_rows(draw: Any, runs: int) -> Iterator[tuple[object, ...]]:
    """Flips of equal systems, and flips beyond noise, against how many were expected."""
    for attempts in (2, 4, 8):
        sums = [0.0] * 4
        for _ in range(runs):
            chances = abilities(draw, 50)
            found = flips_by_chance(cases(draw, chances, chances, attempts), REWARD_TOLERANCE)
            figures = (found.flips, found.expected, found.beyond_noise, found.expected_beyond_noise)
            sums = [so_far + figure for so_far, figure in zip(sums, figures, strict=True)]
        yield attempts, *(f"{total / runs:.3f}" for total in sums)


def main() -> None:
    """Print the tables that were asked for, all of them by default."""
    tables: dict[str, tuple[Callable[[Any, int], Iterator[tuple[object, ...]]], str, int]] = {
        "size": (size_rows, "tasks | attempts | wrong verdicts", 10_000),
        "coverage": (coverage_rows, "new system | tasks | attempts | interval holds the truth", 10_000),
        "these": (these_tasks_rows, "tasks | attempts | interval holds the truth | wrong findings", 2_000),
        "bounds": (bounds_rows, "masked | new system | tasks | interval holds the truth | bounds hold it", 2_000),
        "chance": (chance_rows, "attempts | flips | expected | beyond noise | expected", 10_000),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=f"which: {', '.join(tables)}")
    parser.add_argument("--runs", type=float, default=1.0, help="so many times the runs of each table")
    asked = parser.parse_args()
    paired.DRAW_BITS = DRAW_BITS
    for name in asked.tables or tables:
        rows, heading, runs = tables[name]
        count = int(runs * asked.runs)
        print(f"\n{name}, {count:,} comparisons each\n\n| {heading} |\n|{' --- |' * (heading.count('|') + 1)}")
        for row in rows(numpy.random.default_rng(12), count):
            print(f"| {' | '.join(map(str, row))} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
