"""The gate in the report's words: what each rule looked at, with figures where a word alone says nothing."""

from __future__ import annotations

from msgspec.structs import replace

from nemo_gym.rollout_compare.report.terminal.difference import not_shown_text
from nemo_gym.rollout_compare.schema import CompareResult, Conclusion, Rule


def told_gate(result: CompareResult) -> tuple[Rule, ...]:
    """The rules; of a margin that is not shown the value says how far it is missed."""
    figures = result.statistics
    if figures is None or figures.margin is None:
        return result.gate
    not_shown = not_shown_text(figures, figures.margin)
    return tuple(replace(rule, value=not_shown) if rule.value == Conclusion.NOT_SHOWN else rule for rule in result.gate)
