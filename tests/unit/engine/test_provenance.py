"""Where a run's rows are from, as a result says it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from nemo_gym.rollout_compare.engine.provenance import source_of_run
from nemo_gym.rollout_compare.producers import Readable, Run, Shard
from nemo_gym.rollout_compare.schema import ReadFile, RunSource
from tests.support import CHANGED, rows_file, write_rows


@dataclass(frozen=True)
class Folder:
    """A source that is not a file, as far as it is asked here."""

    path: Path
    size: int


def run_of(*sources: Any, inputs: Any = ()) -> Run:
    return Run("made up", [Shard(cast("Readable", source)) for source in sources], list(inputs))


def test_a_folder_has_the_size_of_what_is_read_of_it_and_its_own_time(tmp_path: Path) -> None:
    os.utime(tmp_path, (CHANGED, CHANGED))
    told = source_of_run(run_of(Folder(tmp_path, 12)), 3)
    assert told == RunSource((ReadFile(str(tmp_path), 12, CHANGED),), "made up", 3)


def test_one_that_is_gone_by_now_has_no_time(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert source_of_run(run_of(Folder(gone, 12)), 3).files == (ReadFile(str(gone), 12, None),)


def test_files_are_told_as_they_were_opened(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "r.jsonl", [{"reward": 1}])
    os.utime(path, (CHANGED, CHANGED))
    source = rows_file(path)
    path.unlink()
    assert source_of_run(run_of(source, inputs=[source.input]), 1).files == (ReadFile(str(path), 14, CHANGED),)
