"""What a page says of a result, as plain values. Sentences are those of the report; the page's script draws the rest.

Tasks are lists, because there may be many: the order of their parts is that of `_task` and `_side`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from nemo_gym.rollout_compare.explain import source_text as evidence_source
from nemo_gym.rollout_compare.report.facts import GroupFacts, group_facts
from nemo_gym.rollout_compare.report.gate import told_gate
from nemo_gym.rollout_compare.report.html import safe
from nemo_gym.rollout_compare.report.notes import TASKS_IN_JSON_ONLY, note_message, note_names
from nemo_gym.rollout_compare.report.terminal.changes import change_parts, cost_parts, parted_parts
from nemo_gym.rollout_compare.report.terminal.decision import decision_parts
from nemo_gym.rollout_compare.report.terminal.difference import difference_sentences, repeats_text
from nemo_gym.rollout_compare.report.terminal.flips import by_size, one_sided_first, same_form
from nemo_gym.rollout_compare.report.terminal.provenance import source_text
from nemo_gym.rollout_compare.report.terminal.text import join_parts
from nemo_gym.rollout_compare.report.terminal.words import counted, listed
from nemo_gym.rollout_compare.schema import (
    Category,
    Change,
    CompareResult,
    Cost,
    Evidence,
    Flip,
    Note,
    Parted,
    Setting,
    Side,
    Step,
    TaskComparison,
    TaskSide,
    Transcripts,
    Verdict,
    reward_text,
)
from nemo_gym.rollout_compare.text import one_line, several_lines

_NOTE_LIMIT = 4000

#: What stands between an old value and a new one.
_TO = "to"

_TONES = {Verdict.WORSE: "lost", Verdict.BETTER: "won"}


def contents(result: CompareResult, title: str) -> dict[str, Any]:
    """Everything but transcripts."""
    numbers = {task.task: number for number, task in enumerate(result.tasks)}
    figures, settings = result.statistics, _settings(result.flips)
    return {
        "title": title,
        "head": _head(result),
        "about": _about(result),
        "notes": [one_line(_note(note), _NOTE_LIMIT) for note in result.notes],
        "counts": result.counts(),
        "figures": safe.names(to_builtins(figures)) if figures else None,
        "changes": [_named(change_parts(change, _TO)) for change in result.changes],
        "costs": [_cost(cost) for cost in result.costs if cost.mean_old or cost.mean_new],
        "gate": [safe.names([rule.rule, str(rule.value), rule.tripped]) for rule in told_gate(result)],
        "groups": [_group(group_facts(field, values)) for field, values in result.groups.items()],
        "settings": [_named(change_parts(_as_change(setting), _TO)) for setting in settings],
        "categories": list(Category),
        "tasks": [_task(task) for task in result.tasks],
        "differ": [numbers[task] for task in result.join_check.tasks_differ if task in numbers],
        "flips": {str(numbers[flip.task]): _flip(flip, settings) for flip in result.flips},
        "clusters": [
            [safe.name(one.signature), [numbers[task] for task in one.tasks if task in numbers], bool(same_form(one))]
            for one in sorted(result.clusters, key=one_sided_first)
        ],
        "other_reasons": [
            [*map(safe.name, (one.old_signature, one.new_signature)), [numbers[task] for task in one.tasks]]
            for one in result.other_reasons
        ],
    }


def transcripts_by_size(result: CompareResult) -> list[tuple[str, dict[str, Any]]]:
    """The transcripts of flips by the numbers of their tasks, the largest flips beyond noise first."""
    numbers = {task.task: number for number, task in enumerate(result.tasks)}
    told = [flip for flip in result.flips if flip.task in result.transcripts]
    return [
        (str(numbers[flip.task]), _transcripts(result.transcripts[flip.task])) for flip in sorted(told, key=by_size)
    ]


def _head(result: CompareResult) -> dict[str, Any]:
    figures, decision = result.statistics, decision_parts(result, _TO)
    if figures is None or decision is None:
        return {"verdict": counted(len(result.tasks), "task"), "means": "", "tone": "", "lines": []}
    unchanged = [decision.unchanged] if decision.unchanged else []
    return {
        "verdict": safe.name(decision.verdict),
        "means": decision.means,
        "tasks": "; ".join(filter(None, (decision.tasks, decision.doubt))),
        "tone": _TONES.get(figures.verdict, ""),
        "lines": list(map(safe.name, (*unchanged, *difference_sentences(result, figures, _TO)))),
    }


def _about(result: CompareResult) -> list[list[str]]:
    """What was compared: each with what it is called."""
    told = []
    if result.run:
        for side, source in ((Side.OLD, result.run.old), (Side.NEW, result.run.new)):
            told.append([side.value, f"{source_text(source)}, {counted(source.rows, 'row')}"])
        if result.run.options:
            given = ", ".join(f"{key}={value}" for key, value in _options(result.run.options))
            told.append(["options", given])
    else:
        told = [["old", counted(result.old_rows, "row")], ["new", counted(result.new_rows, "row")]]
    told += map(list, join_parts(result))
    return [[what, safe.name(how)] for what, how in told]


def _options(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The options, one that was given several times as often as that."""
    for key, value in given.items():
        yield from ((key, one) for one in (value if isinstance(value, list | tuple) else [value]))


def _note(note: Note) -> str:
    names = () if note.kind in TASKS_IN_JSON_ONLY else note_names(note)
    message = safe.name(note_message(note))
    return f"{message}: {listed(names, 100)}" if names else message


def _task(task: TaskComparison) -> list[Any]:
    return [
        safe.name(task.task) or "''",
        list(Category).index(task.category),
        task.winner.value if task.winner else None,
        _side(task.old),
        _side(task.new),
    ]


def _side(side: TaskSide | None) -> list[Any] | None:
    """Reward as a number and as text, rows, then what is said against them; ends that say nothing are left out."""
    if side is None:
        return None
    solved = f"{side.solved}/{side.rows}" if side.repeated and side.solved is not None else None
    said = [side.masked, side.agent_error, side.failure_kind]
    told = [side.reward, solved or reward_text(side.reward), side.rows, *(text and safe.name(text) for text in said)]
    while told[-1] is None:
        told.pop()
    return told


def _flip(flip: Flip, settings: Mapping[Setting, int]) -> dict[str, Any]:
    tests = flip.tests
    return {
        "old": _evidence(flip.old),
        "new": _evidence(flip.new),
        "broken": [safe.name(one) for one in tests.broken] if tests else [],
        "fixed": [safe.name(one) for one in tests.fixed] if tests else [],
        "not_run": [safe.name(one) for one in tests.not_run] if tests else [],
        "rates": [safe.name(f"{one.test}: {one.old} to {one.new}") for one in tests.changed] if tests else [],
        "same_answer": flip.same_answer,
        "signature": safe.name(flip.signature) if flip.signature else None,
        "repeats": repeats_text(flip.repeats, _TO) if flip.repeats else None,
        "noise": flip.within_noise,
        "settings": [settings[setting] for setting in flip.settings],
        "parted": _parted(flip.parted) if flip.parted else None,
    }


def _parted(found: Parted) -> list[str]:
    """Where the agents parted, then what each did there."""
    where, acts = parted_parts(found)
    return list(map(safe.name, (where, *acts)))


def _settings(flips: Sequence[Flip]) -> dict[Setting, int]:
    """The settings in which attempts differ, each once, with their places: most flips have the same."""
    places: dict[Setting, int] = {}
    for flip in flips:
        for setting in flip.settings:
            places.setdefault(setting, len(places))
    return places


def _as_change(setting: Setting) -> Change:
    """A setting of two attempts, as one of two runs of a row each."""
    return Change(setting.field, {setting.old: 1}, {setting.new: 1}, 1, 1, 1, 1)


def _group(group: GroupFacts) -> list[Any]:
    return [safe.name(group.field), list(map(safe.name, group.values)), group.tasks]


def _named(parts: Sequence[str]) -> list[str]:
    return list(map(safe.name, parts))


def _cost(cost: Cost) -> list[Any]:
    """What it is called, what it was, and the ratio with its interval as far as there is one."""
    ratio = cost.ratio
    return [*_named(cost_parts(cost, _TO)), ratio.times, ratio.ci_low, ratio.ci_high]


def _evidence(evidence: Evidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {
        "source": safe.name(evidence_source(evidence)) if evidence.source else None,
        "why": safe.name(evidence.unavailable) if evidence.unavailable else None,
        "lines": [safe.name(line) if len(line) > 2 * safe.NAME_LIMIT else line for line in evidence.lines],
    }


def _transcripts(both: Transcripts) -> dict[str, Any]:
    return {"old": list(map(_step, both.old)), "new": list(map(_step, both.new)), "rows": list(map(list, both.rows))}


def _step(step: Step) -> list[str | None]:
    parts = (step.role, step.text, step.tool, step.arguments, step.output)
    return [part and several_lines(part) for part in parts]
