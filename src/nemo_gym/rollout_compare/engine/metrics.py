"""Which metrics a run's attempts have, for a run in which no attempt has the one that is the reward."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from math import isnan

from nemo_gym.rollout_compare.producers import could_be_reward, read_again, to_choose_from
from nemo_gym.rollout_compare.schema import CompareInputError, Mask, MaskKind, Row, Wanted
from nemo_gym.rollout_compare.table import Table

#: Of a run without rewards so many rows are asked which metric could be meant.
MOST_LOOKED_AT = 1000

#: Why an attempt is masked whose reward is wanting, whatever else it says.
_LACKING = (MaskKind.NO_REWARD, MaskKind.SAID)


def rewards_meant(table: Table) -> tuple[tuple[str, int], ...]:
    """The metrics that could be meant as the reward, each with how many of the first rows carry it, most first.

    Args:
        table: A run of whose rows none has a reward.
    """
    found = Counter(name for names in _metrics(table, range(len(table))) for name in set(names))
    return tuple(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def check_metric(table: Table, metric: str) -> None:
    """See to it that some attempt has the metric that the user chose: all would be masked without a word.

    Asked are the attempts that are masked for want of a reward alone. A run without such, or of which none has any
    metric, is left alone: it may have failed as a whole.

    Raises:
        CompareInputError: No attempt has it, and there are others.
    """
    if not len(table) or not all(map(isnan, table.reward)):
        return
    lacking = [isinstance(mask, Mask) and mask.kind in _LACKING for mask in table.masked.values]
    rows = (row for row, mask in enumerate(table.masked.ids) if lacking[mask])
    names = [name for names in _metrics(table, rows) for name in set(names)]
    if names and metric not in names:
        raise CompareInputError(
            f"{table.place(0).source.path}: no attempt has a number for the metric {metric!r}; "
            f"{to_choose_from(names, 'attempt')}"
        )


def _metrics(table: Table, rows: Iterable[int]) -> Iterable[Iterable[str]]:
    """The metrics of each of the first of some rows that can be read: as its source says, else by their names."""
    places = [table.place(row) for row in islice(rows, MOST_LOOKED_AT)]
    for i, record in read_again(places, Wanted(row=True), grown=True):
        if not isinstance(record, Exception) and record.row is not None:
            named: Callable[[Row], Iterable[str]] = getattr(places[i].source, "metrics_in", could_be_reward)
            yield named(record.row)
