"""Files of samples: one a line, or the list that older versions wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from nemo_gym.rollout_compare.files import (
    Input,
    Line,
    Piece,
    cannot_read,
    check_unchanged,
    gone,
    iter_blocks,
    iter_lines,
    pieces_of,
)
from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.depth import room_for_rows
from nemo_gym.rollout_compare.producers.documents import parse_document, read_document
from nemo_gym.rollout_compare.producers.json_lines import JsonLines, decoder_for
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, parse_object
from nemo_gym.rollout_compare.producers.lm_eval.layout import (
    FILTER,
    HASH,
    OUTPUT_FIELDS,
    PLACE,
    Choice,
    Layout,
    choice_of,
    metrics_of,
    sample_fields,
)
from nemo_gym.rollout_compare.producers.lm_eval.rows import not_a_filter, paths_for, record_of, samples_batch
from nemo_gym.rollout_compare.producers.one_file import WholeFile
from nemo_gym.rollout_compare.producers.scores import to_choose_from
from nemo_gym.rollout_compare.schema import Batch, CompareInputError, Fault, Fields, Place, Record, Row, Wanted, no_rows


class SamplesFile(JsonLines, frozen=True):
    """A file with a sample a line.

    Attributes:
        layout: What its rows have in common.
    """

    layout: Layout

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that hold a sample's answer and what it was held against."""
        return OUTPUT_FIELDS

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return sample_fields(key)

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen as the reward, of a sample read again."""
        return metrics_of(row)

    def label(self, row: Row, key: str | None) -> str:
        """What a row's task is called in messages."""
        return label_of(row, key, self.layout)

    def pieces(self, piece_bytes: int) -> list[Piece]:
        """The file in pieces; where rows do not name their filter only as far as the first filter goes."""
        pieces = pieces_of(self.input, piece_bytes)
        end = None if self.layout.filter is not None else _second_filter(self.input)
        if end is None:
            return pieces
        if self.input.magic:
            return [Piece(self.input, 0, end)]
        return [piece._replace(stop=min(piece.stop or end, end)) for piece in pieces if piece.start < end]

    def batches(
        self, piece: Piece, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """The samples of a piece."""
        choice = choice_of(self.layout, plan.reward)
        if choice.fault and self.layout.alone:
            rows = (_row(line) for _, _, line in iter_lines(self.input))
            raise nothing_to_choose(self.path, choice, rows)
        yield from super().batches(piece, plan, wanted, on_bytes)

    def _batch(
        self, lines: Sequence[Line], numbers: Sequence[int], offsets: Sequence[int], fields: tuple[str, ...], plan: Plan
    ) -> Batch:
        choice = choice_of(self.layout, plan.reward)
        with room_for_rows():
            columns = decoder_for(paths_for(self.layout, choice, fields)).columns(lines)
            return samples_batch(columns, fields, self.layout, choice, numbers=numbers, offsets=offsets)

    def _record_of(self, line: Line, wanted: Wanted) -> Record:
        return record_of(parse_object(line), wanted, self.layout)


def _row(line: bytes) -> Row:
    try:
        return parse_object(line)
    except InvalidLine:
        return {}


def label_of(row: Row, key: str | None, layout: Layout) -> str:
    """A row's task as far as it can be told."""
    name = next((row[field] for field in (key, HASH, PLACE) if field and row.get(field) is not None), "unknown")
    return f"{layout.task}/{name}"


def nothing_to_choose(path: Path, choice: Choice, rows: Iterator[Row]) -> CompareInputError:
    """What is said of a run that does not have the metric that was asked for."""
    names = (name for row in rows for name in metrics_of(row))
    return CompareInputError(f"{path}: {choice.fault}; {to_choose_from(names, 'row')}")


@lru_cache(maxsize=32)
def _second_filter(source: Input) -> int | None:
    """Where the rows of the second filter begin, None if there is only one: there the first document comes again."""
    decoder = decoder_for((PLACE,))
    first = None
    for block in iter_blocks(Piece(source)):
        for offset, line in zip(block.offsets, block.lines, strict=True):
            try:
                (place,) = decoder.decode(line)
            except InvalidLine:
                continue
            if first is not None and place == first:
                return offset
            first = place if first is None else first
    return None


class SamplesList(WholeFile, frozen=True):
    """A file with all samples as one JSON list.

    Attributes:
        layout: What its rows have in common.
    """

    layout: Layout

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The fields that hold a sample's answer and what it was held against."""
        return OUTPUT_FIELDS

    def fields(self, key: str | None) -> Fields:
        """The fields that may name the task."""
        return sample_fields(key)

    def metrics_in(self, row: Row) -> Iterable[str]:
        """The metrics that can be chosen as the reward, of a sample read again."""
        return metrics_of(row)

    def batches(
        self, piece: object, plan: Plan, wanted: Callable[[], Sequence[str]], on_bytes: Callable[[int], None]
    ) -> Iterator[Batch]:
        """All samples."""
        del piece
        choice = choice_of(self.layout, plan.reward)
        rows = list_of(self.input)
        on_bytes(self.size)
        odd = {number: why for number, row in enumerate(rows, 1) if (why := _fault_of(row, choice))}
        whole = [(number, row) for number, row in enumerate(rows, 1) if number not in odd]
        if choice.fault and self.layout.alone:
            raise nothing_to_choose(self.path, choice, (row for _, row in whole))
        if odd:
            yield no_rows([Fault(number, why) for number, why in odd.items()], len(rows))
            if not plan.skip_bad_lines:
                return
        if self.layout.filter is None:
            whole = list(_first_of_each(whole))
        fields = tuple(wanted())
        pick = decoder_for(paths_for(self.layout, choice, fields)).pick
        columns: list[Sequence[Any]] = list(zip(*(pick(row) for _, row in whole), strict=True))
        numbers = [number for number, _ in whole]
        if whole:
            yield samples_batch(columns, fields, self.layout, choice, numbers=numbers, offsets=numbers)
        yield no_rows((), len(rows))

    def again(self, places: Sequence[Place], wanted: Wanted, *, grown: bool) -> Iterator[Record | Exception]:
        """What is wanted of each sample."""
        try:
            if not grown:
                check_unchanged(self.input)
            rows: Sequence[Any] = list_of(self.input)
        except CompareInputError as error:
            yield from [error] * len(places)
            return
        for place in places:
            row = rows[place.offset - 1] if place.offset <= len(rows) else None
            yield record_of(row, wanted, self.layout) if isinstance(row, Mapping) else gone(self.input)


def _fault_of(row: Any, choice: Choice) -> str | None:
    """Why an entry of a list is not a sample."""
    if not isinstance(row, Mapping):
        return "expected a JSON object"
    named = choice.filter is None or isinstance(row.get(FILTER), str)
    return None if named else not_a_filter(row.get(FILTER))


def list_of(source: Input) -> list[Any]:
    """All samples of a list.

    Raises:
        CompareInputError: It cannot be read, or is no list.
    """
    try:
        return parse_document(read_document(source), list, 1)
    except CompareInputError as error:
        raise cannot_read(source.path, error) from None


def _first_of_each(rows: Sequence[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """The rows of the first filter, where rows do not name theirs: up to where the first document comes again."""
    for i, (number, row) in enumerate(rows):
        if i and row.get(PLACE) == rows[0][1].get(PLACE):
            return
        yield number, row
