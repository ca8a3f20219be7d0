"""Twelve situations and what the report says of each: `python -m tests.situations` prints the page of the documents.

A test holds the page to this. The runs are made up, with a known truth behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from textwrap import wrap
from typing import Any, NamedTuple

from nemo_gym.rollout_compare.compare.categories import compare_rollouts
from nemo_gym.rollout_compare.compare.questions import NOTHING_MORE, Questions
from nemo_gym.rollout_compare.report.terminal.difference import difference_lines

Rows = list[dict[str, Any]]

OPENING = """\
# Twelve situations

What `## Difference` says when the truth is known: the runs below are made up, and each paragraph says how. A test
compares them, so this is what the program prints. The first line is the decision. It is also the last line of the whole
report.

[How the figures are computed](how-figures-are-computed.md) has the formulas.
"""


class Situation(NamedTuple):
    """A pair of runs and what to make of it.

    Attributes:
        title: What it is.
        truth: What is known of it.
        runs: Makes both runs.
        advice: What the lines mean for a decision.
        options: The options as the page shows them.
        questions: The same for the comparison.
    """

    title: str
    truth: str
    runs: Callable[[Random], tuple[Rows, Rows]]
    advice: str
    options: str = ""
    questions: Questions = NOTHING_MORE


def abilities(draw: Random, tasks: int) -> list[float]:
    """How likely each task is solved: mostly hard or easy ones."""
    return [draw.betavariate(0.6, 0.4) for _ in range(tasks)]


def attempts(draw: Random, chances: list[float], each: int = 1, **more: Any) -> Rows:
    """Rows of so many attempts at each task."""
    return [
        {"task_id": f"t{number:04}", "reward": float(draw.random() < chance), **more}
        for number, chance in enumerate(chances)
        for _ in range(each)
    ]


def rewards(values: list[float]) -> Rows:
    """One row a task with the given rewards."""
    return [{"task_id": f"t{number:04}", "reward": value} for number, value in enumerate(values)]


def equal(draw: Random) -> tuple[Rows, Rows]:
    chances = abilities(draw, 400)
    return attempts(draw, chances), attempts(draw, chances)


def five_points_worse(draw: Random) -> tuple[Rows, Rows]:
    chances = abilities(draw, 500)
    return attempts(draw, chances, 4), attempts(draw, [chance * 0.917 for chance in chances], 4)


def noise(draw: Random) -> tuple[Rows, Rows]:
    chances = abilities(draw, 60)
    return attempts(draw, chances, 8), attempts(draw, chances, 8)


def broken_environment(draw: Random) -> tuple[Rows, Rows]:
    chances = [1.0] * 30 + abilities(draw, 170)
    old, new = attempts(draw, chances, 3), attempts(draw, [0.0] * 30 + chances[30:], 3)
    for rows in (old, new):
        for place, row in enumerate(rows):
            row["environment"] = "browser" if place < 90 else ("shell", "sql", "files")[place // 3 % 3]
    return old, new


def masked_failures(draw: Random) -> tuple[Rows, Rows]:
    chances = abilities(draw, 500)
    old, new = attempts(draw, chances), attempts(draw, chances)
    for row in new:
        row["mask_sample"] = row["reward"] == 0 and draw.random() < 0.45
    return old, new


def other_tasks(draw: Random) -> tuple[Rows, Rows]:
    chances = sorted(abilities(draw, 150))
    return attempts(draw, chances)[:120], attempts(draw, chances)[30:]


def outside(draw: Random) -> tuple[Rows, Rows]:
    before = [draw.gauss(40, 12) for _ in range(80)]
    return rewards(before), rewards([value + draw.gauss(3, 8) for value in before])


def one_huge(draw: Random) -> tuple[Rows, Rows]:
    before = [draw.random() for _ in range(60)]
    return rewards([*before, 0.0]), rewards([*(value + draw.gauss(0.03, 0.02) for value in before), -500.0])


def three_tasks(draw: Random) -> tuple[Rows, Rows]:
    return rewards([1.0, 0.0, 1.0]), rewards([1.0, 1.0, 0.0])


def tiny(draw: Random) -> tuple[Rows, Rows]:
    chances = abilities(draw, 5_000)
    return attempts(draw, chances, 4), attempts(draw, [chance * 0.98 for chance in chances], 4)


def unchanged(draw: Random) -> tuple[Rows, Rows]:
    solved = [float(draw.random() < 0.7) for _ in range(500)]
    return rewards(solved), rewards(solved)


def dead(draw: Random) -> tuple[Rows, Rows]:
    chances = abilities(draw, 100)
    return attempts(draw, chances), attempts(draw, chances, mask_sample=True, failure_kind="server_gone")


SITUATIONS = (
    Situation(
        "Two equal systems",
        "400 tasks, one attempt each; both sides solve each task with the same chance.",
        equal,
        "Nothing was found, and the third line says what would have been. If a smaller change matters, name it: "
        "`--margin 0.02` says whether this many tasks rule it out, and what it takes if they do not. "
        "88 flips, and all of them chance: that is what the last line warns of.",
    ),
    Situation(
        "Five points worse",
        "500 tasks, four attempts each; the new side solves each with 92% of the old side's chance.",
        five_points_worse,
        "Worse. The number of flips says nothing: equal systems would show nearly as many. Their direction "
        "does, and the line on flips says that too.",
    ),
    Situation(
        "The noise of attempts",
        "60 tasks, eight attempts each, equal systems.",
        noise,
        "Two runs of one system would show flips like these. `--hide-noise` leaves them out of the list.",
    ),
    Situation(
        "One broken environment",
        "200 tasks, three attempts each; 30 tasks of one environment went from 3/3 to 0/3, the others are as before.",
        broken_environment,
        "Worse, and not the same everywhere: it is one environment. With three attempts no single flip could show it: "
        "all of them together do.",
        options="--by environment",
        questions=Questions(by=("environment",)),
    ),
    Situation(
        "Failures that were masked",
        "500 tasks, equal systems; the new side masks 45% of its failures.",
        masked_failures,
        "The figures over the measured tasks say better, and the decision says at once that it may not hold. Find out "
        "why tasks were masked before anything else.",
    ),
    Situation(
        "Different mixes of tasks",
        "The old side ran the harder 120 of 150 tasks, the new side the easier 120; the systems are equal.",
        other_tasks,
        "The means are over the 90 tasks that both ran, so they can be compared. The tasks that one side lacks are "
        "not typical, and the last lines say so: do not compare each side's mean over its own tasks.",
    ),
    Situation(
        "Rewards outside 0 to 1",
        "80 tasks with scores around 40; the new side gets 3 more, give or take 8.",
        outside,
        "As for any other reward, in its own units.",
    ),
    Situation(
        "One task with a huge reward",
        "60 tasks gained a little, one lost 500.",
        one_huge,
        "The mean depends on one task, which is named; all others gained. Look at that task's verifier.",
    ),
    Situation(
        "Three tasks",
        "Three tasks, two of which changed.",
        three_tasks,
        "Nothing can be told, and the second line says what it takes.",
    ),
    Situation(
        "Very many tasks, a tiny difference",
        "5,000 tasks, four attempts each; the new side solves each with 98% of the old side's chance.",
        tiny,
        "There is a difference, but it is within the margin that was asked for: what counts is whether it matters.",
        options="--margin 0.03",
        questions=Questions(margin=0.03),
    ),
    Situation(
        "Nothing changed",
        "500 tasks, the same result on both sides for each.",
        unchanged,
        "This is the best answer that a migration can get.",
        options="--margin 0.01",
        questions=Questions(margin=0.01),
    ),
    Situation(
        "A dead run",
        "100 tasks; the new side's server was gone, and everything is masked.",
        dead,
        "Nothing was measured. `--fail-on regression` ends with status 3 here.",
    ),
)


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from OPENING.splitlines()
    for number, situation in enumerate(SITUATIONS, start=1):
        result = compare_rollouts(*situation.runs(Random(100 + number)), "task_id", situation.questions)
        yield ""
        yield f"## {number}. {situation.title}"
        yield ""
        yield from wrap(situation.truth + (f" Compared with `{situation.options}`." if situation.options else ""), 120)
        yield ""
        yield "```text"
        yield from list(difference_lines(result))[1:]
        yield "```"
        yield ""
        yield from wrap(situation.advice, 120)


if __name__ == "__main__":
    print("\n".join(page()))  # noqa: T201  # a script that prints
