"""The files of one of NeMo Gym's runs: the rollouts, and what lies beside them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.files import (
    COMPRESSED_ENDINGS,
    STDIN,
    Input,
    Layout,
    Located,
    locate,
    open_input,
    would_be_read,
)
from nemo_gym.rollout_compare.producers.contract import Plan, Producer, Run, Shard
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.glimpse import Glimpse
from nemo_gym.rollout_compare.producers.gym.extras import EXTRAS
from nemo_gym.rollout_compare.producers.gym.facts import row_facts
from nemo_gym.rollout_compare.producers.gym.failures import attempt_of, named_by_index, standing_failures
from nemo_gym.rollout_compare.producers.gym.fields import (
    ASKED_FIELD,
    ATTEMPT_PATHS,
    FAILURE_KINDS,
    FAILURE_REASONS,
    FAILURES_ENDING,
    NOT_AN_ATTEMPT,
    OMITTED,
    OTHER_ENDINGS,
    OWN_FIELDS,
    PLANNED_ENDING,
    SHARD,
    key_fields,
)
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import RowsFile, row_with, rows_decoder, rows_of
from nemo_gym.rollout_compare.schema import Attempt, Batch, Fault, Row, attempt_part, no_rows


#: How a run's files are named: the failures and the planned rows lie beside the rollouts.
def _is_predictions(path: Path) -> bool:
    """Whether a file has predictions, which an evaluation leaves beside its rollouts."""
    from nemo_gym.rollout_compare.producers.swebench import is_predictions

    return is_predictions(Glimpse(path))


LAYOUT = Layout("rollouts", ".jsonl", FAILURES_ENDING, PLANNED_ENDING, OTHER_ENDINGS, _is_predictions)


#: What is read of a failed attempt, beside the fields that may name its task.
_OF_FAILURES = (
    *(path for path in ROLLOUTS.paths if path not in EXTRAS.paths),
    *(*FAILURE_KINDS, *FAILURE_REASONS, *NOT_AN_ATTEMPT, OMITTED),
)


class Sidecar(Struct, frozen=True):
    """The file of a run's failed attempts."""

    source: RowsFile

    def standing(self, finished: Collection[Attempt], plan: Plan) -> Iterator[Batch]:
        """A batch of one row for each failure that still stands; the last batch has the faults alone."""
        fields = key_fields(plan.key).all()
        pick = rows_decoder(ROLLOUTS, fields).pick

        def made_of(line: int, offset: int, row: dict[str, Any]) -> Batch:
            columns = [[value] for value in pick(row)]
            with room_for_rows():
                return ROLLOUTS.batch(columns, fields, lines=[line], offsets=[offset], failed=True)

        faults: list[Fault] = []
        records = rows_of(self.source, plan, faults, parse=lambda line: row_with(line, (*_OF_FAILURES, *fields)))
        yield from standing_failures(records, finished, made_of)
        yield no_rows(faults, 0)


class LocatedRollouts(Struct, frozen=True):
    """The files of a run, as the user named it: rollouts, and those beside them."""

    shards: tuple[Located, ...]
    named: str = STDIN

    def files(self) -> list[Path]:
        """The files that are read."""
        return [path for shard in self.shards for path in shard.files()]

    def folders(self) -> list[Path]:
        """Where the logs may lie that the rows name."""
        return [folder for shard in self.shards for folder in shard.folders()]

    def would_hold(self, path: Path) -> bool:
        """Whether a file at a path would be one of these, if it were there."""
        return would_be_read(path, self.named, self.shards, LAYOUT)

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the files.

        Raises:
            CompareInputError: One of them cannot be read.
        """
        with ExitStack() as stack:
            inputs: list[Input] = []

            def opened(path: Path) -> RowsFile:
                inputs.append(stack.enter_context(open_input(path)))
                return RowsFile(inputs[-1], ROLLOUTS)

            shards = [
                Shard(
                    opened(files.main),
                    Sidecar(opened(files.failures)) if files.failures else None,
                    opened(files.planned) if files.planned else None,
                )
                for files in self.shards
            ]
            mains = [source for source in inputs if source.path in {files.main for files in self.shards}]
            yield Run(ROLLOUTS.name, shards, [*mains, *(one for one in inputs if one not in mains)])


def locate_rollouts(named: str) -> LocatedRollouts:
    """A run as the user names it: a file, a folder with one rollouts file, a pattern of shards, or standard input.

    Raises:
        CompareInputError: It is not clear which files are meant.
    """
    return LocatedRollouts(tuple(locate(named, LAYOUT)), named)


def seems_rollouts(place: Glimpse) -> bool:
    """Whether a file has NeMo Gym's rows."""
    return ASKED_FIELD in place.keys or any(key.startswith(OWN_FIELDS) for key in place.keys)


#: NeMo Gym as a producer of runs.
NEMO_GYM = Producer(
    ROLLOUTS.name,
    locate_rollouts,
    seen=seems_rollouts,
    signs=f"a {LAYOUT.what} file (*{LAYOUT.ending})",
    endings=tuple(LAYOUT.ending + end for end in ("", *COMPRESSED_ENDINGS)),
)


def load_rollouts(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every row of a run: those of the rollouts file, then a masked row for each failed attempt that stands.

    The path may be of anything that the command takes: a file, a folder with one rollouts file, a pattern of shards.
    Rows of several shards say which one they are of, so that what is compared is the same as in the command.

    Raises:
        CompareInputError: A file cannot be read or a line breaks a rule.
    """
    rows: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    with locate_rollouts(os.fspath(path)).opened() as run:
        for number, shard in enumerate(run.shards):
            assert isinstance(shard.main, RowsFile)
            own = [row for _, _, row in rows_of(shard.main, Plan(), check=row_facts)]
            failures = list(_failures(shard, own)) if shard.failures else []
            if len(run.shards) > 1:
                for row in (*own, *failures):
                    row[SHARD] = number
            rows.extend(own)
            failed.extend(failures)
    return [*rows, *failed]


def _failures(shard: Shard, own: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The failures that stand beside a shard's own rows."""
    assert isinstance(shard.failures, Sidecar)
    finished = {attempt for row in own if (attempt := attempt_of(row))}
    first: dict[int | str, Row] = {}
    for row in own:
        index = attempt_part(row.get(ATTEMPT_PATHS[0]))
        if index is not None:
            first.setdefault(index, row)
    records = rows_of(shard.failures.source, Plan())
    for row in standing_failures(records, finished, lambda _line, _offset, row: row):
        yield named_by_index(row, first)
