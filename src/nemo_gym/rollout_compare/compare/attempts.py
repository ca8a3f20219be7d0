"""Several attempts a task, as counts: what they say of one flip, of pass@k, and of their own noise.

Everything here needs no more of a task than how many of its measured attempts were solved on each side. There are few
such cases, however many tasks there are, so each is computed once and weighed by its number of tasks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nemo_gym.rollout_compare.compare.interval import paired_t_interval
from nemo_gym.rollout_compare.schema import Estimate, OfAttempts

#: Differences of pass rates that are 0 but for rounding, and sums of their squares.
_ROUNDING = 1e-9


class Case(NamedTuple):
    """How a task went: solved and measured attempts on the old side, the same on the new one."""

    old_solved: int
    old: int
    new_solved: int
    new: int

    @property
    def solved(self) -> int:
        """Solved attempts of both sides."""
        return self.old_solved + self.new_solved

    @property
    def difference(self) -> float:
        """The new side's share of solved attempts less the old side's."""
        return self.new_solved / self.new - self.old_solved / self.old

    @property
    def repeated(self) -> bool:
        """Whether both sides measured the task twice or more often."""
        return self.old > 1 and self.new > 1


#: How many tasks went how.
Cases = Counter[Case]


def repeated_cases(cases: Cases) -> Cases:
    """The tasks that both sides measured twice or more often."""
    return Counter({case: tasks for case, tasks in cases.items() if case.repeated})


def within_variance(case: Case) -> float:
    """Variance of a task's difference that its attempts alone would make, without bias.

    p (1 - p) / (m - 1) of each side, with p the share of its m attempts that were solved: the sample variance of m
    attempts that are 0 or 1, over m. Both sides need two attempts or more.
    """
    old, new = case.old_solved / case.old, case.new_solved / case.new
    return old * (1 - old) / (case.old - 1) + new * (1 - new) / (case.new - 1)


def pass_at(k: int, solved: int, attempts: int) -> float:
    """The chance that at least one of k attempts, drawn of those made, solved the task: 1 - C(m - c, k) / C(m, k).

    The unbiased estimate of the same for k new attempts. Source: M. Chen et al., "Evaluating Large Language Models
    Trained on Code" (2021, arXiv 2107.03374), equation 1.
    """
    return 1 - math.comb(attempts - solved, k) / math.comb(attempts, k)


def pass_all(k: int, solved: int, attempts: int) -> float:
    """The chance that all of k attempts, drawn of those made, solved the task, `pass^k`: C(c, k) / C(m, k).

    The unbiased estimate of the same for k new attempts. Source: S. Yao et al., "tau-bench" (2024, arXiv 2406.12045),
    section 3.
    """
    return math.comb(solved, k) / math.comb(attempts, k)


def of_attempts(cases: Cases) -> Iterator[OfAttempts]:
    """pass@k and pass^k of both sides for k = 1, 2, 4 ... up to the attempts that every task has on both sides."""
    k, most = 1, min(min(case.old, case.new) for case in cases)
    while k <= most:
        yield OfAttempts(k, _estimate(cases, k, pass_at), _estimate(cases, k, pass_all))
        k *= 2


def _estimate(cases: Cases, k: int, share: Callable[[int, int, int], float]) -> Estimate:
    """A share of both sides, with the paired t interval of the tasks' differences."""
    n = cases.total()
    pairs = [
        (share(k, case.old_solved, case.old), share(k, case.new_solved, case.new), tasks)
        for case, tasks in cases.items()
    ]
    old, new = (math.fsum(pair[i] * pair[2] for pair in pairs) / n for i in (0, 1))
    delta = math.fsum((after - before) * tasks for before, after, tasks in pairs) / n
    squares = math.fsum(tasks * (after - before - delta) ** 2 for before, after, tasks in pairs)
    if n < 2 or squares <= _ROUNDING:
        return Estimate(old, new, delta, None, None)
    low, high = paired_t_interval(delta, math.sqrt(squares / (n - 1) / n), n)
    return Estimate(old, new, delta, max(-1.0, low), min(1.0, high))
