"""Runs whose attempts each have a file of their own, or an entry in a file that lists them: the base of such readers.

What differs from producer to producer is a `TrialReader`, which says what an attempt's JSON object means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of, slices
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.json_lines import decoder_for
from nemo_gym.rollout_compare.producers.json_rows import NotAnObject, RowDecoder, dig, parse_object
from nemo_gym.rollout_compare.producers.rewards import Main
from nemo_gym.rollout_compare.producers.trials import Asked, Told, Trial, TrialReader, listed, record_of
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fault, Fields, Place, Record, Row, Wanted
from nemo_gym.rollout_compare.text import first_of

#: The results of so many trials are decoded together.
_TRIALS_A_BLOCK = 64


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
        return all((self.folder.size_of(file) or None) == (size or None) for file, size in (*alone, *self.lists))

    def doubt(self) -> str | None:
        """A run of trials without a reward is a run all the same."""
        return None

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen as the reward, of an attempt read again."""
        return self.reader.metrics(row)

    def pieces(self, piece_bytes: int) -> list[Slice]:
        """The trials in slices of about so many bytes; those of one group are never parted."""
        main = self.reader.main(self)
        sizes = [trial.size or 0 for trial in self.trials]
        ends = slices(sizes, piece_bytes, lambda i: not self._of_one_group(i - 1, i))
        return [Slice(*pair, main) for pair in ends]

    def batches(
        self, piece: Slice, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The attempts of a slice, in one batch; the first that cannot be read ends it, unless such are left out."""
        asked = Asked(piece.main.chosen(plan.reward), plan.reward is not None, tuple(wanted()))
        attempts: list[tuple[str, Attempt]] = []
        faults: list[Fault] = []
        lists = _Lists(self.folder)
        for first in range(piece.start, piece.stop, _TRIALS_A_BLOCK):
            block = range(first, min(first + _TRIALS_A_BLOCK, piece.stop))
            with room_for_rows():
                for offset, told in zip(block, self._told(block, asked, lists), strict=True):
                    number = offset - piece.start + 1
                    if isinstance(told, Exception):
                        faults.append(Fault(number, _reason(told, self.path / self.trials[offset].file)))
                    else:
                        attempt = self.reader.attempt(self.trials[offset], told, number, offset, asked)
                        attempts.append((self.reader.began(told), attempt))
            on_bytes(sum(self.trials[offset].size or 0 for offset in block))
            if faults and not plan.skip_bad_lines:
                break
        yield batch_of(self._in_order(attempts), asked.fields, faults, piece.stop - piece.start)

    def _in_order(self, attempts: Sequence[tuple[str, Attempt]]) -> list[Attempt]:
        """The attempts of each group in the order in which they began, the groups in the order of their names."""
        groups: dict[str, int] = {}
        of = [groups.setdefault(self.reader.group(self.trials[one.offset]), len(groups)) for _, one in attempts]
        order = sorted(range(len(attempts)), key=lambda i: (of[i], attempts[i][0]))
        return [attempts[i][1] for i in order]

    def _of_one_group(self, *places: int) -> bool:
        return len({self.reader.group(self.trials[place]) for place in places}) == 1

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each attempt; only its own files are opened."""
        lists = _Lists(self.folder)
        for place in places:
            trial = self.trials[place.offset]
            if not grown and (self.folder.size_of(trial.file) or None) != self._size_of(trial):
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
        for place in range(len(self.trials)):
            (values,) = self._values([place], (path,), lists)
            if isinstance(values, tuple) and isinstance(values[0], Mapping):
                yield values[0]

    def _size_of(self, trial: Trial) -> int | None:
        """How large the file was that holds a trial's result."""
        return trial.size if trial.entry is None else dict(self.lists)[trial.file]

    def _told(self, block: range, asked: Asked, lists: _Lists) -> Iterator[Told | Exception | None]:
        """What the results of some trials say, or why they cannot be read; None of those that have none."""
        own = self.reader.paths
        reward = (asked.reward,) if asked.chosen else ()
        for values in self._values(block, (*own, *asked.fields, *reward), lists):
            if isinstance(values, tuple):
                named = dict(zip(asked.fields, values[len(own) :], strict=False))
                yield Told(values[: len(own)], values[-1] if reward else None, named)
            else:
                yield values

    def _values(
        self, block: Sequence[int], paths: tuple[str, ...], lists: _Lists
    ) -> list[tuple[Any, ...] | Exception | None]:
        """The values at the paths of some trials' results, decoded together where none of them is broken."""
        decoder = decoder_for(paths)
        trials = [self.trials[place] for place in block]
        read = [lists.read(trial) for trial in trials]
        lines = [data for data in read if isinstance(data, bytes)]
        try:
            rows = iter(list(zip(*decoder.columns(lines), strict=True)))
        except (CompareInputError, RecursionError):
            return [_decoded(decoder, data) for data in read]
        return [next(rows) if isinstance(data, bytes) else _decoded(decoder, data) for data in read]

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

    def read(self, trial: Trial) -> bytes | Mapping[str, Any] | Exception | None:
        """A result as it is found, or why it cannot be read."""
        try:
            if trial.size is None:
                return None
            return self.folder.read(trial.file) if trial.entry is None else self.row(trial)
        except (CompareInputError, RecursionError) as error:
            return error

    def row(self, trial: Trial) -> Mapping[str, Any]:
        """The whole result, an empty one where there is none."""
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


def _decoded(
    decoder: RowDecoder, data: bytes | Mapping[str, Any] | Exception | None
) -> tuple[Any, ...] | Exception | None:
    try:
        if isinstance(data, bytes):
            return decoder.decode(data)
        return decoder.pick(data) if isinstance(data, Mapping) else data
    except (CompareInputError, RecursionError) as error:
        return error


def _reason(error: Exception, path: Path) -> str:
    """What is wrong with a trial, without its path, which stands before it anyway."""
    if isinstance(error, NotAnObject):
        return "expected a JSON object"
    return str(error).removeprefix(f"cannot read {path}: ")


def check_one_agent(runs: Sequence[Trials], agents: Iterable[object], what: str) -> None:
    """Several folders are one run only if they are of one agent: else one of them is meant.

    Args:
        runs: The trials in each folder.
        agents: Whose they are.
        what: What the folder that holds them holds, if they are of several.

    Raises:
        CompareInputError: They are of several.
    """
    if len(set(agents)) > 1:
        named = first_of([str(run.path) for run in runs])
        raise CompareInputError(f"cannot read {runs[0].path.parent}: it holds {what}; name one: {named}")
