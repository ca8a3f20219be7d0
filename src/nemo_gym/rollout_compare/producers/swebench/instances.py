"""The instances of a run as a source of attempts: each by its own report, else by what the run's report lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt, batch_of, slices
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.json_rows import dig, parse_object
from nemo_gym.rollout_compare.producers.measures import measures_of
from nemo_gym.rollout_compare.producers.scores import could_be_reward
from nemo_gym.rollout_compare.producers.swebench import LOG_FILES, REPORT
from nemo_gym.rollout_compare.producers.swebench.reports import Listed, Standing
from nemo_gym.rollout_compare.producers.swebench.trajectories import steps_in
from nemo_gym.rollout_compare.producers.trials import record_of
from nemo_gym.rollout_compare.producers.verdicts import chosen_reward, tests_of_report
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fault, Fields, Output, Place, Record, Row, Wanted

INSTANCE, RESOLVED = "instance_id", "resolved"
_MEASURES = {"dollars": "cost", "turns": "api_calls"}
#: An instance was not evaluated: it has no result.
_MASKED = {
    Standing.INFRA: "infra failure",
    Standing.ERROR: f"no {REPORT}: its evaluation failed",
    Standing.FAILED: "its evaluation failed",
    Standing.PENDING: "its evaluation is pending",
    Standing.SUBMITTED: f"no {REPORT}: killed or still running",
}


class Instance(Struct, frozen=True):
    """An instance of a run.

    Attributes:
        name: Its id.
        listed: What the run's report says of it, None where there is no such report or it is not in it.
        folder: The folder of its logs, as a path in the run's folder; None where it has none.
        size: How many bytes its own report has, None where there is none.
        details: What a leaderboard keeps of it, as JSON.
    """

    name: str
    listed: Listed | None = None
    folder: str | None = None
    size: int | None = None
    details: str | None = None

    @property
    def report(self) -> str:
        """Its own report, as a path in the run's folder."""
        return f"{self.folder}/{REPORT}"


class Instances(Struct, frozen=True):
    """The instances of a run.

    Attributes:
        folder: The run's folder, or that of its report.
        main: The report, where there is one: what the run is called in messages.
        instances: The instances, in the order of their names.
        settings: What the run was made with.
        from_start: Each instance is read by itself.
    """

    folder: RunFolder
    main: Path | None
    instances: tuple[Instance, ...]
    settings: tuple[tuple[str, Any], ...] = ()
    from_start: bool = False

    output_fields: tuple[str, ...] = LOG_FILES

    @property
    def path(self) -> Path:
        """What the run is called."""
        return self.main or self.folder.path

    @property
    def size(self) -> int:
        """How many bytes the instances' reports have."""
        return sum(one.size or 0 for one in self.instances)

    @property
    def unit(self) -> str:
        """What is left out where it cannot be read."""
        return "instance"

    def where(self, line: int) -> str:
        """An instance's own report, else its name in the run's."""
        one = self.instances[line - 1]
        return f"{self.path}: {one.name}" if one.size is None else str(self.folder.path / one.report)

    def fields(self, key: str | None) -> Fields:
        """The instance's id."""
        return Fields((INSTANCE,), certain=(INSTANCE,)).or_named(key)

    def unchanged(self) -> bool:
        """Whether the reports have the sizes that they had."""
        return all(self.folder.size_of(one.report) == one.size for one in self.instances if one.size is not None)

    def doubt(self) -> str | None:
        """A run without a verdict is a run all the same."""
        return None

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen: whether an instance is resolved, and any number of its own report."""
        return dict.fromkeys((RESOLVED, *could_be_reward(row)))

    def pieces(self, piece_bytes: int) -> list[tuple[int, int]]:
        """The instances in slices whose reports have about so many bytes."""
        return slices([one.size or 0 for one in self.instances], piece_bytes)

    def batches(
        self, piece: tuple[int, int], plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The instances of a slice, in one batch; the first that cannot be read ends it, unless such are left out."""
        attempts: list[Attempt] = []
        faults: list[Fault] = []
        start, stop = piece
        fields = tuple(wanted())
        for number, offset in enumerate(range(start, stop), 1):
            one = self.instances[offset]
            try:
                with room_for_rows():
                    attempts.append(self._attempt(one, self._told(one), plan, number, offset))
            except (CompareInputError, RecursionError) as error:
                faults.append(Fault(number, str(error).removeprefix(f"cannot read {self.folder.path / one.report}: ")))
                if not plan.skip_bad_lines:
                    break
        on_bytes(sum(one.size or 0 for one in self.instances[start:stop]))
        yield batch_of(attempts, fields, faults, stop - start)

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each instance; only its own files are opened."""
        for place in places:
            one = self.instances[place.offset]
            try:
                if not grown:
                    self._check_unchanged(one)
                with room_for_rows():
                    yield self._record(one, wanted)
            except (CompareInputError, RecursionError) as error:
                yield error

    def _check_unchanged(self, one: Instance) -> None:
        if one.size is not None and self.folder.size_of(one.report) != one.size:
            raise CompareInputError(f"{self.folder.path / one.report} has changed or gone since it was first read")

    def _told(self, one: Instance) -> Row:
        """What an instance's own report says; an empty one where there is none."""
        if one.details is not None:
            return parse_object(one.details.encode())
        if not one.size:
            return {}
        return told_in(parse_object(self.folder.read(one.report)), one.name)

    def _attempt(self, one: Instance, told: Row, plan: Plan, number: int, offset: int) -> Attempt:
        reward, masked, kind = _verdict(one, told)
        metric = RESOLVED if plan.reward is None else plan.reward
        if metric != RESOLVED and masked is None and (told or kind != Standing.EMPTY):
            reward, masked = chosen_reward(metric, dig(told, metric.split(".")))
        return Attempt(
            ids={INSTANCE: one.name, **{field: dig(told, field.split(".")) for field in (plan.key,) if field}},
            reward=reward,
            masked=masked,
            failure_kind=None if masked else kind,
            attempt=1,
            has_output=one.folder is not None,
            number=number,
            offset=offset,
            settings=dict(self.settings),
            measures=measures_of(_MEASURES, [told.get(name) for name in _MEASURES.values()]),
        )

    def _record(self, one: Instance, wanted: Wanted) -> Record:
        told = self._told(one)
        row = {INSTANCE: one.name, **told}
        return record_of(
            wanted,
            values=tuple(dig(row, field.split(".")) for field in wanted.fields),
            asked=None,
            output=self._output(one, told) if wanted.output else None,
            row=row,
            transcript=steps_in(self.folder, one.name) if wanted.transcript else None,
        )

    def _output(self, one: Instance, told: Row) -> Output:
        names = [f"{one.folder}/{name}" for name in LOG_FILES] if one.folder is not None else []
        files = [path for name in names if self.folder.size_of(name) and (path := self.folder.file(name))]
        return Output(None, (), self.output_fields, tuple(files), tests_of_report([told.get("tests_status")]))


def told_in(report: Mapping[str, Any], name: str) -> Row:
    """What an instance's report says: it stands under the instance's id."""
    if not report or RESOLVED in report:
        return report
    inner = next(iter(report.values())) if len(report) == 1 else report.get(name)
    if not isinstance(inner, Mapping):
        raise CompareInputError(f"it says nothing of {name}")
    return inner


def _verdict(one: Instance, told: Row) -> tuple[float | None, str | None, str | None]:
    """The reward, why there is none, and why the instance is not resolved.

    An instance's own report decides; a failure of the infrastructure is none of the model.
    """
    standing = one.listed.standing if one.listed else Standing.SUBMITTED
    reason = told.get("infra_failure_reason") or (one.listed.kind if one.listed else None)
    kind = reason if isinstance(reason, str) else None
    if told.get("infra_failure") or standing is Standing.INFRA:
        return None, f"{Standing.INFRA}: {kind}" if kind else str(Standing.INFRA), kind
    resolved = told.get(RESOLVED)
    if isinstance(resolved, bool):
        if not resolved and (told.get("patch_is_None") or told.get("patch_exists") is False):
            kind = kind or str(Standing.EMPTY)
        elif not resolved and told.get("patch_successfully_applied") is False:
            kind = kind or "patch_not_applied"
        return float(resolved), None, kind
    if told and resolved is not None:
        raise CompareInputError(f"resolved {json.dumps(resolved)[:100]} is not true or false")
    if one.folder is not None and standing not in (Standing.EMPTY, Standing.RESOLVED, Standing.UNRESOLVED):
        return None, f"no {REPORT}" if one.size is None else f"{REPORT} is empty", None
    if standing in _MASKED:
        return None, _MASKED[standing], None
    return float(standing is Standing.RESOLVED), None, kind or (str(standing) if standing is Standing.EMPTY else None)
