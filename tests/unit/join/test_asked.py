from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.join.asked import count_fields, inputs_of
from nemo_gym.rollout_compare.producers.depth import MOST_LEVELS
from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.support import read_files

GOOD = b'{"task_id": "a", "reward": 1}'


def file_of(path: Path, lines: Sequence[bytes]) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


class TestInputs:
    ROWS = tuple(b'{"responses_create_params": {"input": "%s?"}}' % text for text in (b"a", b"b", b"a"))

    def test_one_row_of_each_input_is_read(self, tmp_path: Path) -> None:
        [table] = read_files(file_of(tmp_path / "a.jsonl", [*self.ROWS, b"{}"]))
        assert [inputs_of(table)[i] for i in range(4)] == ["=a?", "=b?", "=a?", None]

    def test_the_run_may_have_grown(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", self.ROWS)
        [table] = read_files(path)
        file_of(path, [*self.ROWS, GOOD])
        assert inputs_of(table)[2] == "=a?"

    def test_but_an_input_must_be_what_it_was(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", self.ROWS)
        [table] = read_files(path)
        path.write_bytes(path.read_bytes().replace(b"b?", b"c?"))
        with pytest.raises(CompareInputError, match=f"^{path}:2 has changed since it was first read$"):
            inputs_of(table)


class TestDepth:
    """A row as deep as a row may be can be read again, however deep in calls that is asked for."""

    def test_a_row_that_could_just_be_read_can_be_read_again(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        row = b'{"responses_create_params": {"input": "a?"}, "deep": %s}'
        deepest = MOST_LEVELS - 1
        [table] = read_files(file_of(path, [row % (b"[" * deepest + b"]" * deepest)]))

        def called_from(calls: int) -> list[str | None]:
            return called_from(calls - 1) if calls else [inputs_of(table)[0]]

        assert called_from(40) == ["=a?"]
        with pytest.raises(CompareInputError, match="nested too deeply"):
            read_files(file_of(path, [row % (b"[" * MOST_LEVELS + b"]" * MOST_LEVELS)]))


class TestCounts:
    def test_fields_are_counted_in_a_file_that_grows(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [GOOD])
        [table] = read_files(path)
        file_of(path, [GOOD, GOOD])
        assert count_fields(table)["task_id"] == 1
        path.unlink()
        with pytest.raises(CompareInputError, match=f"^cannot read {path}: No such file or directory$"):
            count_fields(table)

    def test_rows_at_hand_are_counted_too(self) -> None:
        stands = count_fields(table_of([{"task_id": "a"}, {"task_id": None, "id": 1}, {"task_id": "b"}]))
        assert (stands["task_id"], stands["id"], stands["uuid"]) == (2, 1, 0)

    def test_failed_attempts_without_a_say_do_not_count(self) -> None:
        rows = [{"task_id": "a", "uuid": "u"}, failed_attempt({"uuid": "v"}), failed_attempt({"task_id": "b"})]
        stands = count_fields(table_of(rows))
        assert (stands["task_id"], stands["uuid"]) == (2, 1)
