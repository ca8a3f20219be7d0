"""A row may be nested 500 levels deep, whichever decoder, Python and stack it is read with, and not one more."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nemo_gym.rollout_compare import load_rollouts
from nemo_gym.rollout_compare.producers import depth, json_rows, read_again
from nemo_gym.rollout_compare.producers.depth import MOST_LEVELS, is_too_deep, room_for_rows
from nemo_gym.rollout_compare.producers.json_rows import InvalidLine, RowDecoder, parse_object
from nemo_gym.rollout_compare.schema import CompareInputError, Wanted
from tests.support import compare, read_files, write_rows

T = TypeVar("T")

WANTED = ("task_id", "response.metadata", "verifier_metadata.id", "reward")

#: Where the nesting stands, with the levels that are there without it.
SHAPES = [
    ('{"task_id": "a", "other": %s}', 1),
    ('{"task_id": %s}', 1),
    ('{"task_id": "a", "response": %s}', 1),
    ('{"task_id": "a", "response": {"metadata": %s}}', 2),
    ('{"task_id": "a", "response": {"other": %s}}', 2),
    ('{"task_id": "a", "verifier_metadata": {"id": [1, %s]}}', 3),
]
KINDS = [("[", "]", ""), ('{"a":', "}", "1"), ('[[],{"a":', "}]", "null")]


def row(shape: tuple[str, int], kind: tuple[str, str, str], levels: int) -> bytes:
    """A row that is nested so many levels deep."""
    begin, end, inside = kind
    text, outer = shape
    a_time = begin.count("[") + begin.count("{") - begin.count("[]")
    more, rest = divmod(levels - outer, a_time)
    return (text % ("[" * rest + begin * more + inside + end * more + "]" * rest)).encode()


def from_a_deep_stack(calls: int, function: Callable[[], T]) -> T:
    return function() if calls == 0 else from_a_deep_stack(calls - 1, function)


@contextmanager
def another_thread() -> Iterator[None]:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def refused(decode: Callable[[bytes], object], line: bytes) -> str | None:
    """Why a line is refused, None if it is read."""
    try:
        decode(line)
    except InvalidLine as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", KINDS, ids=["lists", "objects", "both"])
@pytest.mark.parametrize("shape", SHAPES, ids=range(len(SHAPES)))
class TestDecoders:
    def check(self, shape: tuple[str, int], kind: tuple[str, str, str]) -> None:
        decoder, fast = RowDecoder(WANTED), RowDecoder(WANTED)._fast
        assert fast
        plain = RowDecoder(WANTED)
        plain._fast = None
        deepest, deeper = (row(shape, kind, levels) for levels in (MOST_LEVELS, MOST_LEVELS + 1))
        for decode in (decoder.decode, plain.decode, parse_object, lambda line: decoder.columns([b"{}", line])):
            assert refused(decode, deepest) is None
            assert refused(decode, deeper) == "invalid JSON (nested too deeply)"
        with pytest.raises((*json_rows.REFUSALS,)):
            fast.columns([deeper])
        with room_for_rows():
            assert repr(decoder.decode(deepest)) == repr(plain.decode(deepest))

    def test_from_a_shallow_stack(self, shape: tuple[str, int], kind: tuple[str, str, str]) -> None:
        limit = sys.getrecursionlimit()
        self.check(shape, kind)
        assert sys.getrecursionlimit() == limit

    def test_from_a_deep_stack(self, shape: tuple[str, int], kind: tuple[str, str, str]) -> None:
        from_a_deep_stack(700, lambda: self.check(shape, kind))

    def test_beside_other_threads(self, shape: tuple[str, int], kind: tuple[str, str, str]) -> None:
        with another_thread():
            self.check(shape, kind)


class TestMeasure:
    @pytest.mark.parametrize(
        "line",
        [
            b'{"a": "' + b"[" * 2000 + b'"}',
            b'{"a": "\\"' + b"[" * 2000 + b'"}',
            b"[" + b"[]," * 2000 + b"1]",
            b'{"a\\\\": ' + b"[" * 499 + b'"\n]' + b'"' + b"]" * 499 + b"}",
            b"[" * 500,
            b"]" * 2000 + b"[" * 501,
        ],
        ids=["in a string", "after a quote", "beside one another", "a backslash", "just deep enough", "closed before"],
    )
    def test_what_is_not_deep_is_not_taken_for_it(self, line: bytes) -> None:
        assert not is_too_deep(line)
        assert not is_too_deep(memoryview(line))

    @pytest.mark.parametrize(
        "line",
        [b"[" * 1001, b'{"' + b"x" * 2000 + b'":' + b"[" * 500, b'{"a\\\\":' + b'{"b":' * 500],
        ids=["cut off", "after a long string", "after a backslash"],
    )
    def test_what_is_deep_is_told(self, line: bytes) -> None:
        assert is_too_deep(line)


def test_where_calls_are_counted_apart_every_line_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Python 3.12 and later; the tests run on 3.11 too."""
    monkeypatch.setattr(depth, "_LEVELS_ARE_CALLS", False)
    decoder = RowDecoder(WANTED)
    assert refused(decoder.decode, row(SHAPES[0], KINDS[0], MOST_LEVELS)) is None
    assert refused(decoder.decode, row(SHAPES[0], KINDS[0], MOST_LEVELS + 1)) == "invalid JSON (nested too deeply)"


@pytest.mark.parametrize("shape", SHAPES, ids=range(len(SHAPES)))
class TestFiles:
    def test_a_file_is_read_the_same_whatever_the_pieces_and_the_stack(
        self, tmp_path: Path, shape: tuple[str, int]
    ) -> None:
        path = tmp_path / "a.jsonl"
        for levels, good in ((MOST_LEVELS, True), (MOST_LEVELS + 1, False)):
            path.write_bytes(b'{"task_id": "b", "reward": 1}\n' * 3 + row(shape, KINDS[0], levels) + b"\n{}\n")
            for piece_bytes in (7, 100, 600, 1 << 20):
                for calls in (0, 600):
                    if good:
                        assert len(from_a_deep_stack(calls, partial(read_files, path, piece_bytes=piece_bytes))[0]) == 5
                        continue
                    with pytest.raises(CompareInputError) as caught:
                        from_a_deep_stack(calls, partial(read_files, path, piece_bytes=piece_bytes))
                    assert str(caught.value) == f"{path}:4: invalid JSON (nested too deeply)"

    def test_the_deepest_row_can_be_read_again(self, tmp_path: Path, shape: tuple[str, int]) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(row(shape, KINDS[1], MOST_LEVELS) + b"\n")
        [table] = read_files(path)
        wanted = Wanted(fields=WANTED, task_input=True, output=True, row=True)
        for calls in (0, 600):
            ((_, record),) = from_a_deep_stack(calls, lambda: list(read_again([table.place(0)], wanted)))
            assert not isinstance(record, Exception)
            assert record.row
            assert "task_id" in record.row


class TestRuns:
    @pytest.mark.parametrize("ending", ["", "_failures", "_materialized_inputs"])
    @pytest.mark.parametrize("field", ["other", "verifier_metadata", "_ng_task_index"])
    def test_rollouts_failures_and_planned_rows_are_refused_at_the_same_depth(
        self, tmp_path: Path, ending: str, field: str
    ) -> None:
        for name in ("", "_failures", "_materialized_inputs"):
            write_rows(tmp_path / f"a{name}.jsonl", [{"task_id": "a", "_ng_task_index": 0, "_ng_rollout_index": 0}])
        path, changed = tmp_path / "a.jsonl", tmp_path / f"a{ending}.jsonl"
        for levels, status in ((MOST_LEVELS, 0), (MOST_LEVELS + 1, 1)):
            changed.write_bytes(row((f'{{"task_id": "b", "{field}": %s}}', 1), KINDS[0], levels) + b"\n")
            done = compare(path, path, "--key", "task_id")
            error = f"error: {changed}:1: invalid JSON (nested too deeply)\n"
            assert (done.status, done.stderr) == (status, error if status else "")

    def test_a_script_reads_as_deep(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(row(SHAPES[0], KINDS[0], MOST_LEVELS))
        [found] = load_rollouts(path)
        value: Any = found["other"]
        levels = 1
        while value:
            levels, value = levels + 1, value[0]
        assert levels + 1 == MOST_LEVELS  # the innermost list is empty
        path.write_bytes(row(SHAPES[0], KINDS[0], MOST_LEVELS + 1) + b"\n")
        with pytest.raises(CompareInputError, match=r":1: invalid JSON \(nested too deeply\)$"):
            load_rollouts(path)

    def test_a_row_that_breaks_a_rule_deep_in_is_named_with_its_task(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(row(('{"task_id": "a", "reward": "x", "other": %s}', 1), KINDS[0], MOST_LEVELS))
        with pytest.raises(CompareInputError) as caught:
            from_a_deep_stack(600, lambda: read_files(path))
        assert str(caught.value) == f"{path}:1: reward 'x' is not a number (task a)"
