"""What a reader hands over: some rows of a run, as columns with names."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.schema.errors import Fault
from nemo_gym.rollout_compare.schema.identity import Identity
from nemo_gym.rollout_compare.schema.marks import Mark, Mask


class Batch(Struct, frozen=True, kw_only=True):
    """Some rows of a run in their order: each column has one value a row.

    Attributes:
        rewards: The finite reward, or NaN.
        masked: Why the row does not count.
        agent_errors: The agent error.
        failure_kinds: The failure kind of an unmasked row.
        task_indexes: The task's position in the run's input file, as far as recorded.
        rollout_indexes: The attempt's number, as far as recorded.
        inputs: A number for what the system was asked: equal for equal inputs, on any machine; 0 where it is unknown.
        has_output: 1 if the row may have verifier output, else 0.
        identities: For each field that may name the task what it names. A field that is not among them is one that the
            table had given up before.
        lines: The line that the row stands on, from 1, or its number in a source without lines.
        offsets: Where in its source the row begins, in whatever the source counts.
        settings: What the attempt was run with, for each name that occurs a short text or None: see `setting_text`.
        measures: What it cost, for each name that occurs a number, NaN where it is not known.
        has_transcript: 1 if the row may tell what the agent did, else 0; empty where none does.
        has_a_say: Whether the row has a say in which field is the key; None where all have.
        faults: Lines that are not rows.
        last_line: How many lines of the piece were read when this was handed over, blank ones and faults included.
    """

    rewards: Sequence[float]
    masked: Sequence[Mask | None]
    agent_errors: Sequence[Mark | None]
    failure_kinds: Sequence[str | None]
    task_indexes: Sequence[int | str | None]
    rollout_indexes: Sequence[int | str | None]
    inputs: array[int]
    has_output: bytes
    identities: Mapping[str, Sequence[Identity | None]]
    lines: Sequence[int] = ()
    offsets: Sequence[int] = ()
    settings: Mapping[str, Sequence[str | None]] = {}
    measures: Mapping[str, Sequence[float]] = {}
    has_transcript: bytes = b""
    has_a_say: Sequence[bool] | None = None
    faults: Sequence[Fault] = ()
    last_line: int = 0

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rewards)

    def rows(self, indices: Sequence[int]) -> Batch:
        """The rows of these positions, with all that is said of them."""
        columns = [name for name in self.__struct_fields__ if name not in ("faults", "last_line")]
        return replace(self, **{name: _taken(getattr(self, name), indices) for name in columns})


def _taken(column: Any, indices: Sequence[int]) -> Any:
    """The values of a column, or of each column by name, at these positions; nothing of one that says nothing."""
    if not column:
        return column
    if isinstance(column, Mapping):
        return {name: _taken(inner, indices) for name, inner in column.items()}
    values = [column[i] for i in indices]
    return array("Q", values) if isinstance(column, array) else bytes(values) if isinstance(column, bytes) else values


class Direction(Struct, frozen=True):
    """What a run's own files say of which of two rewards is the better one.

    Attributes:
        path: The file that says so.
        tasks: The taskset that it says it of.
        metric: The metric that is the reward.
        lower_is_better: Whether the lower of two is.
    """

    path: str
    tasks: str
    metric: str
    lower_is_better: bool


def no_rows(faults: Sequence[Fault], last_line: int) -> Batch:
    """A batch that says only which lines are not rows."""
    return Batch(
        rewards=(),
        masked=(),
        agent_errors=(),
        failure_kinds=(),
        task_indexes=(),
        rollout_indexes=(),
        inputs=array("Q"),
        has_output=b"",
        identities={},
        faults=faults,
        last_line=last_line,
    )


class Wanted(Struct, frozen=True):
    """What is asked of a row that is read again.

    Attributes:
        fields: Fields whose values are wanted, as dotted paths.
        task_input: Whether the text of the task's input is wanted.
        output: Whether what the verifier said is wanted.
        row: Whether the whole row is wanted.
        transcript: Whether what the agent did is wanted.
        tool_outputs: Whether a transcript is wanted with what the tools gave: most of its text.
        settings: Names of settings whose whole texts are wanted.
        answer: Whether the agent's final answer is wanted.
    """

    fields: tuple[str, ...] = ()
    task_input: bool = False
    output: bool = False
    row: bool = False
    transcript: bool = False
    tool_outputs: bool = True
    settings: tuple[str, ...] = ()
    answer: bool = False


class Output(Struct, frozen=True):
    """Where a row says that its verifier's output is.

    Attributes:
        logs: A log's place as the row names it, None where it names none. It is somebody's claim.
        texts: The output as text, best first, each with the name of the field that holds it.
        fields: The names of all fields that were looked at, for the message that there is none.
        files: Logs that the reader itself found in the run's own folder, best first.
        tests: What became of single tests where the record says it (`passed`, `failed`, `error`, `skipped`), by name;
            None where it does not.
        reports: Reports of single tests that the reader itself found in the run's own folder: for each file, without
            links, what the names of its tests begin with.
    """

    logs: str | None
    texts: tuple[tuple[str, str], ...]
    fields: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    tests: Mapping[str, str] | None = None
    reports: Mapping[str, str] = {}


class Step(Struct, frozen=True):
    """One step of a transcript.

    Attributes:
        role: Who spoke or acted: `system`, `user`, `assistant` or `tool`; `reasoning` is what the model thought.
        text: What was said.
        tool: The tool that was called, None where none was.
        arguments: What it was called with, as text.
        output: What it gave, as text, None where that is a step of its own or not known.
    """

    role: str
    text: str = ""
    tool: str | None = None
    arguments: str | None = None
    output: str | None = None


class Record(Struct, frozen=True):
    """A row that was read again: what was wanted of it, and nothing else."""

    values: tuple[Any, ...] = ()
    task_input: str | None = None
    input_number: int = 0
    output: Output | None = None
    row: Mapping[str, Any] | None = None
    transcript: tuple[Step, ...] | None = None
    settings: Mapping[str, str] = {}
    answer: str | None = None


class Source(Protocol):
    """Where rows are from and can be read again: a file of rows, a folder, an archive, rows at hand.

    It can be sent to another process.
    """

    @property
    def path(self) -> Path:
        """What it is called in messages."""
        ...

    @property
    def from_start(self) -> bool:
        """Whether reading a row again means reading all before it, as in a compressed file."""
        ...

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that may hold a row's verifier output, for the message that none does."""
        ...

    def where(self, line: int) -> str:
        """A row's place as a message names it, such as `PATH:LINE`."""
        ...

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each row, or why it cannot be read; places come in the order of their offsets.

        Args:
            places: Where the rows are, all of them in this source.
            wanted: What of them is wanted.
            grown: Whether the source may have grown since it was first read: the caller knows the rows again.
        """
        ...


class Place(Struct, frozen=True):
    """Where a row can be read again.

    Attributes:
        source: What holds it.
        line: The line that it stands on, from 1, or its number in a source without lines.
        offset: Where it begins, in whatever the source counts.
        has_output: Whether it may have verifier output: else it need not be read for that.
        has_transcript: Whether it may tell what the agent did: else it need not be read for that.
    """

    source: Source
    line: int
    offset: int
    has_output: bool = True
    has_transcript: bool = False

    @property
    def where(self) -> str:
        """The place as a message names it."""
        return self.source.where(self.line)
