from __future__ import annotations

import json
from pathlib import Path

import pytest

from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.schema import CompareInputError
from nemo_gym.rollout_compare.table.places import Places
from tests.support import row_at, rows_file, write_rows


def file_of(folder: Path, name: str) -> RowsFile:
    """A file of three rows, each on a line of 18 bytes."""
    return rows_file(write_rows(folder / name, [{"task_id": f"{name}{i}"} for i in range(3)]))


class TestPlaces:
    def test_rows_are_found_in_their_file_by_line_and_offset(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        places = Places()
        places.append_all(source, range(1, 3), [0, 18])
        places.append_all(source, range(3, 4), [36])
        assert [(places.of(i).where, places.of(i).offset) for i in range(3)] == [
            (f"{source.path}:1", 0),
            (f"{source.path}:2", 18),
            (f"{source.path}:3", 36),
        ]
        assert [row_at(places.of(i)) for i in range(3)] == [{"task_id": f"a{i}"} for i in range(3)]

    @pytest.mark.parametrize(
        "lines",
        [[1, 2, 3], [2, 3, 9], [1, 5, 6, 7, 20], [4], [1, 3, 5, 7], [10, 11, 12]],
        ids=str,
    )
    def test_lines_that_do_not_follow_one_another_are_found_too(self, tmp_path: Path, lines: list[int]) -> None:
        source = file_of(tmp_path, "a")
        for cut in range(len(lines) + 1):
            for before in (0, 100):
                places, more = Places(), Places()
                places.append_all(source, lines[:cut], lines[:cut])
                more.append_all(source, lines[cut:], lines[cut:])
                places.extend(more, before)
                places.append_all(source, range(500, 502), [500, 501])
                found = [places.of(i).line for i in range(len(lines) + 2)]
                assert found == [*lines[:cut], *(line + before for line in lines[cut:]), 500, 501]

    def test_rows_of_several_files_are_found_each_in_its_own(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        places = Places()
        places.append_all(one, range(1, 3), [0, 18])
        places.append_all(two, [3], [36])
        places.append_all(one, range(3, 4), [36])
        assert [row_at(places.of(i))["task_id"] for i in range(4)] == ["a0", "a1", "b2", "a2"]
        assert [places.of(i).where for i in range(4)] == [
            f"{one.path}:1",
            f"{one.path}:2",
            f"{two.path}:3",
            f"{one.path}:3",
        ]

    def test_a_row_of_a_file_that_has_changed_is_not_read_again(self, tmp_path: Path) -> None:
        source = file_of(tmp_path, "a")
        places = Places()
        places.append_all(source, range(1, 2), [0])
        with source.path.open("a") as file:
            file.write(json.dumps({"task_id": "late"}))
        with pytest.raises(CompareInputError, match=f"^{source.path} has changed"):
            row_at(places.of(0))

    def test_rows_of_several_files_can_be_put_together(self, tmp_path: Path) -> None:
        one, two = file_of(tmp_path, "a"), file_of(tmp_path, "b")
        places, more = Places(), Places()
        places.append_all(one, range(1, 3), [0, 18])
        more.append_all(two, range(1, 3), [0, 18])
        places.extend(more, 0)
        places.append_all(one, range(3, 4), [36])
        assert [row_at(places.of(i))["task_id"] for i in range(5)] == ["a0", "a1", "b0", "b1", "a2"]
