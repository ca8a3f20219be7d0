"""The gate: rules that a comparison must keep, asked for one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nemo_gym.rollout_compare.text import MEASURES, counted

if TYPE_CHECKING:  # the command line's help is made from these rules, and starts without results
    from nemo_gym.rollout_compare.schema import CompareResult, Rule

Allowed = Collection[str]
"""Labels of tasks that break no rule."""


class GateRule(NamedTuple):
    """One rule.

    Attributes:
        broken_by: What breaks it, as the documents' table says it.
        tasks: The tasks that break it, by their labels; None for a rule that is not about single tasks.
        in_short: What its name does not say by itself, for the help.
        word: What a rule that is not about single tasks looks at.
        broken: Whether that breaks it.
        says: What is said where it is broken, from the word.
    """

    broken_by: str
    tasks: Callable[[CompareResult], list[str]] | None = None
    in_short: str = ""
    word: Callable[[CompareResult], str] | None = None
    broken: Callable[[CompareResult], bool] | None = None
    says: Callable[[str], str] = str


def _in_category(name: str) -> Callable[[CompareResult], list[str]]:
    return lambda result: [task.task for task in result.by_category(name)]


def _flipped(result: CompareResult) -> list[str]:
    return [flip.comparison.task for flip in result.flips]


def _lost(result: CompareResult) -> list[str]:
    return [flip.comparison.task for flip in result.flips if flip.comparison.winner == "old"]


def _lost_beyond_noise(result: CompareResult) -> list[str]:
    noise = {flip.comparison.task for flip in result.flips if flip.within_noise}
    return [task for task in _lost(result) if task not in noise]


def _verdict(result: CompareResult) -> str:
    assert result.statistics is not None
    return result.statistics.verdict.value


def _worse_or_unknown(result: CompareResult) -> bool:
    """Where there is no figure nothing is known to be well."""
    assert result.statistics is not None
    return result.statistics.verdict == "worse" or result.statistics.delta is None


def _says_worse(verdict: str) -> str:
    return "the new side is worse" if verdict == "worse" else f"{verdict}, because no difference could be computed"


def _conclusion(result: CompareResult) -> str:
    margin = result.statistics and result.statistics.margin
    return margin.conclusion.value if margin else "no margin was given"


def _is_not_shown(result: CompareResult) -> bool:
    return _conclusion(result) not in {"same", "not worse"}


#: By name. A rule is one row: the pattern, the hints, the option's help and the documents' table are made from it.
RULES = {
    "flipped": GateRule("a flip of either kind, with an agent error or without", _flipped),
    "lost": GateRule(
        "a flip that the old side wins, of either kind; with several attempts a task also one within noise",
        _lost,
        in_short="the old side wins",
    ),
    "lost-beyond-noise": GateRule(
        "a flip that the old side wins, but for those within the noise of their attempts; one attempt a task, or too "
        "few to tell, excuse nothing",
        _lost_beyond_noise,
    ),
    "agent-error": GateRule("a flip with an agent error", _in_category("flipped_agent_error")),
    "masked": GateRule("a masked task", _in_category("masked")),
    "missing": GateRule("a missing task", _in_category("missing")),
    "inputs-differ": GateRule(
        "a task that the two runs were asked differently, though it has one name",
        lambda result: list(result.join_check.tasks_differ),
    ),
    "worse": GateRule(
        "the verdict that the new side is worse; also if no difference could be computed",
        in_short="the verdict",
        word=_verdict,
        broken=_worse_or_unknown,
        says=_says_worse,
    ),
    "not-shown": GateRule(
        "with `--margin`, and only with it: a conclusion that is neither `same` nor `not worse`",
        in_short="with --margin",
        word=_conclusion,
        broken=_is_not_shown,
    ),
}

#: Names that stand for several rules.
BUNDLES = {"regression": ("worse", "missing", "inputs-differ", "coverage<95%")}

COVERAGE, NOT_SHOWN = "coverage", "not-shown"

#: What is said where a rule is about a margin and there is none.
NO_MARGIN = "not-shown is about a margin: say which with --margin"

_TIMES = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"

_COUNTING = [name for name, rule in RULES.items() if rule.tasks]
_PLAIN = [*(name for name in RULES if name not in _COUNTING), *BUNDLES]
_NUMBER = r"[0-9]{1,18}"
_PERCENT = r"(?:100(?:\.0{1,9})?|[0-9]{1,2}(?:\.[0-9]{1,9})?)"

#: What a rule may begin with.
RULE_NAMES = (*RULES, COVERAGE, *MEASURES, *BUNDLES)

#: What a rule looks like.
RULE_PATTERN = (
    rf" *(?:(?:{'|'.join(_COUNTING)})(?: *> *(?:{_NUMBER}|{_PERCENT} *%))?|{'|'.join(_PLAIN)}"
    rf"|{COVERAGE} *< *{_PERCENT} *%|(?:{'|'.join(MEASURES)}) *> *{_TIMES}) *"
)


def is_rule(text: str) -> bool:
    """Whether a text is a rule."""
    return re.fullmatch(RULE_PATTERN, text) is not None


def _without_spaces(text: str) -> str:
    return re.sub(" *([<>%]) *", r"\1", text.strip(" "))


def rule_form(name: str) -> str:
    """How the rule of a name is written."""
    if name == COVERAGE:
        return "it is coverage<N%, N from 0 to 100"
    if name in MEASURES:
        return f"it is {name}>N, N how many times the old cost is too much, such as 1.2"
    return f"it is {name}, {name}>N or {name}>N%, N a number" if name in _COUNTING else f"{name} takes no number"


def asks_for_margin(rules: Sequence[str]) -> bool:
    """Whether a rule is about the margin."""
    return NOT_SHOWN in map(_without_spaces, rules)


def rules_in_short() -> str:
    """The rules in a sentence, for the help."""
    *counting, last = map(_in_short, _COUNTING)
    counted = f"{', '.join(counting)} or {last}, each with >N for more than N tasks or >N% of them (in quotes)"
    bundles = (f"{name} ({', '.join(rules)})" for name, rules in BUNDLES.items())
    plain = [*map(_in_short, (name for name in _PLAIN if name in RULES)), f"{COVERAGE}<N% (measured on both sides)"]
    costs = f"{', '.join(MEASURES)}, each with >N for more than N times the cost"
    return f"{counted}; {', '.join(plain)}; {costs}; or {', '.join(bundles)}"


def _in_short(name: str) -> str:
    words = RULES[name].in_short
    return f"{name} ({words})" if words else name


def check_gate(result: CompareResult, rules: str | Sequence[str], allowed: Allowed = ()) -> tuple[Rule, ...]:
    """Hold a comparison against rules, as `--fail-on` has them.

    Args:
        result: The comparison.
        rules: The rules.
        allowed: Labels of tasks that break none.

    Returns:
        Each rule with what it looks at, and whether that breaks it.

    Raises:
        CompareInputError: Something is not a rule, or asks for a margin that the comparison does not have.
    """
    from nemo_gym.rollout_compare.schema import CompareInputError

    rules = (rules,) if isinstance(rules, str) else rules
    for rule in rules:
        if not is_rule(rule):
            raise CompareInputError(f"{rule!r} is not a rule; rules are {', '.join(RULE_NAMES)}")
    if asks_for_margin(rules) and not (result.statistics and result.statistics.margin):
        raise CompareInputError(NO_MARGIN)
    return tuple(_check(result, text, frozenset(allowed)) for text in _unbundled(rules))


def _unbundled(rules: Sequence[str]) -> Iterator[str]:
    for rule in map(_without_spaces, rules):
        yield from BUNDLES.get(rule, (rule,))


def _check(result: CompareResult, text: str, allowed: frozenset[str]) -> Rule:
    from nemo_gym.rollout_compare.schema import Rule

    name, _, limit = text.partition(">")
    if text.startswith(f"{COVERAGE}<"):
        measured, asked = _coverage(result, allowed)
        tenths = 1000 * measured // asked if asked else 1000  # never rounded up to a limit that it does not reach
        limit = text.partition("<")[2]
        return Rule(text, f"{tenths // 10}.{tenths % 10}%", _order(limit, measured, asked) < 0)
    if name in MEASURES:
        return _cost(result, text, name, float(limit))
    rule = RULES[name]
    if rule.tasks is None:
        assert rule.word
        assert rule.broken
        return Rule(text, rule.word(result), rule.broken(result))
    value = sum(task not in allowed for task in rule.tasks(result))
    if limit.endswith("%"):
        return Rule(text, value, _order(limit, value, len(result.tasks)) > 0)
    return Rule(text, value, value > int(limit or 0))


def _order(percent: str, part: int, whole: int) -> int:
    """How a part of a whole stands to so many percent, exactly: below 0 for less, above 0 for more."""
    units, _, decimals = percent.removesuffix("%").partition(".")
    scale = int("1" + "0" * len(decimals))
    return part * 100 * scale - int(units + decimals) * whole


def _cost(result: CompareResult, text: str, name: str, limit: float) -> Rule:
    """A cost is too high where all of its interval is; where there is no interval nothing is known to be well."""
    from nemo_gym.rollout_compare.schema import Rule

    ratio = next((cost.ratio for cost in result.costs if cost.measure == name), None)
    if ratio is None:
        return Rule(text, "no task tells it on both sides", tripped=True)
    if ratio.times is None:
        return Rule(text, ratio.reason or "", tripped=True)
    if ratio.ci_low is None:
        return Rule(text, f"{ratio.times:.2f} times the old cost in every task", ratio.times > limit)
    times = f"{ratio.times:.2f} times the old cost ({ratio.ci_low:.2f} to {ratio.ci_high:.2f})"
    return Rule(text, times, ratio.ci_low > limit)


def _coverage(result: CompareResult, allowed: frozenset[str]) -> tuple[int, int]:
    """How many tasks have a measured attempt on both sides, and how many there are, allowed ones aside."""
    asked = [task for task in result.tasks if task.task not in allowed]
    return sum(task.measured for task in asked), len(asked)


def rule_text(rule: Rule) -> str:
    """What a rule that tripped says."""
    known = RULES.get(re.split("[<>]", rule.rule)[0])
    if rule.rule.partition(">")[0] in MEASURES:
        return f"gate: {rule.rule}: {rule.value}"
    if known is None:
        return f"gate: {rule.rule}: {rule.value} of the tasks are measured on both sides"
    says = known.says(str(rule.value)) if known.tasks is None else counted(int(rule.value), "task")
    return f"gate: {rule.rule}: {says}"
