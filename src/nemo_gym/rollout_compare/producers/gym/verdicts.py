"""What a row says beside its reward: which single tests passed, and what the agent answered in the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nemo_gym.rollout_compare.producers.gym.fields import ANSWER_PATHS
from nemo_gym.rollout_compare.producers.json_rows import parse_object

_OUTCOMES = {"success": "passed", "failure": "failed"}


def tests_of(values: Sequence[Any]) -> Mapping[str, str] | None:
    """Single tests by name, as SWE-bench reports them; None where no value is such a report.

    A report has lists of names under `success` and `failure`, by the kind of test: `FAIL_TO_PASS`, `PASS_TO_PASS`.
    """
    found: dict[str, str] = {}
    for status in _statuses(values):
        for kind in status.values():
            for word, outcome in _OUTCOMES.items():
                names = kind.get(word) if isinstance(kind, Mapping) else None
                found |= {name: outcome for name in names if isinstance(name, str)} if isinstance(names, list) else {}
    return found or None


def _statuses(values: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    status, report = values
    if isinstance(status, Mapping):
        yield status
    for instance in report.values() if isinstance(report, Mapping) else ():
        if isinstance(instance, Mapping) and isinstance(instance.get("tests_status"), Mapping):
            yield instance["tests_status"]


def answer_of(values: Sequence[Any]) -> str | None:
    """The patch, or the last text of the assistant; None where there is neither."""
    *patches, output = values
    patch = next((patch for patch in patches if isinstance(patch, str) and patch.strip()), None)
    return patch or _last_text(output)


#: The items of a transcript are left as they are written: only the last message is looked at.
ANSWER_KINDS = ((ANSWER_PATHS[-1], list[msgspec.Raw] | None),)


def _last_text(output: Any) -> str | None:
    for item in reversed(output) if isinstance(output, list) else ():
        if isinstance(item, msgspec.Raw):
            item = _read(bytes(item))  # noqa: PLW2901  # the same item
        if isinstance(item, Mapping) and item.get("role") == "assistant":
            text = _text(item.get("content"))
            if text.strip():
                return text
    return None


def _read(written: bytes) -> Any:
    """An item as it is written; None where it cannot be of the assistant."""
    if b"assistant" not in written and b"\\u" not in written:
        return None
    return parse_object(b'{"":%b}' % written)[""]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "".join(text for text in texts if isinstance(text, str))
