"""Joined tables to a finished result.

The names are imported when they are first asked for: the command line's help reads the gate's rules alone.

* `categories`: each task's category, and the result itself
* `task_side`: a run's rows of one task to what the run says about it
* `repeats`: several attempts at a task: is the change more than noise?
* `statistics`: all tasks: is the difference real?
* `paired`: the tests and intervals of a paired design
* `distributions`: quantiles and tails of probability distributions
* `gate`: whether a result keeps the rules that were asked for
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.compare.categories import compare_rollouts, compare_tables

__all__ = ["compare_rollouts", "compare_tables"]


def __getattr__(name: str) -> object:
    """A name of the door."""
    if name in __all__:
        from nemo_gym.rollout_compare.compare import categories

        return getattr(categories, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
