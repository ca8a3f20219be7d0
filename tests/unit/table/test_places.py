from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.producers.again import read_again, together
from nemo_gym.rollout_compare.producers.json_rows import RowDecoder
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table.places import FileRow, MemoryRow, Places
from tests.compressing import write_compressed
from tests.support import source_of, write_rows


def file_of(folder: Path, name: str) -> Input:
    """A file of three rows, each on a line of 18 bytes."""
    return source_of(write_rows(folder / name, [{"task_id": f"{name}{i}"} for i in range(3)]))


class TestBatches:
    def test_pairs_come_in_the_order_of_their_first_rows_so_many_at_a_time(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        rows = [FileRow(one, 3, 36), FileRow(two, 1, 0), FileRow(one, 1, 0), FileRow(one, 2, 18), FileRow(two, 2, 18)]
        pairs = [(row, rows[0]) for row in rows]
        assert together(pairs, 2) == [[2, 3], [0, 1], [4]]
        assert together(pairs, 9) == [[2, 3, 0, 1, 4]]
        assert together([], 3) == together([], 0) == []

    @pytest.mark.parametrize("side", [0, 1])
    def test_with_a_compressed_file_it_is_all_of_them(self, tmp_path: Path, side: int) -> None:
        packed = source_of(write_compressed(tmp_path / "a.jsonl.gz", [{"n": 1}, {"n": 2}]))
        plain = FileRow(file_of(tmp_path, "b"), 1, 0)
        pairs = [(FileRow(packed, 2, 8), plain), (FileRow(packed, 1, 0), plain)]
        assert together(pairs if side == 0 else [(new, old) for old, new in pairs], 1) == [
            [1, 0] if side == 0 else [0, 1]
        ]

    def test_those_at_hand_come_as_they_are(self) -> None:
        rows = [MemoryRow({}, f"row {i}") for i in (1, 2, 3)]
        assert together(list(zip(rows, rows, strict=True)), 2) == [[0, 1], [2]]


class TestOrigins:
    def test_rows_are_found_in_their_file_by_line_and_offset(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        origins = Places()
        origins.append_all(source, range(1, 3), [0, 18])
        origins.append_all(source, range(3, 4), [36])
        assert [(origins.of(i).where, origins.of(i).offset) for i in range(3)] == [
            (f"{source.path}:1", 0),
            (f"{source.path}:2", 18),
            (f"{source.path}:3", 36),
        ]
        assert [origins.of(i).read() for i in range(3)] == [{"task_id": f"a{i}"} for i in range(3)]

    @pytest.mark.parametrize(
        "lines",
        [[1, 2, 3], [2, 3, 9], [1, 5, 6, 7, 20], [4], [1, 3, 5, 7], [10, 11, 12]],
        ids=str,
    )
    def test_lines_that_do_not_follow_one_another_are_found_too(self, tmp_path: Path, lines: list[int]) -> None:
        source = file_of(tmp_path, "a")
        for cut in range(len(lines) + 1):
            for before in (0, 100):
                origins, more = Places(), Places()
                origins.append_all(source, lines[:cut], lines[:cut])
                more.append_all(source, lines[cut:], lines[cut:])
                origins.extend(more, before)
                origins.append_all(source, range(500, 502), [500, 501])
                found = [origins.of(i).line for i in range(len(lines) + 2)]
                assert found == [*lines[:cut], *(line + before for line in lines[cut:]), 500, 501]

    def test_rows_of_several_files_are_found_each_in_its_own(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        origins = Places()
        origins.append_all(one, range(1, 3), [0, 18])
        origins.append_all(two, [3], [36])
        origins.append_all(one, range(3, 4), [36])
        assert [origins.of(i).read()["task_id"] for i in range(4)] == ["a0", "a1", "b2", "a2"]
        assert [origins.of(i).where for i in range(4)] == [
            f"{one.path}:1",
            f"{one.path}:2",
            f"{two.path}:3",
            f"{one.path}:3",
        ]

    def test_a_row_of_a_file_that_has_changed_is_not_read_again(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        origins = Places()
        origins.append_all(source, range(1, 2), [0])
        with source.path.open("a") as file:
            file.write(json.dumps({"task_id": "late"}))
        with pytest.raises(CompareInputError, match=f"^{source.path} has changed"):
            origins.of(0).read()

    def test_rows_of_several_files_can_be_put_together(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        origins, more = Places(), Places()
        origins.append_all(one, range(1, 3), [0, 18])
        more.append_all(two, range(1, 3), [0, 18])
        origins.extend(more, 0)
        origins.append_all(one, range(3, 4), [36])
        assert [origins.of(i).read()["task_id"] for i in range(5)] == ["a0", "a1", "b0", "b1", "a2"]


class TestReadAgain:
    DECODER = RowDecoder(("task_id", "reward"))

    def again(self, *rows: FileRow | MemoryRow) -> dict[int, Any]:
        """What is found at the places of rows; errors as text."""
        found = list(read_again(rows, self.DECODER))
        assert len(found) == len(rows)
        return {i: str(values) if isinstance(values, Exception) else values[0] for i, values in found}

    def test_rows_are_read_from_their_files_whatever_their_order(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        at_hand = MemoryRow({"task_id": "m"}, "row 1")
        found = self.again(FileRow(two, 3, 36), FileRow(one, 2, 18), at_hand, FileRow(one, 1, 0), FileRow(two, 1, 0))
        assert found == {0: "b2", 1: "a1", 2: "m", 3: "a0", 4: "b0"}
        assert self.again() == {}

    def test_rows_of_a_file_that_has_changed_say_so_and_the_others_are_read(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        with one.path.open("a") as file:
            file.write("more")
        found = self.again(FileRow(one, 1, 0), FileRow(two, 1, 0), FileRow(one, 3, 36))
        assert found[1] == "b0"
        assert found[0] == found[2]
        assert found[0].startswith(f"{one.path} has changed")

    def test_rows_of_a_file_that_is_gone_say_so(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        one.path.unlink()
        found = self.again(FileRow(one, 1, 0), FileRow(two, 2, 18))
        assert found[1] == "b1"
        assert str(one.path) in found[0]

    def test_a_place_that_holds_no_row_any_more_is_a_change(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        found = self.again(FileRow(source, 2, 20), FileRow(source, 3, 36))
        assert found[1] == "a2"
        assert found[0].startswith(f"{source.path} has changed")

    def test_a_file_that_cannot_be_opened_any_more_is_an_error_of_its_rows(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        folder = tmp_path / "folder"
        folder.mkdir()
        status = folder.stat()
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        unchanged = Input(folder, folder, 0, b"", version)
        found = self.again(FileRow(unchanged, 1, 0), FileRow(source, 1, 0), FileRow(unchanged, 2, 5))
        error = f"cannot read {folder}: Is a directory"
        assert found == {0: error, 1: "a0", 2: error}
