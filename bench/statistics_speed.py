"""How long the paired statistics of 200,000 tasks take, best of three, and what importing them costs."""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from random import Random

from nemo_gym.rollout_compare.compare.measured import measured_tasks
from nemo_gym.rollout_compare.compare.repeats import compare_repeats
from nemo_gym.rollout_compare.compare.statistics import MeasuredTasks, paired_statistics
from nemo_gym.rollout_compare.compare.unmeasured import UnmeasuredTask
from nemo_gym.rollout_compare.schema import Category, TaskComparison, TaskSide

TASKS = 200_000


def best(action: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of the fastest of three runs, of this process's own time unless another clock is given."""
    times = []
    for _ in range(3):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)


def compare(old: list[float], new: list[float], unmeasured: list[UnmeasuredTask] | None = None) -> None:
    """Compute all figures of so many rewards."""
    paired_statistics(MeasuredTasks(old=old, new=new, unmeasured=unmeasured or []))


def attempted(bits: int, attempts: int) -> TaskSide:
    """A side with so many attempts, of which the low bits say which were solved."""
    solved = (bits & ((1 << attempts) - 1)).bit_count()
    return TaskSide(attempts, solved / attempts, attempts, solved=solved)


def main() -> None:
    """Print one line a question."""
    draw = Random(1)
    flips = [draw.getrandbits(8) for _ in range(2 * TASKS)]
    kinds: dict[str, list[float]] = {
        "rewards 0 or 1": [float(bits & 1) for bits in flips],
        "means of 8 repeats": [bits.bit_count() / 8 for bits in flips],
        "means of 3 repeats": [(bits & 7).bit_count() / 3 for bits in flips],
        "continuous rewards": [draw.random() for _ in flips],
    }
    for kind, rewards in kinds.items():
        old, new = rewards[:TASKS], rewards[TASKS:]
        print(f"{TASKS:,} tasks, {kind}: {best(partial(compare, old, new)):.2f} s")
    unmeasured: list[UnmeasuredTask] = [(1.0, None)] * TASKS
    print(f"{TASKS:,} tasks without a new side: {best(partial(compare, [], [], unmeasured)):.2f} s")
    for number in (16, 17, 18, 1_000):
        old, new = kinds["continuous rewards"][:number], kinds["continuous rewards"][TASKS : TASKS + number]
        print(f"{number:,} tasks, continuous rewards: {1000 * best(partial(compare, old, new)):.0f} ms")
    for attempts in (1, 3, 8):
        sides = [attempted(bits, attempts) for bits in flips]
        pairs = zip(sides[:TASKS], sides[TASKS:], strict=True)
        tasks = [TaskComparison(str(i), Category.IDENTICAL, *pair) for i, pair in enumerate(pairs)]
        seconds = best(lambda tasks=tasks: paired_statistics(measured_tasks(tasks)))
        print(f"{TASKS:,} tasks with {attempts} attempts a side, from tasks to figures: {seconds:.2f} s")
        seconds = best(lambda tasks=tasks: [compare_repeats(task.old, task.new) for task in tasks])
        print(f"    and Fisher's p for each: {seconds:.2f} s")
    for modules in (
        "",
        "dataclasses, enum",
        "nemo_gym.rollout_compare.compare.statistics, nemo_gym.rollout_compare.compare.repeats",
    ):
        command = [sys.executable, "-c", f"import {modules}" if modules else ""]
        start_command = partial(subprocess.run, command, check=True)
        milliseconds = 1000 * min(best(start_command, time.perf_counter) for _ in range(5))
        print(f"interpreter that imports {modules or 'nothing'}: {milliseconds:.0f} ms")


if __name__ == "__main__":
    main()
