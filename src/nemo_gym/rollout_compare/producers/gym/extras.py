"""How a rollout was run and what that cost, as far as its row says so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter, gt
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.beside import Beside
from nemo_gym.rollout_compare.producers.gym.fields import (
    AGENT_PATH,
    HARNESS,
    HARNESS_VERSION,
    INCOMPLETE_PATH,
    INPUT_PATH,
    INSTRUCTIONS,
    INSTRUCTIONS_PATH,
    LATENCY,
    METADATA_PATH,
    MODEL_PATH,
    NO_SETTINGS,
    PARAMETERS,
    PERFORMANCE_PATH,
    SERVER_PATH,
    SETTINGS_OBJECT,
    SKILLS_PATH,
    STATUS_PATH,
    STEPS_PATH,
    TOO_LONG,
    TURNS_PATH,
    USAGE,
    USAGE_PATH,
    VERSION_ENDING,
)
from nemo_gym.rollout_compare.producers.gym.transcript import transcript_of_values
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.row_format import Extras, Said
from nemo_gym.rollout_compare.schema import setting_text, setting_texts, summed_up

SYSTEM_PROMPT = "system prompt"

_SYSTEM = ("system", "developer")
_CALL, _GIVEN = "function_call", "function_call_output"
_OUTPUT_ENDING, _CALL_ENDING = "_output", "_call"
_USER = "user"

_USUAL = (_CALL, _GIVEN, "message", "reasoning")
_TYPE, _ROLE = attrgetter("type"), attrgetter("role")

Columns = Mapping[str, Sequence[Any]]


class _Item(Struct, frozen=True, gc=False):
    """What is read of a step of a transcript while all rows are read."""

    type: Any = None
    role: Any = None


_ITEMS = list[_Item | bool | int | float | str | list[Any] | None] | bool | int | float | str | None


def said(columns: Columns, beside: Sequence[Any]) -> Said:
    """What rows say of their settings and measures, by the columns of their fields and what stands beside the input."""
    steps = columns[STEPS_PATH]
    return Said(_settings(columns, beside), dict(_measures(columns)), _any(steps))


def _any(steps: Sequence[Any]) -> bytes:
    if steps.count(None) == len(steps):
        return b""
    return bytes(isinstance(items, list) and bool(items) for items in steps)


def _settings(columns: Columns, beside: Sequence[Any]) -> dict[str, Sequence[str | None]]:
    settings = _parameters(beside)
    for path, made in _TEXTS.items():
        found = columns[path]
        if found.count(None) < len(found):
            for name, texts in made(found).items():
                if texts.count(None) == len(texts):
                    continue
                known = settings.get(name)
                settings[name] = [one or other for one, other in zip(texts, known, strict=True)] if known else texts
    return settings


def _parameters(beside: Sequence[Any]) -> dict[str, Sequence[str | None]]:
    """The settings that stand beside the input: `_made` says them for each row, mostly the same object."""
    distinct = {id(texts): dict(texts) for texts in beside if texts}
    if len(distinct) == 1 and None not in beside:
        (texts,) = distinct.values()
        return {name: [text] * len(beside) for name, text in texts.items()}
    names = dict.fromkeys(name for texts in distinct.values() for name in texts)
    nothing: dict[str, str] = {}
    return {name: [distinct.get(id(texts), nothing).get(name) for texts in beside] for name in names}


def _made(fields: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The settings in the fields beside the input."""
    known = {name: value for name, value in fields.items() if name in PARAMETERS}
    others = {name: value for name, value in fields.items() if name not in PARAMETERS and name != INSTRUCTIONS}
    texts = setting_texts({**known, "other parameters": others})
    instructions = fields.get(INSTRUCTIONS)
    if isinstance(instructions, str) and instructions:
        texts[SYSTEM_PROMPT] = summed_up(instructions)
    return tuple(texts.items())


def _one(name: str, text: Callable[[Any], str | None]) -> Callable[[Sequence[Any]], dict[str, list[str | None]]]:
    """A setting of the given name; equal short values are looked at once."""

    def texts(values: Sequence[Any]) -> dict[str, list[str | None]]:
        known: dict[str, str | None] = {}
        return {name: [_remembered(known, value, text) for value in values]}

    return texts


def _remembered(known: dict[str, str | None], value: Any, text: Callable[[Any], str | None]) -> str | None:
    if not value or not isinstance(value, str):
        return text(value) if value else None
    if value not in known:
        known[value] = text(value)
    return known[value]


def _named(value: Any) -> str | None:
    """What is called by its name, such as an agent."""
    name = value.get("name") if isinstance(value, Mapping) else None
    return setting_text("name", name if isinstance(name, str) and name else value)


def _system_prompts(values: Sequence[Any]) -> dict[str, list[str | None]]:
    if list not in set(map(type, values)):  # rows without a transcript are short, and many
        return {}
    known: dict[str, str] = {}
    texts: list[str | None] = []
    for value in values:
        prompt = system_prompt(value)
        if prompt and prompt not in known:
            known[prompt] = summed_up(prompt)
        texts.append(known[prompt] if prompt else None)
    return {SYSTEM_PROMPT: texts}


def system_prompt(asked: Any) -> str | None:
    """The system messages that the input begins with, None where it begins with another."""
    if not isinstance(asked, list):
        return None
    texts: list[str] = []
    for message in asked:
        if not isinstance(message, Mapping) or message.get("role") not in _SYSTEM:
            break
        content = message.get("content")
        parts = [content] if isinstance(content, str) else [dig(part, ("text",)) for part in content or ()]
        texts.extend(text for text in parts if isinstance(text, str))
    return "\n".join(texts) or None


def _versions(values: Sequence[Any]) -> dict[str, list[str | None]]:
    """The harness and the versions that the response's metadata name."""
    harness: list[str | None] = [None] * len(values)
    versions: list[str | None] = [None] * len(values)
    known: dict[str, tuple[str | None, str | None]] = {}
    for i in compress(range(len(values)), values):
        if not isinstance(values[i], Mapping):
            continue
        held = {name: value for name, value in values[i].items() if name == HARNESS or name.endswith(VERSION_ENDING)}
        if held:
            said = repr(held)
            if said not in known:
                known[said] = _harness(held)
            harness[i], versions[i] = known[said]
    return {"harness": harness, "versions": versions}


def _harness(held: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The harness with its version, and the other versions."""
    ran = " ".join(str(held[name]) for name in (HARNESS, HARNESS_VERSION) if held.get(name))
    others = {name: value for name, value in held.items() if value and name not in (HARNESS, HARNESS_VERSION)}
    return setting_text("harness", ran or None), setting_text("versions", others)


#: The settings by the fields that tell them.
_TEXTS: dict[str, Callable[[Sequence[Any]], Mapping[str, list[str | None]]]] = {
    MODEL_PATH: _one("model", lambda value: setting_text("model", value)),
    AGENT_PATH: _one("agent", _named),
    SERVER_PATH: _one("environment server", _named),
    SKILLS_PATH: _one("skills", _named),
    METADATA_PATH: _versions,
    INPUT_PATH: _system_prompts,
}


def _measures(columns: Columns) -> Iterator[tuple[str, list[float]]]:
    """The measures that some row tells."""
    usage = columns[USAGE_PATH]
    if any(usage):
        told = [used if isinstance(used, dict) else {} for used in usage]
        for name, names in USAGE.items():
            values = [used.get(names[0]) for used in told]
            for inner in names[1:]:
                values = [dig(value, (inner,)) for value in values]
            if values.count(None) < len(values):
                yield from _told(name, list(map(number, values)))
    steps = columns[STEPS_PATH]
    taken = [_taken(items) for items in steps] if any(steps) else []
    said_turns = columns[TURNS_PATH]
    if taken or said_turns.count(None) < len(said_turns):
        counted = [turns for turns, _ in taken] if taken else [math.nan] * len(said_turns)
        turns = [own if value is None else number(value) for value, own in zip(said_turns, counted, strict=True)]
        yield from _told("turns", turns)
    if taken:
        yield from _told("tool-calls", [calls for _, calls in taken])
    performance = columns[PERFORMANCE_PATH]
    if any(performance):
        yield from _told("seconds", [number(dig(value, (LATENCY,))) / 1000 for value in performance])
    incomplete, status = columns[INCOMPLETE_PATH], columns[STATUS_PATH]
    if any(usage) or any(incomplete) or any(status):
        yield from _told("truncated", list(map(_truncated, usage, incomplete, status)))


def _told(name: str, values: list[float]) -> Iterator[tuple[str, list[float]]]:
    if not all(map(math.isnan, values)):
        yield name, values


def number(value: Any) -> float:
    """A measure as a number; NaN for what is none, or is below 0."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e300:
        return float(value)
    return math.nan


def _taken(items: Any) -> tuple[float, float]:
    """How many turns the model took and how many tools it called: a turn ends where an answer of another begins."""
    if not isinstance(items, list) or not items:
        return math.nan, math.nan
    try:
        kinds = list(map(_TYPE, items))
    except AttributeError:  # read by the plain decoder, or not an object
        items = [
            item if isinstance(item, _Item) else _Item(dig(item, ("type",)), dig(item, ("role",))) for item in items
        ]
        kinds = list(map(_TYPE, items))
    known = sum(map(kinds.count, _USUAL))
    if known == len(kinds) and _USER not in map(_ROLE, items):
        own = [kind != _GIVEN for kind in kinds]
        calls = kinds.count(_CALL)
    else:
        own = [not (_ends(one.type, _OUTPUT_ENDING) or one.role == _USER) for one in items]
        calls = sum(_ends(kind, _CALL_ENDING) for kind in kinds)
    return own[0] + sum(map(gt, own[1:], own)), calls


def _ends(kind: Any, ending: str) -> bool:
    return isinstance(kind, str) and kind.endswith(ending)


def _truncated(usage: Any, incomplete: Any, status: Any) -> float:
    """1 for an answer that a limit cut off, 0 for another; NaN where there is none."""
    reason = dig(incomplete, ("reason",))
    if reason or status == "incomplete":
        return float(reason in TOO_LONG or not reason)
    return 0.0 if usage or status else math.nan


def _whole(values: Sequence[Any]) -> Mapping[str, str]:
    instructions, asked = values
    prompt = instructions if isinstance(instructions, str) and instructions else system_prompt(asked)
    return {SYSTEM_PROMPT: prompt} if prompt else {}


EXTRAS = Extras(
    beside=Beside(SETTINGS_OBJECT, NO_SETTINGS, _made),
    paths=(
        MODEL_PATH,
        USAGE_PATH,
        STATUS_PATH,
        INCOMPLETE_PATH,
        STEPS_PATH,
        AGENT_PATH,
        SERVER_PATH,
        SKILLS_PATH,
        TURNS_PATH,
        PERFORMANCE_PATH,
    ),
    kinds=((STEPS_PATH, _ITEMS),),
    said=said,
    steps=(INPUT_PATH, STEPS_PATH),
    transcript=transcript_of_values,
    texts=(INSTRUCTIONS_PATH, INPUT_PATH),
    settings=_whole,
)
