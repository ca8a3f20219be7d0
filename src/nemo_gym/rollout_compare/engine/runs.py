"""One run: its rollouts and the failed attempts beside them, from open files to a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import isnan
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from nemo_gym.rollout_compare.engine.pieces import TOO_DEEP, Fault, Plan, Progress, left_out, reason_for
from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.files.inputs import Input, open_input
from nemo_gym.rollout_compare.files.lines import iter_lines
from nemo_gym.rollout_compare.files.locate import Shard, locate_run
from nemo_gym.rollout_compare.producers.gym.asked import INPUT_PATH
from nemo_gym.rollout_compare.producers.gym.facts import ATTEMPT_PATHS, row_facts
from nemo_gym.rollout_compare.producers.gym.failures import attempt_of, named_by_index, standing_failures
from nemo_gym.rollout_compare.producers.gym.seems import are_inputs
from nemo_gym.rollout_compare.producers.json_rows import parse_object
from nemo_gym.rollout_compare.schema.result import CompareInputError, Row, key_paths
from nemo_gym.rollout_compare.table.table import Table, decoder_for


class OpenShard(Struct, frozen=True):
    """One rollouts file of a run and the files beside it, open to be read.

    Attributes:
        main: The rollouts.
        sidecar: The failed attempts, None where the run has no such file.
        planned: The rows that were planned before the run, None where it has no such file.
    """

    main: Input
    sidecar: Input | None = None
    planned: Input | None = None


@contextmanager
def open_run(shards: Sequence[Shard]) -> Iterator[list[OpenShard]]:
    """Open the files of a run.

    Raises:
        CompareInputError: One of them cannot be read.
    """
    with ExitStack() as stack:

        def opened(path: Path | None) -> Input | None:
            return stack.enter_context(open_input(path)) if path else None

        yield [
            OpenShard(stack.enter_context(open_input(shard.main)), opened(shard.sidecar), opened(shard.planned))
            for shard in shards
        ]


def run_tables(
    runs: Sequence[Sequence[OpenShard]],
    plans: Sequence[Plan],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Table]:
    """Runs as columns.

    Args:
        runs: The runs' shards.
        plans: How each run's lines are read.
        jobs: How many processes may read at a time; as many as are worth it when None.
        progress: Told how many bytes of which run were read.

    Raises:
        CompareInputError: A line breaks a rule: the first such line of the first such file, sidecars last.
    """
    shards = [(number, shard) for number, run in enumerate(runs) for shard in run]
    planned = [(number, shard.planned) for number, shard in shards if shard.planned]
    sources = [*((number, shard.main) for number, shard in shards), *planned]
    how = [plans[number] for number, _ in shards] + [replace(plans[number], planned=True) for number, _ in planned]
    read = read_tables([(*source, plan) for source, plan in zip(sources, how, strict=True)], jobs, progress)
    whole = [Table(plan.key) for plan in plans]
    of_planned = iter(read[len(shards) :])
    of_shards = read[len(shards) - 1 :: -1] if shards else []
    del read
    for number, shard in shards:
        table = of_shards.pop()  # not kept beside the whole that it becomes a part of
        if len(table) and all(map(isnan, table.reward)) and are_inputs(shard.main):
            raise CompareInputError(
                f"{shard.main.path} seems to hold a run's inputs, not its rollouts: no row has a reward or a response"
            )
        rows = whole[number].add_shard(table)
        if shard.planned:
            whole[number].planned.append((rows, next(of_planned)))
            whole[number].notes += whole[number].planned[-1][1].notes
    for run, table, plan in zip(runs, whole, plans, strict=True):
        for shard, rows in zip(run, list(table.shards), strict=True):
            if shard.sidecar:
                _add_failures(table, rows, shard.sidecar, plan)
        table.rest()
    return whole


def _add_failures(table: Table, rows: range, sidecar: Input, plan: Plan) -> None:
    """Add the failures of the shard whose rows these are."""
    pick = decoder_for(key_paths(plan.key)).pick
    faults: list[Fault] = []
    records = _records(sidecar, plan, faults)
    fields = (*key_paths(plan.key), *ATTEMPT_PATHS, INPUT_PATH, "error", "response.metadata")
    for line, offset, row in standing_failures(records, table.attempts(rows), fields):
        try:
            table.add([[value] for value in pick(row)], beside=rows)
        except RecursionError:
            raise CompareInputError(f"{sidecar.path}:{line}: invalid JSON ({TOO_DEEP})") from None
        table.origins.append_all(sidecar, [line], [offset])
    if faults:
        table.notes.append(left_out(sidecar, faults))


def load_rollouts(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every row of a run: those of the rollouts file, then a masked row for each failed attempt that stands.

    The path may be of anything that the command takes: a file, a folder with one rollouts file, a pattern of shards.

    Raises:
        CompareInputError: A file cannot be read or a line breaks a rule.
    """
    plan = Plan()
    with open_run(locate_run(os.fspath(path))) as shards:
        rows: list[dict[str, Any]] = []
        failed: list[dict[str, Any]] = []
        for shard in shards:
            own = [row for _, _, row in _records(shard.main, plan, check=row_facts)]
            rows.extend(own)
            if shard.sidecar:
                finished = {attempt for row in own if (attempt := attempt_of(row))}
                failures = standing_failures(_records(shard.sidecar, plan), finished)
                failed.extend(named_by_index(row, own) for _, _, row in failures)
        return [*rows, *failed]


def _records(
    source: Input, plan: Plan, faults: list[Fault] | None = None, check: Callable[[Row], object] = bool
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The objects of a file that pass a check, each with its line number and offset."""
    for line, offset, data in iter_lines(source):
        try:
            row = parse_object(data)
            check(row)
        except (CompareInputError, RecursionError) as error:
            fault = Fault(line, reason_for(error, source, offset, data, plan.key))
            if faults is None or not plan.skip_bad_lines:
                raise CompareInputError(f"{source.path}:{line}: {fault.reason}") from None
            faults.append(fault)
        else:
            yield line, offset, row
