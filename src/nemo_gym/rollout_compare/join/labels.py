"""What the tasks of two runs are called, so that one task has one label: tasksets and prefixes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from nemo_gym.rollout_compare.schema import Identity, Note, NoteKind, Side, label_of
from nemo_gym.rollout_compare.schema import input_labels as labels_of_inputs

_Labels = list[str | None]

#: A prefix has no more parts than this.
_MOST_PARTS = 64


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
    keyed = [side for side in Side if len(_tasksets(identities[side])) > 1]
    if len(keyed) == 1:  # what the other run names are ids without a taskset, so these are what may have a prefix
        labels, ambiguous, prefixes = _one_keyed(identities, keyed[0])
    else:
        labels = {side: _own_labels(named, with_taskset=bool(keyed)) for side, named in identities.items()}
        if keyed:
            _tell_apart(identities, labels)
        ambiguous, prefixes = [], find_prefix(labels)
        labels = {side: _without_prefix(labels[side], prefixes[side]) for side in Side}
    return Labels(dict(labels), prefixes, len(keyed) == 2, _notes(identities, ambiguous, len(keyed) == 2))


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


def _one_keyed(
    identities: Mapping[Side, Sequence[Identity | None]], keyed: Side
) -> tuple[dict[Side, _Labels], list[str], dict[Side, str | None]]:
    """The labels where one run's tasks have tasksets, the ids that stay ambiguous, and what was stripped."""
    labels = {side: _own_labels(named, with_taskset=False) for side, named in identities.items()}
    prefixes = find_prefix(labels)
    labels = {side: _without_prefix(labels[side], prefixes[side]) for side in Side}
    named: list[Identity | None] = [
        (one[0], bare) if isinstance(one, tuple) and bare is not None else bare
        for one, bare in zip(identities[keyed], labels[keyed], strict=True)
    ]
    plain, ambiguous = _plain_ids(named, own=_tasksets(identities[keyed.other]))
    taken = {task for _, task in plain}
    labels[keyed] = [
        bare if not isinstance(one, tuple) or one in plain else _unlike(taken, one)
        for one, bare in zip(named, labels[keyed], strict=True)
    ]
    return labels, ambiguous, prefixes


def _unlike(taken: Collection[str], one: tuple[str, str]) -> str:
    """The label of an ambiguous id, its JSON where `S/T` is what another task is called."""
    label = label_of(one, with_taskset=True)
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


def find_prefix(labels: Mapping[Side, Sequence[str | None]]) -> dict[Side, str | None]:
    """The one prefix, with its slash, that all labels of one run have and the other run's do not.

    It is looked for only where the runs share no label, and never found for both: a prefix without which the runs meet
    comes before any other, and where either run has such a prefix the other has none.
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
            prefixes[side] = chosen[side][0]
    return prefixes


def _without_prefix(labels: _Labels, prefix: str | None) -> _Labels:
    return [label and label.removeprefix(prefix) for label in labels] if prefix else labels


def _own_prefixes(labels: Collection[str], others: Collection[str]) -> list[str]:
    """Every `PREFIX/`, the shortest first, with which all labels and none of the others begin.

    Only the first parts of a label are looked at: the cost is that of the labels, however many slashes they have.
    """
    if not others:
        return []
    first, last = min(labels, default=""), max(labels, default="")  # what these two share, all labels share
    shared = _common(first, last)
    with_others = max(_common(first, other) for other in _neighbours(first, others))
    ends = (end + 1 for end, char in enumerate(first[:shared]) if char == "/" and end and end + 1 > with_others)
    return [first[:end] for end in islice(ends, _MOST_PARTS)]


def _neighbours(text: str, others: Collection[str]) -> list[str]:
    """The others that come just before and just after a text: none has a longer beginning in common with it."""
    before = max((other for other in others if other <= text), default=None)
    after = min((other for other in others if other > text), default=None)
    return [other for other in (before, after) if other is not None]


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (left, right) in pairs if left != right), min(len(one), len(other)))


def _meeting_prefixes(prefixes: Iterable[str], labels: Collection[str], others: Collection[str]) -> list[str]:
    """Those of a run's prefixes without which some label is another's."""
    return [prefix for prefix in prefixes if any(label[len(prefix) :] in others for label in labels)]


def _notes(
    identities: Mapping[Side, Sequence[Identity | None]], ambiguous: list[str], both_keyed: bool
) -> tuple[Note, ...]:
    old, new = (tuple(sorted(_tasksets(identities[side]))) for side in Side)
    how = NoteKind.TASKSETS_JOIN if both_keyed else NoteKind.PLAIN_IDS_JOIN
    sides = [side for side, names in zip(Side, (old, new), strict=True) if len(names) > 1]
    notes = [Note(how, side, tasksets=(old, new)) for side in sides]
    if old and new and set(old).isdisjoint(new):
        notes.append(Note(NoteKind.OTHER_TASKSETS, tasksets=(old, new)))
    if ambiguous:
        notes.append(Note(NoteKind.AMBIGUOUS_IDS, tasks=tuple(ambiguous)))
    return tuple(notes)
