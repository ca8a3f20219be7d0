"""The gate: rules that a comparison must keep, asked for one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the command line's help is made from these rules, and starts without results
    from nemo_gym.rollout_compare.schema import CompareResult, Rule


def _tasks(value: int | str) -> str:
    return f"{value} {'task' if value == 1 else 'tasks'}"


class GateRule(NamedTuple):
    """One rule.

    Attributes:
        broken_by: What breaks it, as the documents' table says it.
        value: What it looks at in a comparison: how many tasks break it, or a word.
        in_short: What its name does not say by itself, for the help.
        broken: Whether a comparison breaks it, for a rule that takes no number. None for one that may end in `>N`: it
            is broken by more than N tasks.
        says: What is said where it is broken, from its value.
    """

    broken_by: str
    value: Callable[[CompareResult], int | str]
    in_short: str = ""
    broken: Callable[[CompareResult], bool] | None = None
    says: Callable[[int | str], str] = _tasks


def _in_category(name: str) -> Callable[[CompareResult], int]:
    return lambda result: len(result.by_category(name))


def _lost(result: CompareResult) -> int:
    return sum(flip.comparison.winner == "old" for flip in result.flips)


def _verdict(result: CompareResult) -> str:
    assert result.statistics is not None
    return result.statistics.verdict.value


def _worse_or_unknown(result: CompareResult) -> bool:
    """Where there is no figure nothing is known to be well."""
    assert result.statistics is not None
    return result.statistics.verdict == "worse" or result.statistics.delta is None


def _worse(value: int | str) -> str:
    return "the new side is worse" if value == "worse" else f"{value}, because no difference could be computed"


#: By name. A rule is one row: the pattern, the hints, the option's help and the documents' table are made from it.
RULES = {
    "flipped": GateRule("a flip of either kind, with an agent error or without", lambda result: len(result.flips)),
    "lost": GateRule(
        "a flip that the old side wins, of either kind; with several attempts a task also one within noise",
        _lost,
        in_short="the old side wins",
    ),
    "agent-error": GateRule("a flip with an agent error", _in_category("flipped_agent_error")),
    "masked": GateRule("a masked task", _in_category("masked")),
    "missing": GateRule("a missing task", _in_category("missing")),
    "worse": GateRule(
        "the verdict that the new side is worse, or that no difference could be computed",
        _verdict,
        in_short="the verdict",
        broken=_worse_or_unknown,
        says=_worse,
    ),
}

_COUNTING = [name for name, rule in RULES.items() if rule.broken is None]
_PLAIN = [name for name in RULES if name not in _COUNTING]

#: What a rule looks like.
RULE_PATTERN = "|".join([f"({'|'.join(_COUNTING)})(>[0-9]{{1,18}})?", *_PLAIN])


def is_rule(text: str) -> bool:
    """Whether a text is a rule."""
    return re.fullmatch(RULE_PATTERN, text) is not None


def rule_form(name: str) -> str:
    """How the rule of a name is written."""
    return f"it is {name} or {name}>N, N a whole number" if name in _COUNTING else f"{name} takes no number"


def rules_in_short() -> str:
    """The rules in a sentence, for the help."""
    *counting, last = map(_in_short, _COUNTING)
    counted = f"{', '.join(counting)} or {last}, each with >N for more than N tasks (in quotes)"
    return f"{counted}, or {' or '.join(map(_in_short, _PLAIN))}"


def _in_short(name: str) -> str:
    words = RULES[name].in_short
    return f"{name} ({words})" if words else name


def check_rules(result: CompareResult, rules: Sequence[str]) -> tuple[Rule, ...]:
    """Hold a comparison against rules that match `RULE_PATTERN`."""
    return tuple(_check(result, text) for text in rules)


def _check(result: CompareResult, text: str) -> Rule:
    from nemo_gym.rollout_compare.schema import Rule

    name, _, limit = text.partition(">")
    rule = RULES[name]
    value = rule.value(result)
    return Rule(text, value, rule.broken(result) if rule.broken else int(value) > int(limit or 0))


def rule_text(rule: Rule) -> str:
    """What a rule that tripped says."""
    return f"gate: {rule.rule}: {RULES[rule.rule.partition('>')[0]].says(rule.value)}"
