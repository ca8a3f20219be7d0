"""Runs to tables: their shards, the failed attempts beside them, and what was planned."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from msgspec.structs import replace

from nemo_gym.rollout_compare.engine.pieces import Progress, left_out
from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.producers import Failures, Plan, Run, Shard
from nemo_gym.rollout_compare.schema import CompareInputError, Direction, Fault, Note, NoteKind
from nemo_gym.rollout_compare.table import Table


def run_tables(
    runs: Sequence[Run],
    plans: Sequence[Plan],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Table]:
    """Runs as columns.

    Args:
        runs: The runs.
        plans: How each run's lines are read.
        jobs: How many processes may read at a time; as many as are worth it when None.
        progress: Told how many bytes of which run were read.

    Raises:
        CompareInputError: A line breaks a rule: the first such line of the first such file, sidecars last.
    """
    shards = [(number, place, shard) for number, run in enumerate(runs) for place, shard in enumerate(run.shards)]
    planned = [(number, shard.planned) for number, _, shard in shards if shard.planned]
    sources = [*((number, shard.main) for number, _, shard in shards), *planned]
    how = [plans[number] for number, _, _ in shards] + [replace(plans[number], planned=True) for number, _ in planned]
    read = read_tables([(*source, plan) for source, plan in zip(sources, how, strict=True)], jobs, progress)
    whole = [Table(run.shards[0].main.fields(plan.key)) for run, plan in zip(runs, plans, strict=True)]
    of_planned = iter(read[len(shards) :])
    of_shards = read[len(shards) - 1 :: -1] if shards else []
    del read
    for number, place, shard in shards:
        table = of_shards.pop()  # not kept beside the whole that it becomes a part of
        doubt = shard.main.doubt() if len(table) and all(map(isnan, table.reward)) else None
        if doubt:
            raise CompareInputError(f"{shard.main.path} seems to hold {doubt}")
        whole[number].directions += _directions(table, shard, plans[number])
        lost = _lost(table, shard)
        whole[number].add_shard(table, place)
        whole[number].notes += [*shard.notes, *lost]
        if shard.planned:
            whole[number].planned[place] = next(of_planned)
            whole[number].notes += whole[number].planned[place].notes
    for run, table, plan in zip(runs, whole, plans, strict=True):
        for place, shard in enumerate(run.shards):
            if shard.failures:
                _add_failures(table, place, shard.failures, plan)
        table.rest()
    return whole


def _directions(table: Table, shard: Shard, plan: Plan) -> list[Direction]:
    """What a shard's own files say of its rewards, if there are any."""
    found = shard.direction(plan) if shard.direction and not all(map(isnan, table.reward)) else None
    return [found] if found else []


def _lost(table: Table, shard: Shard) -> list[Note]:
    """That attempts were planned of which there is no row, where it is known how many there were to be."""
    left_out = sum(note.number or 0 for note in table.notes if note.kind is NoteKind.LINES_LEFT_OUT)
    lost = (shard.expected or 0) - len(table) - left_out
    return [Note(NoteKind.UNRECORDED, path=str(shard.main.path), number=lost)] if lost > 0 else []


def _add_failures(table: Table, shard: int, failures: Failures, plan: Plan) -> None:
    """Add the failures of a shard."""
    faults: list[Fault] = []
    finished = {attempt for attempt in table.attempts_of(table.rows_of(shard)) if attempt}
    for batch in failures.standing(finished, plan):
        table.add(batch, failures.source, shard=shard, failed=True)
        faults.extend(batch.faults)
    if faults:
        table.notes.append(left_out(failures.source, faults))
