"""The attempts that a log says were to be made, so that those without a record are noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.inspect.log import planned_ids, read_eval
from nemo_gym.rollout_compare.producers.inspect.source import LogSource
from nemo_gym.rollout_compare.schema import Batch

_PLANNED = "planned"


class PlannedSamples(LogSource, frozen=True):
    """Every sample of a log's plan, once for each epoch."""

    @property
    def size(self) -> int:
        """No more is read than how the log begins."""
        return 0

    def where(self, line: int) -> str:
        """A planned attempt's place."""
        return f"{self.path}: planned attempt {line}"

    def unchanged(self) -> bool:
        """The log itself is asked."""
        return True

    def batches(
        self, piece: object, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The planned attempts, which name no task by themselves."""
        del piece, plan, on_bytes
        ids, epochs = planned_ids(read_eval(self.input))
        pairs = [(place, epoch) for epoch in range(1, epochs + 1) for place in range(len(ids))]
        attempts = [
            Attempt(ids={}, reward=None, masked=_PLANNED, task_index=place, attempt=epoch, number=number)
            for number, (place, epoch) in enumerate(pairs, 1)
        ]
        yield batch_of(attempts, wanted(), (), len(attempts))
