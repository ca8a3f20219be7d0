"""What the agent did in a rollout: the messages it was given, then the items of the response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nemo_gym.rollout_compare.producers.chat import content_text
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.schema import Step, text_of

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_CALL, _OUTPUT = "_call", "_output"

#: What a call that is not of a function was made with, in the fields that its kinds have.
_ARGUMENTS = ("arguments", "input", "action", "code", "queries", "query")


def transcript_of_values(values: Sequence[Any]) -> tuple[Step, ...] | None:
    """The steps of a row by its input and its response's output; None where the response has none."""
    asked, items = values
    if not isinstance(items, list) or not items:
        return None
    given = [asked] if isinstance(asked, str) else asked if isinstance(asked, list) else []
    return tuple(_steps([*given, *items]))


def _steps(items: Sequence[Any]) -> Iterator[Step]:
    """A step for each item; what a call gave is its output where the answer names the call, else a step of its own."""
    called = {_call_id(item) for item in items if _kind(item).endswith(_CALL)} - {None}
    outputs = {_call_id(item): content_text(item.get("output")) for item in items if _kind(item).endswith(_OUTPUT)}
    for item in items:
        kind = _kind(item)
        if isinstance(item, str):
            yield Step("user", item)
        elif not isinstance(item, Mapping):
            continue
        elif kind.endswith(_CALL):
            output = outputs.get(_call_id(item)) if _call_id(item) in called else None
            yield Step("assistant", "", _tool(item, kind), _arguments(item), output)
        elif kind.endswith(_OUTPUT):
            if _call_id(item) not in called:
                yield Step("tool", content_text(item.get("output")))
        elif kind == "reasoning":
            text = content_text(item.get("summary")) or content_text(item.get("content"))
            if text:
                yield Step("reasoning", text)
        else:
            yield Step(_ROLES.get(str(item.get("role")), "assistant"), content_text(item.get("content")))


def _kind(item: Any) -> str:
    kind = dig(item, ("type",))
    return kind if isinstance(kind, str) else ""


def _call_id(item: Any) -> str | None:
    name = dig(item, ("call_id",))
    return name if isinstance(name, str) else None


def _tool(item: Mapping[str, Any], kind: str) -> str:
    name = item.get("name")
    return name if isinstance(name, str) and name else kind.removesuffix(_CALL)


def _arguments(item: Mapping[str, Any]) -> str:
    held = next((item[name] for name in _ARGUMENTS if item.get(name) is not None), "")
    return text_of(held)
