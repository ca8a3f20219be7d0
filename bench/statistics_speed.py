"""How long the paired statistics of a million tasks take, best of three, and what importing them costs."""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from random import Random

from nemo_gym.rollout_compare.compare.repeats import compare_repeats
from nemo_gym.rollout_compare.compare.statistics import UnmeasuredTask, paired_statistics

TASKS = 1_000_000


def best(action: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of the fastest of three runs, of this process's own time unless another clock is given."""
    times = []
    for _ in range(3):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)


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
        print(f"{TASKS:,} tasks, {kind}: {best(partial(paired_statistics, old, new)):.2f} s")
    unmeasured: list[UnmeasuredTask] = [(1.0, None)] * TASKS
    print(f"{TASKS:,} tasks without a new side: {best(partial(paired_statistics, [], [], unmeasured)):.2f} s")
    for tasks in (16, 17, 18, 1_000):
        old, new = kinds["continuous rewards"][:tasks], kinds["continuous rewards"][TASKS : TASKS + tasks]
        print(f"{tasks:,} tasks, continuous rewards: {1000 * best(partial(paired_statistics, old, new)):.0f} ms")
    attempts = [[float(bits >> place & 1) for place in range(8)] for bits in flips[:200_000]]
    seconds = best(lambda: [compare_repeats(old, new) for old, new in zip(attempts[::2], attempts[1::2], strict=True)])
    print(f"100,000 flips of 8 attempts a side, Fisher's p: {seconds:.2f} s")
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
