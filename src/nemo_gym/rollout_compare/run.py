"""One run's files: its rollouts and, beside them, the failures sidecar."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nemo_gym.rollout_compare.decode import parse_object
from nemo_gym.rollout_compare.lines import Input, iter_lines, open_input
from nemo_gym.rollout_compare.rows import row_facts
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.sidecar import attempt_of, sidecar_path, standing_failures
from nemo_gym.rollout_compare.table import Table, located


@dataclass(frozen=True)
class Run:
    """The files of one run, open to be read.

    Attributes:
        main: The rollouts.
        sidecar: The failed attempts, None where the run has no such file.
    """

    main: Input
    sidecar: Input | None

    def table(self, key: str | None = None) -> Table:
        """The run as columns, for a given key or for the fields that are tried in turn.

        Raises:
            CompareInputError: A line of either file breaks a rule; it is the first such line.
        """
        table = Table(key)
        table.add_file(self.main)
        if self.sidecar:
            failures = standing_failures(_records(self.sidecar, key), table.attempts(), key)
            table.add_failures(self.sidecar, failures)
        return table


def run_files(path: Path) -> list[Path]:
    """The files that are read for a run, those that exist."""
    return [path, *(other for other in [sidecar_path(path)] if path.name and os.path.lexists(other))]


@contextmanager
def open_run(path: Path) -> Iterator[Run]:
    """Open a run by its rollouts file.

    Raises:
        CompareInputError: A file of it cannot be read.
    """
    with ExitStack() as stack:
        main, *beside = [stack.enter_context(open_input(file)) for file in run_files(path)]
        yield Run(main, beside[0] if beside else None)


def load_rollouts(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every row of a run: those of the rollouts file, then a masked row for each failed attempt that stands.

    Raises:
        CompareInputError: A file cannot be read or a line breaks a rule.
    """
    with open_run(Path(path)) as run:
        rows: list[dict[str, Any]] = []
        for line, offset, data in iter_lines(run.main):
            try:
                row = parse_object(data)
                row_facts(row)
            except (CompareInputError, RecursionError) as error:
                raise located(error, run.main, line, offset, data, None) from None
            rows.append(row)
        if run.sidecar:
            finished = {attempt for row in rows if (attempt := attempt_of(row))}
            rows.extend(row for _, _, row in standing_failures(_records(run.sidecar, None), finished, None))
        return rows


def _records(source: Input, key: str | None) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for line, offset, data in iter_lines(source):
        try:
            yield line, offset, parse_object(data)
        except CompareInputError as error:
            raise located(error, source, line, offset, data, key) from None
