"""What the user named to a run of OpenHands: its rows, with the failed ones beside them, or its report."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from nemo_gym.rollout_compare.files import STDIN, STDIN_PATH, Piece, open_input
from nemo_gym.rollout_compare.producers.contract import LocatedRun, Plan, Run, Shard
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.openhands import ERRORS, JUDGED, REPORT, ROWS
from nemo_gym.rollout_compare.producers.openhands.rows import RowReader, reader_of
from nemo_gym.rollout_compare.producers.records import RecordsFile, rows_in
from nemo_gym.rollout_compare.producers.swebench.files import LocatedReport
from nemo_gym.rollout_compare.schema import Attempt, Batch, CompareInputError


class Failed(Struct, frozen=True):
    """The file of failed rows: each is an attempt that left no other row."""

    source: RecordsFile

    def standing(self, finished: Collection[Attempt], plan: Plan) -> Iterator[Batch]:
        """The failed rows of instances that have no row in the main file."""
        fields = self.source.fields(plan.key).all()
        for batch in self.source.batches(Piece(self.source.input), plan, lambda: fields, lambda _: None):
            if batch.faults and not plan.skip_bad_lines:
                raise CompareInputError(f"{self.source.where(batch.faults[0].line)}: {batch.faults[0].reason}")
            attempts = zip(batch.task_indexes, batch.rollout_indexes, strict=True)
            yield batch.rows([i for i, attempt in enumerate(attempts) if attempt not in finished])


class LocatedRows(Struct, frozen=True):
    """A run's rows.

    Attributes:
        rows: The file of rows.
        errors: The file of failed ones, None where there is none.
    """

    rows: Path
    errors: Path | None = None

    def files(self) -> list[Path]:
        """The files that are read."""
        return [self.rows, *([self.errors] if self.errors else [])]

    def folders(self) -> list[Path]:
        """The folder that they lie in."""
        return [self.rows.parent]

    @contextmanager
    def opened(self) -> Iterator[Run]:
        """Open the files.

        Raises:
            CompareInputError: One of them cannot be read.
        """
        with ExitStack() as stack:
            source = stack.enter_context(open_input(self.rows))
            main = RecordsFile(source, reader_of(rows_in(source)))
            if self.errors is None:
                yield Run("openhands", [Shard(main)], [source])
                return
            other = stack.enter_context(open_input(self.errors))
            failed = Failed(RecordsFile(other, RowReader(None, failed=True)))
            yield Run("openhands", [Shard(main, failed)], [source, other])


def locate_openhands(named: str) -> LocatedRun:
    """A run as the user names it: its folder, or a file of rows.

    Raises:
        CompareInputError: The folder has rows without verdicts, and no report.
    """
    if named == STDIN:
        return LocatedRows(STDIN_PATH)
    path = Path(named)
    folder = RunFolder.at(path if path.is_dir() else path.parent)
    if not path.is_dir() and path.name == REPORT:
        return LocatedReport(path, reader="openhands")
    if not path.is_dir():
        return LocatedRows(path, folder.file(ERRORS) if path.name in (JUDGED, ROWS) else None)
    rows, report = folder.file(JUDGED), folder.file(REPORT)
    if rows is None and report:
        return LocatedReport(report, reader="openhands")
    rows = rows or folder.file(ROWS)
    if rows is None:
        raise CompareInputError(f"cannot read {named}: it is a folder without {JUDGED}, {ROWS} or {REPORT}")
    return LocatedRows(rows, folder.file(ERRORS))
