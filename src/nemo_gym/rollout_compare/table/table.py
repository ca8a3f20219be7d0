"""One run as columns: what its rows say, a few bytes a row, whatever the rows' size.

The table of a run is the tables of its pieces put together in order (`Table.extend`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from nemo_gym.rollout_compare.producers.gym.asked import INPUT_PATH, input_numbers
from nemo_gym.rollout_compare.producers.gym.facts import (
    ATTEMPT_PATHS,
    OUTPUT_PATHS,
    RESULT_PATHS,
    FailedAttempt,
    label_for_message,
    results_of,
)
from nemo_gym.rollout_compare.producers.json_rows import RowDecoder
from nemo_gym.rollout_compare.schema.marks import Mark, Mask
from nemo_gym.rollout_compare.schema.notes import Note
from nemo_gym.rollout_compare.schema.result import (
    KEY_CANDIDATES,
    Attempt,
    CompareInputError,
    Row,
    RowSource,
    key_paths,
)
from nemo_gym.rollout_compare.table.columns import Column, HalfColumn, KeyColumn, halves_of, identities_of
from nemo_gym.rollout_compare.table.places import MemoryRow, Origins

Values = tuple[Any, ...]
"""What a decoder gives for a row: the values at the paths of `decoder_for`, in their order."""

RESULTS = len(RESULT_PATHS)
INPUT = RESULTS + len(ATTEMPT_PATHS)

#: The task's position in the input file of its run.
INDEX_PATH = ATTEMPT_PATHS[0]


@lru_cache(maxsize=32)
def decoder_for(fields: Sequence[str]) -> RowDecoder:
    """What gives the values of a row that a table takes, those of the fields that may be the key last."""
    return RowDecoder((*RESULT_PATHS, *ATTEMPT_PATHS, INPUT_PATH, *OUTPUT_PATHS, *fields))


class Failure(NamedTuple):
    """A failed attempt, and the rows beside which it is recorded."""

    row: int
    beside: range


class Table:
    """One run's rows, in columns; row i is the i-th of the run.

    Attributes:
        key: The field that was said to name the task, None where it is to be found.
        reward: The finite reward, or NaN.
        masked: Why the row does not count.
        agent_error: The agent error.
        failure_kind: The failure kind of an unmasked row.
        task_index: The task's position in the run's input file, as far as recorded.
        rollout_index: The attempt's number, as far as recorded.
        inputs: A number for what the system was asked, as `input_numbers` gives it; 0 where the row does not tell.
        has_output: For each row 1 if it may have verifier output, else 0.
        keys: The tasks named by each field that may be the key.
        failures: The failed attempts.
        anonymous: The failed attempts that name no task by any of these fields.
        shards: The rows of each rollouts file; those after the last are failed attempts.
        planned: The rows that were planned before the run, each table with the rows that it was planned for.
        incomplete: Whether lines were left out.
        notes: What a reader must know of how the rows were read.
        origins: Where rows of files can be read again.
        memory: The rows themselves where they are at hand.
    """

    def __init__(self, key: str | None = None) -> None:
        """Make a table without rows."""
        self.key = key
        self.reward = array("d")
        self.masked: Column[Mask] = Column()
        self.agent_error: Column[Mark] = Column()
        self.failure_kind: Column[str] = Column()
        self.task_index = HalfColumn()
        self.rollout_index = HalfColumn()
        self.inputs = array("q")
        self.has_output = bytearray()
        self.keys = {path: KeyColumn() for path in key_paths(key)}
        self.failures: list[Failure] = []
        self.anonymous: list[Failure] = []
        self.shards: list[range] = []
        self.planned: list[tuple[range, Table]] = []
        self.notes: list[Note] = []
        self.incomplete = False
        self.origins = Origins()
        self.memory: Sequence[Row] = ()

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.reward)

    @property
    def masked_rows(self) -> int:
        """How many rows do not count."""
        return len(self) - self.masked.ids.count(0)

    def origin(self, row: int) -> RowSource:
        """Where a row can be read again."""
        if self.memory:
            return MemoryRow(self.memory[row], f"row {row + 1}")
        return self.origins.of(row, has_output=bool(self.has_output[row]))

    def has_voters(self) -> bool:
        """Whether any row has a say in what the key is."""
        return len(self) > len(self.anonymous)

    def attempts(self, rows: range) -> set[Attempt]:
        """The attempts that the given rows are of, as far as recorded."""
        return {attempt for attempt in self.attempts_of(rows) if attempt}

    def attempts_of(self, rows: Iterable[int]) -> Iterator[Attempt | None]:
        """The attempt that each of the given rows is of, as far as recorded."""
        for row in rows:
            index = self.task_index.value(self.task_index.codes[row])
            rollout = self.rollout_index.value(self.rollout_index.codes[row])
            yield None if index is None or rollout is None else (index, rollout)

    def fields(self) -> tuple[str, ...]:
        """The fields that may still be the key."""
        return tuple(path for path, column in self.keys.items() if column.first_missing is None)

    def add(
        self, columns: Sequence[Sequence[Any]], fields: Sequence[str] | None = None, *, beside: range | None = None
    ) -> None:
        """Add rows by the values that a decoder gives for them; failed attempts are beside the rows of a shard.

        Args:
            columns: The rows' values, for each of the decoder's paths.
            fields: The decoder's fields, among which are all that may still be the key; None for all that ever may.
            beside: The rows that failed attempts are recorded with; their values are those of all fields.

        Raises:
            CompareInputError: A value breaks a rule; the text does not say in which row, and the table is as before.
            RecursionError: A value is nested too deeply; the table is as before.
        """
        rewards, masked, errors, kinds = results_of(columns[:RESULTS])
        index, rollout, asked, *others = columns[RESULTS:]
        outputs, keys = others[: len(OUTPUT_PATHS)], others[len(OUTPUT_PATHS) :]
        halves = halves_of(index), halves_of(rollout)
        inputs = input_numbers(asked)
        identities = [identities_of(values) for values in keys]

        first = len(self)
        self.reward.extend(array("d", rewards))
        self.masked.append_all(masked)
        self.agent_error.append_all(errors)
        self.failure_kind.append_all(kinds)
        self.task_index.append_all(halves[0])
        self.rollout_index.append_all(halves[1])
        self.has_output += _any_said(outputs)
        self.inputs.extend(inputs)
        has_a_say: Sequence[bool] = (True,) * len(rewards)
        if beside is not None:
            voting = keys[: len(KEY_CANDIDATES)]
            has_a_say = [any(value is not None for value in named) for named in zip(*voting, strict=True)]
            failures = [Failure(first + i, beside) for i in range(len(rewards))]
            self.failures.extend(failures)
            self.anonymous.extend(failure for failure, says in zip(failures, has_a_say, strict=True) if not says)
        for path, named in zip(self.keys if fields is None else fields, identities, strict=True):
            self.keys[path].append_keys(named, first, has_a_say)

    def add_shard(self, other: Table) -> range:
        """Add the rows of a whole rollouts file; which rows they are. The range itself stands for the file."""
        first = len(self)
        rows = range(first, first + len(other))
        if first:
            self.extend(other)
        else:
            run = {name: vars(self)[name] for name in ("shards", "planned", "failures", "anonymous", "notes")}
            vars(self).update({**vars(other), **run})
        self.shards.append(rows)
        self.notes.extend(other.notes)
        self.incomplete = self.incomplete or other.incomplete
        return rows

    def rest(self) -> None:
        """Give back the memory that only growing takes; the table may grow again all the same."""
        columns: list[Column[Any]] = [self.masked, self.agent_error, self.failure_kind]
        for column in (*columns, *self.keys.values()):
            column.rest()

    def forget_tasks(self) -> None:
        """Give back the memory of all that tells which task and attempt a row is of: the table is joined already."""
        self.keys, self.planned = {}, []
        self.task_index, self.rollout_index = HalfColumn(), HalfColumn()
        self.inputs = array("q")

    def extend(self, other: Table, lines_before: int = 0) -> None:
        """Add rows that were read elsewhere; those of a later piece of a file have so many lines before them."""
        rows = len(self)
        for path, column in self.keys.items():
            column.extend_keys(other.keys[path], rows)
        self.reward.extend(other.reward)
        self.masked.extend(other.masked)
        self.agent_error.extend(other.agent_error)
        self.failure_kind.extend(other.failure_kind)
        self.task_index.extend(other.task_index)
        self.rollout_index.extend(other.rollout_index)
        self.inputs.extend(other.inputs)
        self.has_output += other.has_output
        self.origins.extend(other.origins, lines_before)


def _any_said(columns: Sequence[Sequence[Any]]) -> bytes:
    """For each row 1 if any of the columns has a value, else 0."""
    said = [column for column in columns if column.count(None) < len(column)]
    if not said:
        return bytes(len(columns[0]))
    return bytes(any(value is not None for value in values) for values in zip(*said, strict=True))


def table_of(rows: Sequence[Row], key: str | None = None) -> Table:
    """A table of rows that are at hand.

    Raises:
        CompareInputError: A row breaks a rule.
    """
    table = Table(key)
    table.memory = rows
    pick = decoder_for(tuple(table.keys)).pick
    for failed, group in groupby(rows, key=lambda row: isinstance(row, FailedAttempt)):
        values = list(map(pick, group))
        beside = range(len(table)) if failed else None
        try:
            table.add(list(zip(*values, strict=True)), beside=beside)
        except (CompareInputError, RecursionError):
            first_bad = next(i for i, row in enumerate(values) if _refusal(key, row))
            raise _located(_refusal(key, values[first_bad]), rows, len(table) + first_bad, key) from None
    return table


def _refusal(key: str | None, values: Values) -> Exception | None:
    """Why a row is refused, None if it is not."""
    try:
        Table(key).add([[value] for value in values])
    except (CompareInputError, RecursionError) as error:
        return error
    return None


def _located(error: Exception | None, rows: Sequence[Row], row: int, key: str | None) -> CompareInputError:
    if isinstance(error, CompareInputError):
        return CompareInputError(f"row {row + 1}: {error} (task {label_for_message(rows[row], key)})")
    return CompareInputError(f"row {row + 1}: nested too deeply")
