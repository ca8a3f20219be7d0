"""The gate: rules that a comparison must keep, asked for one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nemo_gym.rollout_compare.schema import Category, CompareResult, Rule, Side, Verdict

#: What a rule looks like: a number of tasks with an optional limit, or the verdict.
RULE_PATTERN = r"(flipped|lost|agent-error|masked|missing)(>[0-9]{1,18})?|worse"


def check_rules(result: CompareResult, rules: Sequence[str]) -> tuple[Rule, ...]:
    """Hold a comparison against rules that match `RULE_PATTERN`."""
    return tuple(_check(result, rule) for rule in rules)


def _check(result: CompareResult, rule: str) -> Rule:
    if rule == "worse":
        statistics = result.statistics
        assert statistics is not None
        # Where there is no figure nothing is known to be well.
        return Rule(rule, statistics.verdict.value, statistics.verdict is Verdict.WORSE or statistics.delta is None)
    name, _, limit = rule.partition(">")
    value = _counted(result, name)
    return Rule(rule, value, value > int(limit or 0))


def _counted(result: CompareResult, name: str) -> int:
    if name == "lost":
        return sum(flip.comparison.winner is Side.OLD for flip in result.flips)
    if name == "flipped":
        return len(result.flips)
    categories = {"agent-error": Category.FLIPPED_AGENT_ERROR, "masked": Category.MASKED, "missing": Category.MISSING}
    return len(result.by_category(categories[name]))


def rule_text(rule: Rule) -> str:
    """What a rule that tripped says."""
    if rule.rule != "worse":
        return f"gate: {rule.rule}: {rule.value} {'task' if rule.value == 1 else 'tasks'}"
    if rule.value == Verdict.WORSE.value:
        return "gate: worse: the new side is worse"
    return "gate: worse: cannot tell, because no difference could be computed"


def is_rule(text: str) -> bool:
    """Whether a text is a rule."""
    return re.fullmatch(RULE_PATTERN, text) is not None
