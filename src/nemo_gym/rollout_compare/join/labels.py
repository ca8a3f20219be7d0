"""What the tasks of two runs are called, so that one task has one label: tasksets and prefixes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct

from nemo_gym.rollout_compare.schema import Identity, Note, Side, label_of
from nemo_gym.rollout_compare.schema import input_labels as labels_of_inputs

_Labels = list[str | None]


class Labels(Struct, frozen=True):
    """What each run's identities are called.

    Attributes:
        of: A run's labels, in the order of its identities.
        prefixes: The prefix that was taken off every label of a run.
        keyed_by_taskset: Whether both runs' labels name the taskset.
        notes: What a reader must know of the labels.
    """

    of: Mapping[Side, Sequence[str | None]]
    prefixes: dict[Side, str | None]
    keyed_by_taskset: bool
    notes: tuple[Note, ...]

    def meet(self) -> bool:
        """Whether the runs share a label."""
        return not _disjoint(self.of)

    def shared(self) -> set[str]:
        """The labels by which the runs meet."""
        return {label for label in set(self.of[Side.OLD]).intersection(self.of[Side.NEW]) if label is not None}


def labels_of(identities: Mapping[Side, Sequence[Identity | None]]) -> Labels:
    """What each run's identities are called, one label for what is one task in both."""
    labels, ambiguous, keyed = _labels(identities)
    prefixes = _strip_prefix(labels)
    return Labels(dict(labels), prefixes, keyed, _notes(identities, ambiguous, keyed))


def input_labels(identities: Mapping[Side, Sequence[Identity | None]]) -> Labels:
    """The same for task inputs: their labels have no prefix or taskset, and no more digits than they need."""
    distinct = {one for named in identities.values() for one in named if isinstance(one, str)}
    called = labels_of_inputs(distinct)
    of = {
        side: [called.get(one) if isinstance(one, str) else None for one in named] for side, named in identities.items()
    }
    return Labels(of, {Side.OLD: None, Side.NEW: None}, False, ())


def _disjoint(labels: Mapping[Side, Sequence[str | None]]) -> bool:
    others = set(labels[Side.NEW])
    others.discard(None)
    return others.isdisjoint(labels[Side.OLD])


def _labels(identities: Mapping[Side, Sequence[Identity | None]]) -> tuple[dict[Side, _Labels], list[str], bool]:
    """What each run's identities are called, the ids that stay ambiguous, and whether both runs name the taskset."""
    tasksets = {side: _tasksets(identities[side]) for side in Side}
    keyed = [side for side in Side if len(tasksets[side]) > 1]
    labels = {side: _own_labels(named, with_taskset=side in keyed) for side, named in identities.items()}
    if len(keyed) == 2:
        _tell_apart(identities, labels)
    if len(keyed) != 1:
        return labels, [], len(keyed) == 2
    (side,) = keyed
    plain, ambiguous = _plain_ids(identities[side], own=tasksets[side.other])
    taken = {task for _, task in plain}
    labels[side] = [
        label if not isinstance(one, tuple) else one[1] if one in plain else _unlike(taken, one, label)
        for one, label in zip(identities[side], labels[side], strict=True)
    ]
    return labels, ambiguous, False


def _unlike(taken: Collection[str], one: Identity, label: str | None) -> str | None:
    """The label of an ambiguous id, its JSON where `S/T` is what another task is called."""
    return json.dumps(one, ensure_ascii=False) if label in taken else label


def _own_labels(identities: Sequence[Identity | None], *, with_taskset: bool) -> _Labels:
    return [one if one is None or type(one) is str else label_of(one, with_taskset=with_taskset) for one in identities]


def _tell_apart(identities: Mapping[Side, Sequence[Identity | None]], labels: dict[Side, _Labels]) -> None:
    """Give different ids of one label (`A/B` and `C`, `A` and `B/C`) labels of their own: their JSON."""
    meant: dict[str | None, set[Identity]] = defaultdict(set)
    for side, named in identities.items():
        for one, label in zip(named, labels[side], strict=True):
            if isinstance(one, tuple):
                meant[label].add(one)
    for side, named in identities.items():
        labels[side] = [
            json.dumps(one, ensure_ascii=False) if isinstance(one, tuple) and len(meant[label]) > 1 else label
            for one, label in zip(named, labels[side], strict=True)
        ]


def _tasksets(identities: Sequence[Identity | None]) -> set[str]:
    if tuple not in set(map(type, identities)):
        return set()
    return {one[0] for one in identities if isinstance(one, tuple)}


def _plain_ids(identities: Iterable[Identity | None], own: Collection[str]) -> tuple[set[tuple[str, str]], list[str]]:
    """The (taskset, id) pairs that a plain id means, and the ids of which nobody can say which pair they mean.

    A plain id means the only pair of that id or, where several tasksets share it, the one in the taskset (`own`) that
    the run with the plain ids names.
    """
    tasksets: dict[str, list[str]] = defaultdict(list)
    for one in identities:
        if isinstance(one, tuple):
            tasksets[one[1]].append(one[0])
    plain = {(names[0], task) for task, names in tasksets.items() if len(names) == 1}
    for task, names in tasksets.items():
        plain.update((name, task) for name in names if name in own)
    clear = {task for _, task in plain}
    return plain, sorted(task for task in tasksets if task not in clear)


def _strip_prefix(labels: dict[Side, _Labels]) -> dict[Side, str | None]:
    """Take the one prefix that all labels of one run have, and the other run's do not, off that run's labels.

    It is tried only where the runs share no label, and never done to both: a prefix without which the runs meet comes
    before any other, and where either run has such a prefix none is taken.
    """
    prefixes: dict[Side, str | None] = {Side.OLD: None, Side.NEW: None}
    if not _disjoint(labels):
        return prefixes
    distinct = {side: {label for label in labels[side] if label is not None} for side in Side}
    own = {side: _own_prefixes(distinct[side], distinct[side.other]) for side in Side}
    meeting = {side: _meeting_prefixes(own[side], distinct[side], distinct[side.other]) for side in Side}
    chosen = meeting if any(meeting.values()) else own
    for side in Side:
        if chosen[side] and not chosen[side.other]:
            prefix = prefixes[side] = chosen[side][0]
            labels[side] = [label and label.removeprefix(prefix + "/") for label in labels[side]]
    return prefixes


def _own_prefixes(labels: Collection[str], others: Collection[str]) -> list[str]:
    """Every PREFIX, the shortest first, such that all labels begin with `PREFIX/` and none of the others does."""
    if not others:
        return []
    first, last = min(labels, default=""), max(labels, default="")  # what these two share, all labels share
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    common = [first[:end] for end, (char, _) in enumerate(shared) if char == "/" and end]
    return [prefix for prefix in common if not any(other.startswith(prefix + "/") for other in others)]


def _meeting_prefixes(prefixes: Iterable[str], labels: Collection[str], others: Collection[str]) -> list[str]:
    """Those of a run's prefixes without which some label is another's."""
    return [prefix for prefix in prefixes if any(label[len(prefix) + 1 :] in others for label in labels)]


def _notes(
    identities: Mapping[Side, Sequence[Identity | None]], ambiguous: list[str], both_keyed: bool
) -> tuple[Note, ...]:
    notes = []
    for side in Side:
        names = sorted(_tasksets(identities[side]))
        if len(names) > 1:
            how = (
                "tasks join within their taskset" if both_keyed else "plain ids join where they can mean one task only"
            )
            notes.append(Note(f"{how}; the {side} run names {len(names)} tasksets", tuple(names)))
    stated = {side: _tasksets(identities[side]) for side in Side}
    if all(stated.values()) and stated[Side.OLD].isdisjoint(stated[Side.NEW]):
        both = "; ".join(f"{side} {', '.join(sorted(stated[side]))}" for side in Side)
        notes.append(Note(f"the runs name different tasksets, and tasks join by their ids alone: {both}"))
    if ambiguous:
        notes.append(
            Note("ids that several tasksets share stay under TASKSET/ID and join no plain id", tuple(ambiguous))
        )
    return tuple(notes)
