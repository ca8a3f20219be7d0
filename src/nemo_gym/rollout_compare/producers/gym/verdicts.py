"""What a row says beside its reward: which single tests passed, and what the agent answered in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nemo_gym.rollout_compare.producers.chat import content_text
from nemo_gym.rollout_compare.producers.gym.fields import ANSWER_PATHS
from nemo_gym.rollout_compare.producers.json_rows import dig, parse_value
from nemo_gym.rollout_compare.producers.verdicts import tests_of_report


def tests_of(values: Sequence[Any]) -> Mapping[str, str] | None:
    """Single tests by name, as SWE-bench reports them; None where no value is such a report."""
    status, report = values
    instances = report.values() if isinstance(report, Mapping) else ()
    return tests_of_report([status, *(dig(instance, ("tests_status",)) for instance in instances)])


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
            text = content_text(item.get("content"))
            if text.strip():
                return text
    return None


def _read(written: bytes) -> Any:
    """An item as it is written; None where it cannot be of the assistant."""
    if b"assistant" not in written and b"\\u" not in written:
        return None
    return parse_value(written)
