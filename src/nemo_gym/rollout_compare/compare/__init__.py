"""Joined tables to a finished result.

The names are imported when they are first asked for: the command line's help reads the gate's rules alone.

* `categories`: each task's category, and the result itself
* `questions`: what a comparison is asked beyond which runs
* `task_side`: a run's rows of one task to what the run says about it
* `repeats`: several attempts at a task: is the change more than noise?
* `measured`: tasks to the columns that figures are computed from
* `groups`: the values of fields that tell groups of tasks apart
* `statistics`: all tasks: is the difference real? All figures, put together
* `decisions`: figures to a verdict, and what it would take where there is none
* `direction`: figures where the lower reward is the better one
* `paired`: the tests of a paired design, and the basic figures
* `interval`: intervals of a mean paired difference
* `attempts`: attempts as counts: pass@k, pass^k, and their noise
* `on_these_tasks`: the difference on exactly the tasks that ran
* `by_chance`: how many flips chance makes
* `unmeasured`: bounds over the tasks that a side did not measure
* `carried`: whether the verdict hangs on a few tasks
* `power`: what it would take to find a difference
* `subsets`: groups of tasks, each by itself
* `cluster`: related tasks kept together
* `why_null`: why a figure is null
* `distributions`: quantiles and tails of probability distributions
* `changes`: the settings in which the runs differ
* `costs`: what the runs cost
* `gate`: whether a result keeps the rules that were asked for
* `allow`: the tasks that are allowed to break them
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.compare.allow import allowed_of, no_longer_needed
    from nemo_gym.rollout_compare.compare.categories import MOST_AGREEING, compare_rollouts, compare_tables
    from nemo_gym.rollout_compare.compare.distributions import fisher_exact_two_sided
    from nemo_gym.rollout_compare.compare.gate import (
        NO_MARGIN,
        RULE_NAMES,
        RULE_PATTERN,
        asks_for_margin,
        check_gate,
        is_rule,
        rule_form,
        rule_text,
        rules_in_short,
    )
    from nemo_gym.rollout_compare.compare.questions import Questions
    from nemo_gym.rollout_compare.compare.repeats import NOISE_LEVEL
    from nemo_gym.rollout_compare.compare.task_side import summarize_side

__all__ = [
    "MOST_AGREEING",
    "NOISE_LEVEL",
    "NO_MARGIN",
    "RULE_NAMES",
    "RULE_PATTERN",
    "Questions",
    "allowed_of",
    "asks_for_margin",
    "check_gate",
    "compare_rollouts",
    "compare_tables",
    "fisher_exact_two_sided",
    "is_rule",
    "no_longer_needed",
    "rule_form",
    "rule_text",
    "rules_in_short",
    "summarize_side",
]

#: The modules that hold these names.
_HOMES = {
    "allow": ("allowed_of", "no_longer_needed"),
    "categories": (
        "MOST_AGREEING",
        "compare_rollouts",
        "compare_tables",
    ),
    "distributions": ("fisher_exact_two_sided",),
    "repeats": ("NOISE_LEVEL",),
    "gate": (
        "NO_MARGIN",
        "RULE_NAMES",
        "RULE_PATTERN",
        "asks_for_margin",
        "check_gate",
        "is_rule",
        "rule_form",
        "rule_text",
        "rules_in_short",
    ),
    "questions": ("Questions",),
    "task_side": ("summarize_side",),
}


def __getattr__(name: str) -> object:
    """A name of the door, imported when it is first asked for."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
