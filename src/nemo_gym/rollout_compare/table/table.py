"""One run as columns: what its rows say, a few bytes a row, whatever the rows' size.

The table of a run is the tables of its pieces put together in order (`Table.extend`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nemo_gym.rollout_compare.schema import Attempt, Batch, Direction, Fields, Mark, Mask, Note, Place, Source
from nemo_gym.rollout_compare.table.columns import Column, HalfColumn, KeyColumn
from nemo_gym.rollout_compare.table.named import Measures, Settings
from nemo_gym.rollout_compare.table.places import Places


class Table:
    """One run's rows, in columns; row i is the i-th of the run.

    Attributes:
        fields: The names under which rows may say which task they are of.
        reward: The finite reward, or NaN.
        masked: Why the row does not count.
        agent_error: The agent error.
        failure_kind: The failure kind of an unmasked row.
        task_index: The task's position in the run's input file, as far as recorded.
        rollout_index: The attempt's number, as far as recorded.
        inputs: A number for what the system was asked, equal for equal inputs; 0 where the row does not tell.
        has_output: For each row 1 if it may have verifier output, else 0.
        has_transcript: For each row 1 if it tells what the agent did, else 0.
        settings: What the rows were run with, by name.
        measures: What they cost, by name.
        keys: The tasks named by each field that may be the key.
        anonymous: The failed attempts that name no task by any of the usual fields, in the order of rows.
        finished: For each shard, by its number, the rows of its rollouts file.
        failed: For each shard the failed attempts beside it.
        planned: For each shard the rows that were planned before the run, where they are known.
        incomplete: Whether lines were left out.
        notes: What a reader must know of how the rows were read.
        places: Where rows can be read again.
        directions: What the run's own files say of which of two rewards is the better one.
    """

    def __init__(self, fields: Fields) -> None:
        """Make a table without rows."""
        self.fields = fields
        self.reward = array("d")
        self.masked: Column[Mask] = Column()
        self.agent_error: Column[Mark] = Column()
        self.failure_kind: Column[str] = Column()
        self.task_index = HalfColumn()
        self.rollout_index = HalfColumn()
        self.inputs = array("Q")
        self.has_output = bytearray()
        self.has_transcript = bytearray()
        self.settings = Settings()
        self.measures = Measures()
        self.keys = {path: KeyColumn() for path in fields.all()}
        self.anonymous: list[int] = []
        self.directions: list[Direction] = []
        self.finished: dict[int, list[range]] = {}
        self.failed: dict[int, list[range]] = {}
        self.planned: dict[int, Table] = {}
        self.notes: list[Note] = []
        self.incomplete = False
        self.places = Places()

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.reward)

    @property
    def masked_rows(self) -> int:
        """How many rows do not count."""
        return len(self) - self.masked.ids.count(0)

    def place(self, row: int) -> Place:
        """Where a row can be read again."""
        output, transcript = bool(self.has_output[row]), bool(self.has_transcript[row])
        return self.places.of(row, has_output=output, has_transcript=transcript)

    def has_voters(self) -> bool:
        """Whether any row has a say in what the key is."""
        return len(self) > len(self.anonymous)

    def attempts_of(self, rows: Iterable[int]) -> Iterator[Attempt | None]:
        """The attempt that each of the given rows is of, as far as recorded."""
        for row in rows:
            index = self.task_index.value(self.task_index.codes[row])
            rollout = self.rollout_index.value(self.rollout_index.codes[row])
            yield None if index is None or rollout is None else (index, rollout)

    @property
    def shards(self) -> Sequence[int]:
        """The numbers of the shards."""
        return sorted(self.finished.keys() | self.failed.keys())

    def rows_of(self, shard: int) -> Sequence[int]:
        """The rows of a shard's rollouts file."""
        return _rows(self.finished.get(shard, []))

    def rows_beside(self, shard: int) -> Sequence[int]:
        """The rows of a shard's rollouts file, then the failed attempts beside it."""
        return _rows([*self.finished.get(shard, []), *self.failed.get(shard, [])])

    def open_fields(self) -> tuple[str, ...]:
        """The fields that may still be the key."""
        return tuple(path for path, column in self.keys.items() if column.first_missing is None)

    def add(self, batch: Batch, source: Source, *, shard: int = 0, failed: bool = False) -> None:
        """Add rows as a reader hands them over.

        Args:
            batch: The rows.
            source: What they can be read again from.
            shard: The number of the shard that they are of.
            failed: Whether they are the failed attempts beside the shard's rollouts.
        """
        first, rows = len(self), len(batch)
        if not rows:
            return
        self.reward.extend(array("d", batch.rewards))
        self.masked.append_all(batch.masked)
        self.agent_error.append_all(batch.agent_errors)
        self.failure_kind.append_all(batch.failure_kinds)
        self.task_index.append_all(batch.task_indexes)
        self.rollout_index.append_all(batch.rollout_indexes)
        self.inputs.extend(batch.inputs)
        self.has_output += batch.has_output
        self.has_transcript += batch.has_transcript or bytes(rows)
        self.settings.append_all(batch.settings, first, rows)
        self.measures.append_all(batch.measures, first, rows)
        for path, named in batch.identities.items():
            self.keys[path].append_keys(named, first, batch.has_a_say)
        if batch.has_a_say is not None:
            self.anonymous.extend(first + i for i, says in enumerate(batch.has_a_say) if not says)
        _append((self.failed if failed else self.finished).setdefault(shard, []), range(first, first + rows))
        self.places.append_all(source, batch.lines, batch.offsets)

    def add_shard(self, other: Table, number: int) -> None:
        """Add the rows of a whole rollouts file, which is the shard of the given number."""
        first = len(self)
        if first:
            self.extend(other, shard=number)
        else:
            run = {
                name: vars(self)[name] for name in ("finished", "failed", "planned", "anonymous", "notes", "directions")
            }
            vars(self).update({**vars(other), **run})
            self.finished = {number: [range(len(other))]}
        self.notes.extend(other.notes)
        self.incomplete = self.incomplete or other.incomplete

    def rest(self) -> None:
        """Give back the memory that only growing takes; the table may grow again all the same."""
        columns: list[Column[Any]] = [self.masked, self.agent_error, self.failure_kind, *self.settings.columns.values()]
        for column in (*columns, *self.keys.values()):
            column.rest()

    def without_tasks(self) -> Table:
        """The same rows without what tells which task and attempt a row is of: that memory can be given back."""
        rest = Table(Fields(()))
        kept = ("reward", "masked", "agent_error", "failure_kind", "has_output", "notes", "places")
        shown = ("has_transcript", "settings", "measures")
        vars(rest).update({name: vars(self)[name] for name in (*kept, *shown)})
        return rest

    def extend(self, other: Table, lines_before: int = 0, *, shard: int = 0) -> None:
        """Add the rows of a piece of a rollouts file.

        Args:
            other: The piece's rows.
            lines_before: How many lines the file has before them.
            shard: The number of the shard whose file it is.
        """
        first = len(self)
        for path, column in self.keys.items():
            column.extend_keys(other.keys[path], first)
        self.reward.extend(other.reward)
        self.masked.extend(other.masked)
        self.agent_error.extend(other.agent_error)
        self.failure_kind.extend(other.failure_kind)
        self.task_index.extend(other.task_index)
        self.rollout_index.extend(other.rollout_index)
        self.inputs.extend(other.inputs)
        self.has_output += other.has_output
        self.has_transcript += other.has_transcript
        self.settings.extend(other.settings, first, len(other))
        self.measures.extend(other.measures, first, len(other))
        _append(self.finished.setdefault(shard, []), range(first, first + len(other)))
        self.places.extend(other.places, lines_before)


def _append(spans: list[range], span: range) -> None:
    """Add a span of rows to those of a shard; one that goes on from the last is one with it."""
    if spans and spans[-1].stop == span.start:
        spans[-1] = range(spans[-1].start, span.stop)
    else:
        spans.append(span)


def _rows(spans: Sequence[range]) -> Sequence[int]:
    return spans[0] if len(spans) == 1 else [row for span in spans for row in span]
