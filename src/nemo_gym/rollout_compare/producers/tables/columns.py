"""Which column of a table says what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.rewards import number_of
from nemo_gym.rollout_compare.producers.scores import GROUPS, SCORES, numbers_in, plain
from nemo_gym.rollout_compare.producers.tables import names
from nemo_gym.rollout_compare.schema import Row

#: Columns with numbers that are no scores.
_NO_SCORES = (
    *names.IDS,
    *names.MORE_IDS,
    *names.ATTEMPTS,
    *(name for several in names.MEASURES.values() for name in several),
    *names.SETTINGS,
    *names.MASKS,
    *names.ERRORS,
    "",
    "timestamp",
    "created",
    "total_tokens",
)

#: Ids that are none of a task.
_OTHER_IDS = ("run", "model", "user", "session", "trace", "span", "experiment", "parent")


class Columns(Struct, frozen=True):
    """The columns of a table by what they say, each by its own name.

    Attributes:
        ids: Those that usually name the task, best first.
        more_ids: Those that may name it.
        positions: Those of them that may be places in a data set.
        score: The reward, None where none of several columns is the main one, or there is none.
        scores: All that may be rewards.
        asked: What the system was asked: one column, or all those of a group.
        error: An error, None where there is no such column.
        mask: Whether the row does not count.
        attempt: The attempt's number.
        settings: What a row was made with.
        measures: What it cost: the measure and the column.
        outputs: What the verifier said.
        answers: What the agent answered.
        known: All columns, where every row has the same; None where rows may have others.
    """

    ids: tuple[str, ...]
    more_ids: tuple[str, ...]
    positions: tuple[str, ...]
    score: str | None
    scores: tuple[str, ...]
    asked: tuple[str, ...]
    error: str | None
    mask: str | None
    attempt: str | None
    settings: tuple[str, ...]
    measures: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]
    answers: tuple[str, ...]
    known: tuple[str, ...] | None = None


def columns_of(rows: Sequence[Row], header: Sequence[str] | None = None) -> Columns:
    """The columns of a table by its first rows, and by its header where it has one."""
    found = list(dict.fromkeys(header or (name for row in rows for name in row)))
    by_name: dict[str, str] = {}
    for name in found:
        by_name.setdefault(plain(name), name)

    def called(wanted: Iterable[str]) -> Iterator[str]:
        return (by_name[name] for name in wanted if name in by_name)

    scores = tuple(_scores(rows, found, by_name))
    ids = tuple(called(names.IDS))
    more = tuple(dict.fromkeys((*called(names.MORE_IDS), *_like_ids(found, ids))))
    asked = next(called(names.ASKED), None)
    grouped = [name for name in found if plain(name).partition(".")[0] in names.ASKED_GROUPS and "." in name]
    return Columns(
        ids=ids,
        more_ids=more,
        positions=tuple(called(names.POSITIONS)),
        score=_main(scores, found, rows),
        scores=scores,
        asked=(asked,) if asked else tuple(sorted(grouped)),
        error=next(called(names.ERRORS), None),
        mask=next(called(names.MASKS), None),
        attempt=next(called(names.ATTEMPTS), None),
        settings=tuple(called(names.SETTINGS)),
        measures=tuple(
            (measure, column) for measure, several in names.MEASURES.items() for column in list(called(several))[:1]
        ),
        outputs=tuple(called(names.OUTPUTS)),
        answers=tuple(called(names.ANSWERS)),
        known=tuple(found) if header is not None else None,
    )


def _like_ids(found: Iterable[str], ids: Sequence[str]) -> Iterator[str]:
    """Columns whose names end in `id` and that are not of a run, a model or a person."""
    for name in found:
        lower = plain(name)
        is_id = lower.endswith("_id") or name.endswith(("Id", "ID"))
        if is_id and not lower.startswith(_OTHER_IDS) and name not in ids:
            yield name


def _scores(rows: Sequence[Row], found: Sequence[str], by_name: Mapping[str, str]) -> Iterator[str]:
    """Columns, and numbers in objects, that are called as scores are."""
    for name in (names.REWARD, *SCORES):
        if name in by_name:
            yield by_name[name]
    for column in found:
        group, dot, _ = plain(column).partition(".")
        if group not in GROUPS:
            continue
        if dot:
            yield column
            continue
        inner: dict[str, None] = {}
        for row in rows:
            inner |= dict.fromkeys(numbers_in(row.get(column), column))
        yield from inner


def _main(scores: Sequence[str], found: Sequence[str], rows: Sequence[Row]) -> str | None:
    """`reward`, else `score`, else the only column called like one, else the only one with numbers."""
    by_name = {plain(name): name for name in reversed(scores)}
    for name in (names.REWARD, names.SCORE):
        if name in by_name:
            return by_name[name]
    if scores:
        return scores[0] if len(scores) == 1 else None
    numbers = [name for name in found if plain(name) not in _NO_SCORES and _has_numbers(name, rows)]
    return numbers[0] if len(numbers) == 1 else None


def _has_numbers(column: str, rows: Sequence[Row]) -> bool:
    values = [row[column] for row in rows if row.get(column) not in (None, "")]
    return bool(values) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    return number_of(value) is not None or (isinstance(value, str) and plain(value) in ("true", "false"))


def candidates(row: Row, columns: Columns) -> Iterator[str]:
    """The numbers of a row that could be meant as the reward."""
    for name, value in row.items():
        if plain(name) in _NO_SCORES:
            continue
        if isinstance(value, str):
            if _is_number(value):
                yield name
        elif name not in columns.asked:
            yield from numbers_in(value, name)
