"""Parquet files, read by pyarrow, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from nemo_gym.rollout_compare.files import Input, cannot_read
from nemo_gym.rollout_compare.producers.tables.sources import Numbered, TableSource
from nemo_gym.rollout_compare.schema import CompareInputError

_ROWS_A_BATCH = 1024
_MOST_SAID = 300


class ParquetTable(TableSource, frozen=True):
    """A table as a Parquet file; a piece of it is the number of its first row group, and of the one behind its last."""

    def pieces(self, piece_bytes: int) -> list[tuple[int, int]]:
        """Row groups, so many that they have about so many bytes."""
        with_groups = opened(self.input)
        sizes = [with_groups.metadata.row_group(i).total_byte_size for i in range(with_groups.metadata.num_row_groups)]
        starts, taken = [0], 0
        for i, size in enumerate(sizes):
            taken += size
            if taken >= piece_bytes and i + 1 < len(sizes):
                starts.append(i + 1)
                taken = 0
        return list(zip(starts, [*starts[1:], len(sizes)], strict=True))

    def rows(self, piece: Any) -> Iterator[Numbered]:
        """The rows of some row groups, numbered from 1."""
        start, stop = piece
        return parquet_rows(self.input, start, stop)


def parquet_rows(source: Input, start: int = 0, stop: int | None = None) -> Iterator[Numbered]:
    """The rows of row groups.

    Raises:
        CompareInputError: The file cannot be read.
    """
    file = opened(source)
    groups = list(range(start, file.metadata.num_row_groups if stop is None else stop))
    batches = file.iter_batches(_ROWS_A_BATCH, row_groups=groups)
    number = 0
    while True:
        with _faults(source):
            batch = next(batches, None)
            rows = batch.to_pylist() if batch is not None else ()
        if batch is None:
            return
        for row in rows:
            number += 1
            yield number, row


def opened(source: Input) -> Any:
    """The file, by pyarrow.

    Raises:
        CompareInputError: pyarrow is not installed, or the file is broken.
    """
    try:
        module = import_module("pyarrow.parquet")
    except ImportError:
        raise CompareInputError(
            f"cannot read {source.path}: Parquet needs pyarrow; pip install 'rollout-compare[parquet]'"
        ) from None
    with _faults(source):
        return module.ParquetFile(source.file)


@contextmanager
def _faults(source: Input) -> Iterator[None]:
    """Say of pyarrow's errors, which are all of these kinds, which file they are about."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError, KeyError, TypeError, IndexError) as error:
        said = " ".join(str(error).split())[:_MOST_SAID]
        raise cannot_read(source.path, ValueError(said or type(error).__name__)) from None
