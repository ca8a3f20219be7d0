"""One attempt of a run as its own file, or an entry in a list, holds it; and what a producer says that it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.json_rows import parse_object
from nemo_gym.rollout_compare.producers.rewards import Main
from nemo_gym.rollout_compare.schema import (
    CompareInputError,
    Fields,
    Output,
    Record,
    Step,
    Wanted,
    input_numbers,
    task_input,
)

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.producers.folders import Trials


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

    def metrics(self, row: Mapping[str, Any]) -> Iterable[str]:
        """The metrics of a result, for the message that none is the chosen one."""
        ...

    def group(self, trial: Trial) -> str:
        """What the trials have in common that may be attempts at one task, by their names; they stand together."""
        ...

    def began(self, told: Told | None) -> str:
        """When a trial began, as a text that sorts; the same for all where their names have the order."""
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
