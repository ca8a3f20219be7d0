"""One run's files: its rollouts and, beside them, the failures sidecar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.decode import parse_object
from nemo_gym.rollout_compare.lines import Input, iter_lines, open_input
from nemo_gym.rollout_compare.reading import default_jobs, read_tables, reason_for
from nemo_gym.rollout_compare.rows import row_facts
from nemo_gym.rollout_compare.schema import CompareInputError, Row
from nemo_gym.rollout_compare.sidecar import attempt_of, sidecar_path, standing_failures
from nemo_gym.rollout_compare.table import Table, decoder_for


class Run(Struct, frozen=True):
    """The files of one run, open to be read.

    Attributes:
        main: The rollouts.
        sidecar: The failed attempts, None where the run has no such file.
    """

    main: Input
    sidecar: Input | None


def run_files(path: Path) -> list[Path]:
    """The files that are read for a run, those that exist."""
    return [path, *(other for other in [sidecar_path(path)] if os.path.lexists(other))] if path.name else [path]


@contextmanager
def open_run(path: Path) -> Iterator[Run]:
    """Open a run by its rollouts file.

    Raises:
        CompareInputError: A file of it cannot be read.
    """
    with ExitStack() as stack:
        main, *beside = [stack.enter_context(open_input(file)) for file in run_files(path)]
        yield Run(main, beside[0] if beside else None)


def run_tables(runs: Sequence[Run], key: str | None = None, jobs: int | None = None) -> list[Table]:
    """Runs as columns.

    Args:
        runs: The runs.
        key: The field that names the task, None where it is to be found.
        jobs: How many processes may read at a time; as many as are worth it when None.

    Raises:
        CompareInputError: A line breaks a rule: the first such line of the first such file, sidecars last.
    """
    sources = [run.main for run in runs]
    tables = read_tables(sources, key, jobs or default_jobs(sources))
    for run, table in zip(runs, tables, strict=True):
        if run.sidecar:
            _add_failures(table, run.sidecar)
    return tables


def _add_failures(table: Table, sidecar: Input) -> None:
    pick = decoder_for(table.key).pick
    for line, offset, row in standing_failures(_records(sidecar, table.key), table.attempts(), table.key):
        table.add([pick(row)], failed=True)
        table.origins.append_all(sidecar, [line], [offset])


def load_rollouts(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every row of a run: those of the rollouts file, then a masked row for each failed attempt that stands.

    Raises:
        CompareInputError: A file cannot be read or a line breaks a rule.
    """
    with open_run(Path(path)) as run:
        rows = [row for _, _, row in _records(run.main, None, check=row_facts)]
        if run.sidecar:
            finished = {attempt for row in rows if (attempt := attempt_of(row))}
            rows.extend(row for _, _, row in standing_failures(_records(run.sidecar, None), finished, None))
        return rows


def _records(
    source: Input, key: str | None, check: Callable[[Row], object] = bool
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """The objects of a file that pass a check, each with its line number and offset."""
    for line, offset, data in iter_lines(source):
        try:
            row = parse_object(data)
            check(row)
        except (CompareInputError, RecursionError) as error:
            reason = reason_for(error, source, offset, data, key)
            raise CompareInputError(f"{source.path}:{line}: {reason}") from None
        yield line, offset, row
