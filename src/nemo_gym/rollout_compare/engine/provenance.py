"""Open runs to what a result says of where its rows are from."""

from __future__ import annotations

from collections.abc import Sequence

from nemo_gym.rollout_compare.engine.runs import OpenShard
from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.schema.notes import Note, NoteKind
from nemo_gym.rollout_compare.schema.provenance import ReadFile, RunSource

READER = "rollouts"


def source_of_run(shards: Sequence[OpenShard], rows: int) -> RunSource:
    """Where a run's rows, so many, are from."""
    mains = [shard.main for shard in shards]
    beside = [source for shard in shards for source in (shard.sidecar, shard.planned) if source]
    return RunSource(tuple(map(_read_file, (*mains, *beside))), READER, rows)


def same_file_notes(old: Sequence[OpenShard], new: Sequence[OpenShard]) -> list[Note]:
    """A note for each rollouts file that both runs are read from."""
    known = {_file_of(shard.main) for shard in old} - {None}
    shared = (shard.main for shard in new if _file_of(shard.main) in known)
    return [Note(NoteKind.SAME_FILE, path=str(source.path)) for source in shared]


def _read_file(source: Input) -> ReadFile:
    modified = source.version[3] // 1_000_000_000 if _is_named(source) else None
    return ReadFile(str(source.path), source.size, modified)


def _file_of(source: Input) -> tuple[int, int] | None:
    """What tells a file apart whatever its name: device and inode; None for a copy of what a pipe held."""
    return source.version[:2] if _is_named(source) else None


def _is_named(source: Input) -> bool:
    return source.file == source.path
