"""Open runs to what a result says of where its rows are from."""

from __future__ import annotations

from nemo_gym.rollout_compare.files import Input
from nemo_gym.rollout_compare.producers import Readable, Run
from nemo_gym.rollout_compare.schema import Note, NoteKind, ReadFile, RunSource


def source_of_run(run: Run, rows: int) -> RunSource:
    """Where a run's rows, so many, are from."""
    files = map(_read_file, run.inputs) if run.inputs else (_read_folder(shard.main) for shard in run.shards)
    return RunSource(tuple(files), run.reader, rows)


def same_file_notes(old: Run, new: Run) -> list[Note]:
    """A note for each file that both runs are read from."""
    known = {_file_of(source) for source in old.inputs} - {None}
    shared = (source for source in new.inputs if _file_of(source) in known)
    return [Note(NoteKind.SAME_FILE, path=str(source.path)) for source in shared]


def _read_folder(source: Readable) -> ReadFile:
    """A source that is no single file: its size is that of what is read of it."""
    try:
        modified: int | None = int(source.path.stat().st_mtime)
    except OSError:
        modified = None
    return ReadFile(str(source.path), source.size, modified)


def _read_file(source: Input) -> ReadFile:
    modified = source.version[3] // 1_000_000_000 if _is_named(source) else None
    return ReadFile(str(source.path), source.size, modified)


def _file_of(source: Input) -> tuple[int, int] | None:
    """What tells a file apart whatever its name: device and inode; None for a copy of what a pipe held."""
    return source.version[:2] if _is_named(source) else None


def _is_named(source: Input) -> bool:
    return source.file == source.path
