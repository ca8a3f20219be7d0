"""What a run's report says of its instances, by whichever version or service it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.scores import shown
from nemo_gym.rollout_compare.schema import CompareInputError, text_of


class Standing(StrEnum):
    """What became of an instance, as far as a list tells."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    EMPTY = "empty_patch"
    INFRA = "infra failure"
    ERROR = "error"
    FAILED = "failed"
    PENDING = "pending"
    SUBMITTED = "submitted"


#: The lists of a report, those that decide first; `incomplete_ids` were never submitted and are in none of them.
LISTS = {
    "infra_failure_ids": Standing.INFRA,
    "resolved_ids": Standing.RESOLVED,
    "resolved": Standing.RESOLVED,
    "empty_patch_ids": Standing.EMPTY,
    "no_generation": Standing.EMPTY,
    "error_ids": Standing.ERROR,
    "no_logs": Standing.ERROR,
    "failed_ids": Standing.FAILED,
    "pending_ids": Standing.PENDING,
    "unresolved_ids": Standing.UNRESOLVED,
    "no_apply": Standing.UNRESOLVED,
    "test_errored": Standing.UNRESOLVED,
    "test_timeout": Standing.UNRESOLVED,
    "install_fail": Standing.ERROR,
    "reset_failed": Standing.ERROR,
    "applied": Standing.UNRESOLVED,
    "completed_ids": Standing.UNRESOLVED,
    "with_logs": Standing.UNRESOLVED,
    "generated": Standing.UNRESOLVED,
    "submitted_ids": Standing.SUBMITTED,
}
#: Lists of the first versions that also say why an instance is not resolved.
_KINDS = ("no_apply", "test_errored", "test_timeout")


class Listed(Struct, frozen=True):
    """An instance in a report.

    Attributes:
        standing: What became of it.
        kind: Why it is not resolved, where that is said.
    """

    standing: Standing
    kind: str | None = None


def listed_in(report: Mapping[str, Any]) -> dict[str, Listed]:
    """The instances of a report, in the order of their names.

    Where a report lists what was submitted and resolved and nothing else, the rest was not resolved.

    Raises:
        CompareInputError: It has no such lists.
    """
    reasons = report.get("failure_reasons")
    reasons = reasons if isinstance(reasons, Mapping) else {}
    found: dict[str, Listed] = {}
    lists = 0
    for name, standing in LISTS.items():
        ids = report.get(name)
        lists += isinstance(ids, list)
        for instance in _ids(name, ids):
            kind = reasons.get(instance)
            kind = text_of(kind) if kind else name if name in _KINDS else None
            found.setdefault(instance, Listed(standing, kind))
    if not lists:
        raise CompareInputError("it has no list of instances")
    both = sorted(set.intersection(*(set(_ids(name, report.get(name))) for name in ("resolved_ids", "unresolved_ids"))))
    if both:
        raise CompareInputError(f"{both[0]} stands in resolved_ids and in unresolved_ids")
    if not {"unresolved_ids", "completed_ids", "error_ids"} & report.keys():
        rest = {name: Listed(Standing.UNRESOLVED) for name, one in found.items() if one.standing is Standing.SUBMITTED}
        found |= rest
    return {name: found[name] for name in sorted(found)}


def _ids(name: str, value: Any) -> Iterator[str]:
    """The ids of a list; under names that do not say that they are of ids reports may have other things, too.

    Raises:
        CompareInputError: It is not a list of ids.
    """
    if value is None or not (isinstance(value, list) or name.endswith("_ids")):
        return
    odd = next((one for one in value if not isinstance(one, str)), None) if isinstance(value, list) else value
    if odd is not None or (isinstance(value, list) and None in value):
        raise CompareInputError(f"{name} is not a list of ids: {shown(odd)} is none")
    yield from value
