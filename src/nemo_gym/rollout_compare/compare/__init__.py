"""Joined tables to a finished result.

* `categories`: each task's category, and the result itself
* `task_side`: a run's rows of one task to what the run says about it
* `repeats`: several attempts at a task: is the change more than noise?
* `statistics`: all tasks: is the difference real?
* `paired`: the tests and intervals of a paired design
* `distributions`: quantiles and tails of probability distributions
* `gate`: whether a result keeps the rules that were asked for
"""

from nemo_gym.rollout_compare.compare.categories import compare_rollouts, compare_tables

__all__ = ["compare_rollouts", "compare_tables"]
