"""Runs whose attempts each have a file of their own, or an entry in a file that lists them: the base of such readers.

What differs from producer to producer is a `TrialReader`, which says what an attempt's JSON object means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.json_lines import decoder_for
from nemo_gym.rollout_compare.producers.json_rows import NotAnObject, dig, parse_object
from nemo_gym.rollout_compare.producers.rewards import Main
from nemo_gym.rollout_compare.schema import (
    Batch,
    CompareInputError,
    Fault,
    Fields,
    Output,
    Place,
    Record,
    Step,
    Wanted,
    input_numbers,
    task_input,
)

_TRIALS_A_REPORT = 64


class Trial(Struct, frozen=True):
    """One attempt's place in a run.

    Attributes:
        name: What it is called: the path of its folder, or its name in a list.
        file: The file that holds its result, as a path in the run's folder.
        size: How many bytes the file has, 0 where it lists several; None where the attempt left no result.
        entry: Its place in the list that the file holds, None where the file is of this attempt alone.
    """

    name: str
    file: str
    size: int | None
    entry: int | None = None


class Asked(Struct, frozen=True):
    """What is asked of an attempt.

    Attributes:
        reward: The metric that is the reward.
        chosen: Whether the user chose it.
        fields: The fields that may name the task.
    """

    reward: str
    chosen: bool
    fields: tuple[str, ...]


class Told(Struct, frozen=True):
    """What an attempt's result says, in the order of what was asked for.

    Attributes:
        values: The values at the reader's own paths.
        reward: The value at the reward's name taken as a dotted path.
        fields: The values at the fields' names taken as dotted paths.
    """

    values: tuple[Any, ...]
    reward: Any
    fields: Mapping[str, Any]


class TrialReader(Protocol):
    """What the result of an attempt means, by one producer's rules."""

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every result, as dotted paths."""
        ...

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Where an attempt's verifier output may be, for the message that there is none."""
        ...

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        ...

    def main(self, run: Trials) -> Main:
        """The run's main metric."""
        ...

    def attempt(self, trial: Trial, told: Told | None, number: int, offset: int, asked: Asked) -> Attempt:
        """What became of an attempt; nothing is told of one that left no result."""
        ...

    def asked_of(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> Any:
        """What the system was asked, as `Attempt.asked` has it."""
        ...

    def output(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> Output:
        """Where an attempt's verifier output is."""
        ...

    def transcript(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> tuple[Step, ...] | None:
        """What the agent did, None where that is not recorded."""
        ...


class Slice(Struct, frozen=True):
    """Some trials of a run, and its main metric."""

    start: int
    stop: int
    main: Main


class Trials(Struct, frozen=True):
    """The trials of a run as a source of attempts.

    Attributes:
        folder: The run's folder.
        trials: Its trials, in the order of their names.
        reader: What their results mean.
        lists: The files that list several results, each with its size.
    """

    folder: RunFolder
    trials: tuple[Trial, ...]
    reader: TrialReader
    lists: tuple[tuple[str, int], ...] = ()

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path

    @property
    def size(self) -> int:
        """How many bytes the results have."""
        return sum(trial.size or 0 for trial in self.trials) + sum(size for _, size in self.lists)

    @property
    def from_start(self) -> bool:
        """Each attempt is read by itself."""
        return False

    @property
    def unit(self) -> str:
        """What is left out where it cannot be read."""
        return "trial"

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Where an attempt's verifier output may be."""
        return self.reader.output_fields

    def where(self, line: int) -> str:
        """A trial's result: its path, and its number in the list where it stands in one."""
        trial = self.trials[line - 1]
        path = str(self.path / trial.file)
        return path if trial.entry is None else f"{path} (result {trial.entry + 1}, {trial.name})"

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return self.reader.fields(key)

    def unchanged(self) -> bool:
        """Whether the results have the sizes that they had."""
        alone = ((trial.file, trial.size) for trial in self.trials if trial.entry is None)
        return all(self.folder.size_of(file) == size for file, size in (*alone, *self.lists))

    def doubt(self) -> str | None:
        """A run of trials without a reward is a run all the same."""
        return None

    def pieces(self, piece_bytes: int) -> list[Slice]:
        """The trials in slices of about so many bytes."""
        main = self.reader.main(self)
        starts, taken = [0], 0
        for i, trial in enumerate(self.trials):
            taken += trial.size or 0
            if taken >= piece_bytes and i + 1 < len(self.trials):
                starts.append(i + 1)
                taken = 0
        return [Slice(start, stop, main) for start, stop in zip(starts, [*starts[1:], len(self.trials)], strict=True)]

    def batches(
        self, piece: Slice, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The attempts of a slice, in one batch; the first that cannot be read ends it, unless such are left out."""
        asked = Asked(piece.main.chosen(plan.reward), plan.reward is not None, tuple(wanted()))
        attempts: list[Attempt] = []
        faults: list[Fault] = []
        lists = _Lists(self.folder)
        read = 0
        for number, offset in enumerate(range(piece.start, piece.stop), 1):
            trial = self.trials[offset]
            try:
                with room_for_rows():
                    told = None if trial.size is None else self._told(trial, asked, lists)
                    attempts.append(self.reader.attempt(trial, told, number, offset, asked))
            except (CompareInputError, RecursionError) as error:
                faults.append(Fault(number, _reason(error, self.path / trial.file)))
                if not plan.skip_bad_lines:
                    break
            read += trial.size or 0
            if number % _TRIALS_A_REPORT == 0:
                on_bytes(read)
                read = 0
        on_bytes(read)
        yield batch_of(attempts, asked.fields, faults, piece.stop - piece.start)

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each attempt; only its own files are opened."""
        lists = _Lists(self.folder)
        for place in places:
            trial = self.trials[place.offset]
            if not grown and self.folder.size_of(trial.file) != self._size_of(trial):
                yield CompareInputError(f"{self.path / trial.file} has changed or gone since it was first read")
                continue
            try:
                with room_for_rows():
                    yield self._record(trial, wanted, lists)
            except (CompareInputError, RecursionError) as error:
                yield error

    def metrics(self, path: str) -> Iterator[Mapping[str, Any]]:
        """For each trial that has a readable result the metrics at a path of it."""
        lists = _Lists(self.folder)
        for trial in self.trials:
            try:
                (found,) = (None,) if trial.size is None else self._values(trial, (path,), lists)
            except (CompareInputError, RecursionError):
                continue
            if isinstance(found, Mapping):
                yield found

    def row(self, trial: Trial) -> Mapping[str, Any]:
        """The whole result of a trial, an empty one where it left none.

        Raises:
            CompareInputError: It cannot be read.
        """
        return _Lists(self.folder).row(trial)

    def _size_of(self, trial: Trial) -> int | None:
        """How large the file was that holds a trial's result."""
        return trial.size if trial.entry is None else dict(self.lists)[trial.file]

    def _values(self, trial: Trial, paths: tuple[str, ...], lists: _Lists) -> tuple[Any, ...]:
        decoder = decoder_for(paths)
        if trial.entry is None:
            return decoder.decode(self.folder.read(trial.file))
        return decoder.pick(lists.row(trial))

    def _told(self, trial: Trial, asked: Asked, lists: _Lists) -> Told:
        own = self.reader.paths
        reward = (asked.reward,) if asked.chosen else ()
        values = self._values(trial, (*own, *asked.fields, *reward), lists)
        named = dict(zip(asked.fields, values[len(own) :], strict=False))
        return Told(values[: len(own)], values[-1] if reward else None, named)

    def _record(self, trial: Trial, wanted: Wanted, lists: _Lists) -> Record:
        row = lists.row(trial)
        asked = self.reader.asked_of(self.folder, trial, row) if wanted.task_input else None
        values: tuple[Any, ...] = ()
        if wanted.fields:
            told = Told(tuple(dig(row, path.split(".")) for path in self.reader.paths), None, {})
            own = self.reader.attempt(trial, told if row else None, 1, 0, Asked("", False, wanted.fields)).ids
            values = tuple(own.get(field, dig(row, field.split("."))) for field in wanted.fields)
        return record_of(
            wanted,
            values=values,
            asked=asked,
            output=self.reader.output(self.folder, trial, row) if wanted.output else None,
            row=row,
            transcript=self.reader.transcript(self.folder, trial, row) if wanted.transcript else None,
        )


class _Lists:
    """The objects in a run's files; a file that lists several is read once."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._file: str | None = None
        self._rows: Sequence[Any] = ()

    def row(self, trial: Trial) -> Mapping[str, Any]:
        if trial.size is None:
            return {}
        if trial.entry is None:
            return parse_object(self.folder.read(trial.file))
        if self._file != trial.file:
            self._file, self._rows = trial.file, listed(self.folder, trial.file)
        row = self._rows[trial.entry] if trial.entry < len(self._rows) else None
        if not isinstance(row, Mapping):
            raise CompareInputError("expected a JSON object for each result")
        return row


def listed(folder: RunFolder, file: str) -> Sequence[Any]:
    """The results that a file lists: it is a list, or an object with one under `results` or `trial_results`.

    Raises:
        CompareInputError: The file cannot be read or lists none.
    """
    data = folder.read(file)
    whole = parse_object(b'{"results":' + data + b"}") if data.lstrip().startswith(b"[") else parse_object(data)
    found: list[Any] | None = next(
        (whole[name] for name in ("results", "trial_results") if isinstance(whole.get(name), list)), None
    )
    if found is None:
        raise CompareInputError(f"{folder.path / file} lists no results")
    return found


def record_of(
    wanted: Wanted,
    *,
    values: tuple[Any, ...],
    asked: Any,
    output: Output | None,
    row: Mapping[str, Any],
    transcript: tuple[Step, ...] | None,
) -> Record:
    """An attempt read again, from what was found for what is wanted of it."""
    return Record(
        values=values,
        task_input=task_input(asked) if wanted.task_input else None,
        input_number=input_numbers([asked])[0] if wanted.task_input else 0,
        output=output,
        row=row if wanted.row else None,
        transcript=transcript,
    )


def _reason(error: Exception, path: Path) -> str:
    """What is wrong with a trial, without its path, which stands before it anyway."""
    if isinstance(error, NotAnObject):
        return "expected a JSON object"
    return str(error).removeprefix(f"cannot read {path}: ")
