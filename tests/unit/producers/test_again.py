"""Rows read again, each source once and in its own order."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.producers import json_lines
from nemo_gym.rollout_compare.producers.again import read_again, together
from nemo_gym.rollout_compare.producers.gym import RowsAtHand
from nemo_gym.rollout_compare.producers.gym.rows import ROLLOUTS
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.schema import Place, Wanted
from tests.compressing import write_compressed
from tests.support import rows_file, write_rows


def file_of(folder: Path, name: str) -> RowsFile:
    """A file of three rows, each on a line of 18 bytes."""
    return rows_file(write_rows(folder / name, [{"task_id": f"{name}{i}"} for i in range(3)]))


class TestTogether:
    def test_pairs_come_in_the_order_of_their_first_rows_so_many_at_a_time(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        rows = [Place(one, 3, 36), Place(two, 1, 0), Place(one, 1, 0), Place(one, 2, 18), Place(two, 2, 18)]
        pairs = [(row, rows[0]) for row in rows]
        assert together(pairs, 2) == [[2, 3], [0, 1], [4]]
        assert together(pairs, 9) == [[2, 3, 0, 1, 4]]
        assert together([], 3) == together([], 0) == []

    @pytest.mark.parametrize("side", [0, 1])
    def test_with_a_compressed_file_it_is_all_of_them(self, tmp_path: Path, side: int) -> None:
        packed = rows_file(write_compressed(tmp_path / "a.jsonl.gz", [{"n": 1}, {"n": 2}]))
        plain = Place(file_of(tmp_path, "b"), 1, 0)
        pairs = [(Place(packed, 2, 8), plain), (Place(packed, 1, 0), plain)]
        assert together(pairs if side == 0 else [(new, old) for old, new in pairs], 1) == [
            [1, 0] if side == 0 else [0, 1]
        ]

    def test_those_at_hand_come_as_they_are(self) -> None:
        source = RowsAtHand([{}] * 3)
        rows = [Place(source, i + 1, i) for i in range(3)]
        assert together(list(zip(rows, rows, strict=True)), 2) == [[0, 1], [2]]


class TestReadAgain:
    def again(self, *rows: Place) -> dict[int, Any]:
        """What is found at the places of rows; errors as text."""
        found = list(read_again(rows, Wanted(fields=("task_id", "reward"))))
        assert len(found) == len(rows)
        return {i: str(found) if isinstance(found, Exception) else found.values[0] for i, found in found}

    def test_rows_are_read_from_their_files_whatever_their_order(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        at_hand = Place(RowsAtHand([{"task_id": "m"}]), 1, 0)
        found = self.again(Place(two, 3, 36), Place(one, 2, 18), at_hand, Place(one, 1, 0), Place(two, 1, 0))
        assert found == {0: "b2", 1: "a1", 2: "m", 3: "a0", 4: "b0"}
        assert self.again() == {}

    def test_rows_of_a_file_that_has_changed_say_so_and_the_others_are_read(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        with one.path.open("a") as file:
            file.write("more")
        found = self.again(Place(one, 1, 0), Place(two, 1, 0), Place(one, 3, 36))
        assert found[1] == "b0"
        assert found[0] == found[2]
        assert found[0].startswith(f"{one.path} has changed")

    def test_rows_of_a_file_that_is_gone_say_so(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        one.path.unlink()
        found = self.again(Place(one, 1, 0), Place(two, 2, 18))
        assert found[1] == "b1"
        assert str(one.path) in found[0]

    def test_a_place_that_holds_no_row_any_more_is_a_change(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        found = self.again(Place(source, 2, 20), Place(source, 3, 36))
        assert found[1] == "a2"
        assert found[0].startswith(f"{source.path} has changed")

    def test_a_file_that_cannot_be_opened_any_more_is_an_error_of_its_rows(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        folder = tmp_path / "folder"
        folder.mkdir()
        status = folder.stat()
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        unchanged = RowsFile(Input(folder, folder, 0, b"", version), ROLLOUTS)
        found = self.again(Place(unchanged, 1, 0), Place(source, 1, 0), Place(unchanged, 2, 5))
        error = f"cannot read {folder}: Is a directory"
        assert found == {0: error, 1: "a0", 2: error}

    def test_a_source_that_was_sent_to_another_process_is_the_same_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = file_of(tmp_path, "a")
        sent: RowsFile = pickle.loads(pickle.dumps(source))  # noqa: S301  # made in this line
        opened: list[Input] = []
        reading = vars(json_lines)["reading"]

        def noted(of: Input) -> Any:
            opened.append(of)
            return reading(of)

        monkeypatch.setattr(json_lines, "reading", noted)
        places = [Place(source, 2, 18), Place(sent, 1, 0), Place(source, 3, 36)]
        assert self.again(*places) == {0: "a1", 1: "a0", 2: "a2"}
        assert opened == [source.input]
        assert together(list(zip(places, places, strict=True)), 2) == [[1, 0], [2]]

    def test_a_file_that_has_grown_is_read_where_the_caller_knows_its_rows(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        with source.path.open("a") as file:
            file.write("more")
        ((_, refused),) = read_again([Place(source, 1, 0)], Wanted(fields=("task_id",)))
        ((_, record),) = read_again([Place(source, 1, 0)], Wanted(fields=("task_id",)), grown=True)
        assert isinstance(refused, Exception)
        assert not isinstance(record, Exception)
        assert record.values == ("a0",)

    def test_a_row_at_hand_is_given_whole_if_wanted(self) -> None:
        rows = [{"task_id": "a"}, {"task_id": "b", "test_output": "x"}]
        place = Place(RowsAtHand(rows), 2, 1)
        assert place.where == "row 2"
        ((_, record),) = read_again([place], Wanted(row=True, output=True))
        assert not isinstance(record, Exception)
        assert record.row is rows[1]
        assert record.output is not None
        assert record.output.texts == (("test_output", "x"),)
        ((_, other),) = read_again([place], Wanted(fields=("task_id",)))
        assert not isinstance(other, Exception)
        assert (other.values, other.row) == (("b",), None)
