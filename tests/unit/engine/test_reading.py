from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.engine.reading import read_tables
from nemo_gym.rollout_compare.engine.rows_at_hand import table_of
from nemo_gym.rollout_compare.files.lines import BLOCK_BYTES
from nemo_gym.rollout_compare.join.asked import count_fields
from nemo_gym.rollout_compare.producers import Plan, json_lines
from nemo_gym.rollout_compare.producers.depth import MOST_LEVELS
from nemo_gym.rollout_compare.producers.gym.fields import key_fields
from nemo_gym.rollout_compare.report.notes import note_message
from nemo_gym.rollout_compare.schema import CompareInputError
from tests.support import alone, facts, places, read_files, rows_file

#: Valid lines of all kinds, with what their rows say; blank lines between them.
LINES = [
    (b'{"task_id": "a", "reward": 1}', ["1.0", None, None, None, "a"]),
    (b"", None),
    (b'{"task_id": "b", "reward": 0.5, "mask_sample": true}\r', ["0.5", "mask_sample", None, None, "b"]),
    (b" \t\r", None),
    (b'{"task_id": "c", "reward": NaN}', ["nan", "non-finite reward (nan)", None, None, "c"]),
    (b'  {"task_id": "d", "reward": 2, "failure_kind": "k"}  ', ["2.0", None, None, "k", "d"]),
    (b'{"task_id": "\xe2\x80\xa8\xff", "reward": 0, "error": "e"}', ["0.0", None, "error: e", None, "\u2028\ufffd"]),
    (b'{"task_id": "lost", "reward": 9, "task_id": "f", "reward": 0}', ["0.0", None, None, None, "f"]),
]
SAID = [said for _, said in LINES if said]
NUMBERS = [number for number, (_, said) in enumerate(LINES, 1) if said]

GOOD = b'{"task_id": "a", "reward": 1}'


def file_of(path: Path, lines: Sequence[bytes], end: bytes = b"\n") -> Path:
    path.write_bytes(b"\n".join(lines) + end)
    return path


def outcome(paths: Sequence[str | Path], jobs: int, piece_bytes: int, key: str | None = None) -> Any:
    """The tables of files, or the error."""
    try:
        tables = read_files(*paths, key=key, jobs=jobs, piece_bytes=piece_bytes)
    except CompareInputError as error:
        return str(error)
    return [[facts(table), places(table)] for table in tables]


def expected_places(path: Path) -> list[list[str | int]]:
    offset = 0
    found: list[list[str | int]] = []
    for number, (line, said) in enumerate(LINES, 1):
        if said:
            found.append([f"{path}:{number}", offset])
        offset += len(line) + 1
    return found


def each_by_its_plan(path: str, jobs: str) -> Any:
    """The tables of one file read by three plans."""
    plans = (Plan(), Plan(planned=True), Plan("reward", skip_bad_lines=True))
    sources = [(number, rows_file(Path(path)), plan) for number, plan in enumerate(plans)]
    return [facts(table) for table in read_tables(sources, int(jobs), piece_bytes=10)]


def test_each_file_is_read_by_its_plan(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.jsonl", [GOOD, b'{"task_id": "b", "reward": 0, "error": "e"}'])
    for jobs in (1, 3):
        rows, planned, keyed = alone(each_by_its_plan, path, str(jobs))
        assert [row[0] for row in rows["rows"]] == ["1.0", "0.0"]
        assert planned["rows"] == [["nan", "no reward", None, None, {"task_id": label}] for label in "ab"]
        assert planned["keys"] == rows["keys"]
        assert keyed["keys"] == {"reward": None}


def equal_inputs(path: str, jobs: str) -> Any:
    """Which rows of a file have equal inputs: for each row the first one like it."""
    [table] = read_files(path, jobs=int(jobs), piece_bytes=10)
    [whole] = read_files(path)
    assert list(table.inputs) == list(whole.inputs)
    return [list(table.inputs).index(number) for number in table.inputs], list(map(bool, table.inputs))


def test_processes_agree_on_which_inputs_are_equal(tmp_path: Path) -> None:
    asked = [b'"a?"', b'[{"role": "user", "content": "a?"}]', b'"b?"', b"null", b'"a?"']
    path = file_of(tmp_path / "a.jsonl", [b'{"responses_create_params": {"input": %s}}' % text for text in asked])
    assert alone(equal_inputs, path, "3") == [[0, 0, 2, 3, 0], [True, True, True, False, True]]


class TestFieldsThatCannotBeTheKey:
    """They are not even decoded once a row lacks them: what later rows and blocks say of them must change nothing."""

    ROWS: tuple[dict[str, Any], ...] = (
        {"task_id": "a", "id": "1"},
        {"task_id": "b", "task_name": "late"},
        *({"task_id": f"c{i}", "filler": "x" * 1000, "task_name": f"n{i}", "reward": 0.5} for i in range(1500)),
        {"task_name": "last", "task_id": "z", "mask_sample": True},
        {"task_name": "no id", "reward": 1},
    )

    def test_what_a_later_block_says_of_them_changes_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        for rows in (self.ROWS, self.ROWS[:-1]):
            file_of(path, [json.dumps(row).encode() for row in rows])
            assert path.stat().st_size > BLOCK_BYTES
            for piece_bytes in (1 << 24, 300_000):
                [table] = read_files(path, piece_bytes=piece_bytes)
                assert facts(table) == facts(table_of(rows))
                assert table.keys["task_id"].first_missing == (len(rows) - 1 if len(rows) == len(self.ROWS) else None)
                stands = {name: number for name, number in count_fields(table).items() if number}
                assert stands == {name: sum(name in row for row in rows) for name in ("task_name", "task_id", "id")}

    def test_they_are_asked_for_no_more(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []
        rows_decoder = vars(json_lines)["rows_decoder"]

        def noted(form: Any, fields: Any, *more: Any) -> Any:
            asked.append(fields)
            return rows_decoder(form, fields, *more)

        monkeypatch.setattr(json_lines, "rows_decoder", noted)
        read_files(file_of(tmp_path / "a.jsonl", [json.dumps(row).encode() for row in self.ROWS]), piece_bytes=1 << 24)
        assert asked == [key_fields(None).all(), ("task_id",)]


class TestRows:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return file_of(tmp_path / "a.jsonl", [line for line, _ in LINES])

    def test_rows_become_columns_with_their_places(self, path: Path) -> None:
        [[said, where]] = outcome([path], 1, 1 << 20)
        assert [[*row[:-1], row[-1]["task_id"]] for row in said["rows"]] == SAID
        assert where == expected_places(path)

    def test_pieces_of_any_size_make_the_same_tables(self, path: Path) -> None:
        other = file_of(path.with_name("b.jsonl"), [GOOD, b"", GOOD], end=b"")
        whole = outcome([path, other], 1, 1 << 20)
        assert whole[1][1] == [[f"{other}:1", 0], [f"{other}:3", len(GOOD) + 2]]
        for piece_bytes in range(1, path.stat().st_size + 2):
            assert outcome([path, other], 1, piece_bytes) == whole, piece_bytes

    def test_any_number_of_processes_makes_the_same_tables(self, path: Path) -> None:
        other = file_of(path.with_name("b.jsonl"), [GOOD, b"", GOOD], end=b"")
        assert alone(by_processes, path, other) == [outcome([path, other], 1, 1 << 20)]

    def test_a_field_is_the_key_of_all_files(self, path: Path) -> None:
        file_of(path, [b'{"id": {"n": 1}, "task_id": "a"}', b'{"id": {"n": 2}}'])
        for piece_bytes in range(1, 60):
            [[said, _]] = outcome([path], 1, piece_bytes, "id.n")
            assert [row[-1] for row in said["rows"]] == [{"id.n": "1"}, {"id.n": "2"}]

    @pytest.mark.parametrize("content", [b"", b"\n\n", b" \n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
    def test_a_file_without_rows_is_an_empty_table(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        for piece_bytes in range(1, 6):
            [[said, where]] = outcome([path], 1, piece_bytes)
            assert (said["rows"], where) == ([], [])

    def test_no_files_are_no_tables(self) -> None:
        assert read_files() == []

    def test_a_byte_order_mark_is_no_part_of_the_first_row(self, path: Path) -> None:
        path.write_bytes(b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD)
        for piece_bytes in range(1, 70):
            [[said, where]] = outcome([path], 1, piece_bytes)
            assert len(said["rows"]) == 2
            assert where == [[f"{path}:1", 3], [f"{path}:2", 3 + len(GOOD) + 1]]


def by_processes(*paths: str) -> list[Any]:
    """Every different outcome of several numbers of processes and sizes of pieces."""
    outcomes: list[Any] = []
    for jobs in (2, 3):
        for piece_bytes in (3, 29, 30, 31, 100, 1 << 20):
            got = outcome(paths, jobs, piece_bytes)
            if got not in outcomes:
                outcomes.append(got)
    return outcomes


class TestFaults:
    CUT_OFF = "the last line is cut off; the run may still be writing, or was killed"

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            (b'{"task_id": "b", "reward": 1', r"invalid JSON \(.+\)"),
            (b"{'task_id': 'b'}", r"invalid JSON \(.+\)"),
            (b'{"task_id": "b", "reward": tru}', r"invalid JSON \(.+\)"),
            (b'{"task_id": "b"}{"task_id": "c"}', r"invalid JSON \(.+\)"),
            (b'{"task_id": "b\rc"}', r"invalid JSON \(.+\)"),
            (b"\xa0", r"invalid JSON \(.+\)"),
            (b"\xef\xbb\xbf" + GOOD, r"invalid JSON \(.+\)"),
            (b'{"task_id": ' + b"[" * 100_000, r"invalid JSON \(.+\)"),
            (b'{"junk": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", r"invalid JSON \(.+\)"),
            (b"[1]", "expected a JSON object per line"),
            (b"null", "expected a JSON object per line"),
            (b'"text"', "expected a JSON object per line"),
            (b"NaN", "expected a JSON object per line"),
            (b'{"task_id": "b", "reward": true}', r"reward True is not a number \(task b\)"),
            (b'{"task_name": "n", "task_id": "b", "reward": "1.0"}', r"reward '1\.0' is not a number \(task n\)"),
            (b'{"verifier_metadata": {"id": 3}, "reward": [1]}', r"reward \[1\] is not a number \(task 3\)"),
            (b'{"reward": {"value": 1}}', r"reward \{'value': 1\} is not a number \(task unknown\)"),
            (b'{"task_id": null, "reward": ""}', r"reward '' is not a number \(task unknown\)"),
            (b'{"task_id": "b", "reward": 1%s}' % (b"0" * 400), r"reward 10+.* is not a number \(task b\)"),
            (b'{"task_id": "b", "reward": -1%s}' % (b"0" * 5000), r"reward .* is not a number \(task b\)"),
            (b'{"task_id": "b", "reward": 1, "mask_sample": 2}', r"mask_sample 2 is not true or false \(task b\)"),
        ],
    )
    def test_a_line_that_is_no_row_is_named_by_its_file_and_number(
        self, tmp_path: Path, line: bytes, error: str
    ) -> None:
        path = file_of(tmp_path / "a.jsonl", [b"", GOOD, b" ", line, GOOD, b'{"reward": "later"}'])
        for piece_bytes in (1, 3, 40, 1 << 20) if len(line) < 1000 else (1 << 16, 1 << 20):
            assert re.fullmatch(f"{re.escape(str(path))}:4: {error}", outcome([path], 1, piece_bytes))

    def test_the_key_that_was_given_names_the_task_of_a_broken_row(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [b'{"task_id": "a", "id": 5, "reward": false}'])
        assert outcome([path], 1, 99, "id") == f"{path}:1: reward False is not a number (task 5)"
        assert outcome([path], 1, 99, "no") == f"{path}:1: reward False is not a number (task a)"

    @pytest.mark.parametrize("piece_bytes", [1, 7, 1 << 20])
    def test_a_last_line_that_is_cut_off_is_said_to_be(self, tmp_path: Path, piece_bytes: int) -> None:
        cut = b'{"task_id": "b", "rew'
        path = file_of(tmp_path / "a.jsonl", [GOOD, cut], end=b"")
        assert outcome([path], 1, piece_bytes).startswith(f"{path}:2: invalid JSON (")
        assert outcome([path], 1, piece_bytes).endswith(f": {self.CUT_OFF}")
        file_of(path, [GOOD, cut])
        assert outcome([path], 1, piece_bytes).startswith(f"{path}:2: invalid JSON (")
        assert "cut off" not in outcome([path], 1, piece_bytes)
        file_of(path, [cut, GOOD], end=b"")
        assert "cut off" not in outcome([path], 1, piece_bytes)
        file_of(path, [b"\xef\xbb\xbf" + cut], end=b"")
        assert outcome([path], 1, piece_bytes).endswith(f": {self.CUT_OFF}")
        file_of(path, [b"\xef\xbb\xbf" + GOOD, cut], end=b"")
        assert outcome([path], 1, piece_bytes).endswith(f": {self.CUT_OFF}")
        file_of(path, [GOOD, b'{"reward": "x"}'], end=b"")
        assert outcome([path], 1, piece_bytes) == f"{path}:2: reward 'x' is not a number (task unknown)"

    @pytest.mark.parametrize("cut", [b"{", b'{"', b'{"task_id": "a"', b'\xef\xbb\xbf{"a'])
    def test_an_only_line_that_is_cut_off_is_said_to_be(self, tmp_path: Path, cut: bytes) -> None:
        path = file_of(tmp_path / "a.jsonl", [cut], end=b"")
        assert outcome([path], 1, 99).startswith(f"{path}:1: invalid JSON (")
        assert self.CUT_OFF in outcome([path], 1, 99)

    def test_a_whole_last_line_without_an_end_is_a_row(self, tmp_path: Path) -> None:
        [[said, _]] = outcome([file_of(tmp_path / "a.jsonl", [GOOD, GOOD], end=b"")], 1, 10)
        assert len(said["rows"]) == 2

    def test_the_first_fault_of_the_first_file_is_the_error(self, tmp_path: Path) -> None:
        one = file_of(tmp_path / "1.jsonl", [*[GOOD] * 6, b"[]", b"{", GOOD])
        two = file_of(tmp_path / "2.jsonl", [b"junk"])
        good = file_of(tmp_path / "3.jsonl", [GOOD] * 9)
        first = f"{one}:7: expected a JSON object per line"
        for piece_bytes in (1, 10, 29, 30, 31, 120, 1 << 20):
            assert outcome([one, two], 1, piece_bytes) == first
            assert outcome([good, two, one], 1, piece_bytes).startswith(f"{two}:1: invalid JSON (")
        assert alone(by_processes, good, one, two) == [first]

    def test_a_file_that_cannot_be_read_any_more_is_an_error(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [GOOD])
        assert alone(without_the_file, path) == [f"cannot read {path}: No such file or directory"] * 2

    def test_no_nesting_is_an_error_for_some_numbers_of_processes_alone(self, tmp_path: Path) -> None:
        for tail in ('"reward": 1', '"reward": 1, "error": {nest}', '"reward": "x"'):
            shape = f'{{"task_id": "a", "junk": {{nest}}, {tail}}}'
            assert alone(nesting_outcomes, tmp_path / "a.jsonl", shape) == []

    @pytest.mark.parametrize("tail", ['"reward": "x"', '"mask_sample": 5', '"reward": 1', '"failure_kind": {nest}'])
    def test_every_error_names_file_and_line_however_deep_the_row_is_nested(self, tmp_path: Path, tail: str) -> None:
        path = tmp_path / "a.jsonl"
        shape = f'{{"task_id": "a", "junk": {{nest}}, {tail}}}'
        refused = set()
        for depth in DEPTHS:
            nested(path, shape, depth)
            got = outcome([path], 1, 1 << 20)
            assert isinstance(got, list) or got.startswith(f"{path}:1: "), depth
            refused |= {depth} if "nested too deeply" in got else set()
        assert refused == {depth for depth in DEPTHS if depth >= MOST_LEVELS}


class TestChangedWhileRead:
    def test_a_file_that_stays_as_it_is_needs_no_note(self, tmp_path: Path) -> None:
        [table] = read_files(file_of(tmp_path / "a.jsonl", [GOOD]))
        assert table.notes == []

    def test_a_file_that_grows_has_a_note(self, tmp_path: Path) -> None:
        source = rows_file(file_of(tmp_path / "a.jsonl", [GOOD]))
        with source.path.open("ab") as file:
            file.write(GOOD)
        [table] = read_tables([(0, source, Plan())], 1)
        assert len(table) == 2
        [note] = table.notes
        assert note_message(note).startswith(f"{source.path} changed while it was read")


class TestLeavingOut:
    """`skip`: lines that are not rows are left out, counted, and the first ones named."""

    LINES = (b"{", GOOD, b"", b'{"reward": "x"}', b"[]", GOOD, GOOD, b"5", b"6", b"7")

    def test_good_lines_are_rows_and_the_others_are_counted_and_named(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", self.LINES)
        for piece_bytes in (1, 7, 30, 1 << 20):
            [table] = read_files(path, piece_bytes=piece_bytes, skip=True)
            assert places(table) == [[f"{path}:{line}", offset] for line, offset in ((2, 2), (6, 52), (7, 82))]
            assert [row[0] for row in facts(table)["rows"]] == ["1.0"] * 3
            [note] = table.notes
            assert note_message(note).startswith(f"{path}: 6 lines ")
            for line, error in (
                (1, r"invalid JSON \(.+\)"),
                (4, r"reward 'x' is not a number \(task unknown\)"),
                (5, "expected a JSON object per line"),
                (8, "expected a JSON object per line"),
                (9, "expected a JSON object per line"),
            ):
                assert re.search(rf"\bline {line} \({error}", note_message(note))
            assert "line 10" not in note_message(note)

    def test_any_number_of_processes_leaves_out_the_same(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", self.LINES)
        [table] = read_files(path, skip=True)
        expected = [facts(table), places(table), [note_message(note) for note in table.notes]]
        assert alone(left_out_by_processes, path) == [expected] * 4

    def test_a_file_of_good_lines_leaves_nothing_out(self, tmp_path: Path) -> None:
        [table] = read_files(file_of(tmp_path / "a.jsonl", [GOOD]), skip=True)
        assert (len(table), table.notes) == (1, [])

    def test_one_line_is_told_as_one(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [GOOD, b"{"])
        [table] = read_files(path, skip=True)
        [note] = table.notes
        assert note_message(note).startswith(f"{path}: 1 line ")

    def test_a_file_without_any_good_line_is_an_error(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.jsonl", [b"", b"{", b"5"])
        with pytest.raises(CompareInputError, match=f"^{path}: .*line 2 "):
            read_files(path, skip=True)

    def test_a_file_that_cannot_be_read_is_an_error_all_the_same(self, tmp_path: Path) -> None:
        with pytest.raises(CompareInputError, match=r"^cannot read .*: Is a directory$"):
            read_files(tmp_path, skip=True)


def left_out_by_processes(path: str) -> list[Any]:
    outcomes = []
    for piece_bytes in (1, 7, 30, 64):
        [table] = read_files(path, jobs=2, piece_bytes=piece_bytes, skip=True)
        outcomes.append([facts(table), places(table), [note_message(note) for note in table.notes]])
    return outcomes


def without_the_file(path: str) -> list[str]:
    source = rows_file(Path(path))
    Path(path).unlink()
    errors = []
    for jobs in (1, 2):
        with pytest.raises(CompareInputError) as caught:
            read_tables([(0, source, Plan())], jobs, piece_bytes=10)
        errors.append(str(caught.value))
    return errors


def nested(path: Path, shape: str, depth: int) -> None:
    lists = "[" * depth + "]" * depth
    path.write_text(shape.replace("{nest}", lists) + "\n" + '{"task_id": "b"}\n' * 9, "utf-8")


#: Depths of a field around the deepest that is read, the row itself being a level too; and depths far from it.
DEPTHS = (1, 300, *range(MOST_LEVELS - 4, MOST_LEVELS + 3), 990, 5_000, 100_000)


def nesting_outcomes(name: str, shape: str) -> list[Any]:
    """The depths of nesting at which several processes say something else than one."""
    path = Path(name)
    differing = []
    for depth in DEPTHS:
        nested(path, shape, depth)
        size = path.stat().st_size
        one, two = outcome([path], 1, size - 99), outcome([path], 2, size - 99)
        if one != two:
            differing.append([depth, str(one)[:200], str(two)[:200]])
    return differing
