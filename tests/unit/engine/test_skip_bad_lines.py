"""`--skip-bad-lines`, from the command line to report and summary."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare import RolloutCompareConfig, run_compare
from nemo_gym.rollout_compare.files import Line
from nemo_gym.rollout_compare.producers import Plan, locate_run
from nemo_gym.rollout_compare.producers.json_lines import RowsFile
from nemo_gym.rollout_compare.schema import Batch
from tests.support import Done, assert_refused, compare, write_rows

GOOD = '{"task_id": "a", "reward": 1}'
#: Lines that break a rule, and what is said of each.
BAD = [
    ('{"task_id": "x"', "invalid JSON (Expecting ',' delimiter: column 16)"),
    ("[]", "expected a JSON object per line"),
    ('{"task_id": "x", "reward": "1"}', "reward '1' is not a number (task x)"),
    ('{"reward": true}', "reward True is not a number (task unknown)"),
    ('{"task_id": "x", "reward": 1, "mask_sample": "no"}', "mask_sample 'no' is not true or false (task x)"),
    ("[" * 100_000, "invalid JSON (nested too deeply)"),
    ('{"task_id": "y", "reward": {}}', "reward {} is not a number (task y)"),
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder has an old run of one task."""
    monkeypatch.chdir(tmp_path)
    write_rows(Path("old.jsonl"), [{"task_id": "a", "reward": 1}])


def put(name: str, *lines: str) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def skipping(*words: str) -> Done:
    return compare("old.jsonl", "new.jsonl", "--skip-bad-lines", *words)


def notes(done: Done) -> list[str]:
    assert (done.status, done.stderr) == (0, "")
    return [line.removeprefix("note: ") for line in done.stdout.splitlines() if line.startswith("note: ")]


@pytest.mark.parametrize(("line", "error"), BAD, ids=[error[:30] for _, error in BAD])
def test_a_line_that_breaks_a_rule_stops_the_run_or_is_left_out(line: str, error: str) -> None:
    put("new.jsonl", GOOD, "", line)
    assert_refused(compare("old.jsonl", "new.jsonl"), f"error: new.jsonl:3: {error}")
    done = skipping()
    assert notes(done) == [f"new.jsonl: 1 line that is not a row was left out: line 3 ({error})"]
    assert done.stdout.startswith("gym dev compare: 1 task (old 1 row, new 1 row)\n")


def test_lines_are_counted_and_the_first_five_named() -> None:
    put("new.jsonl", *(line for line, _ in BAD[:3]), GOOD, *(line for line, _ in BAD[3:]))
    numbers = [1, 2, 3, 5, 6]
    named = ", ".join(f"line {number} ({error})" for number, (_, error) in zip(numbers, BAD, strict=False))
    assert notes(skipping()) == [f"new.jsonl: 7 lines that are not rows were left out: {named} and 2 more"]
    put("new.jsonl", *(line for line, _ in BAD[:5]), GOOD)
    named = ", ".join(f"line {number} ({error})" for number, (_, error) in enumerate(BAD[:5], 1))
    assert notes(skipping()) == [f"new.jsonl: 5 lines that are not rows were left out: {named}"]


def test_each_file_of_a_run_has_a_note_of_its_own() -> None:
    put("old.jsonl", GOOD, "5")
    put("old_failures.jsonl", '{"task_id": "b"}', "6")
    put("new.jsonl", GOOD, "7")
    put("new_failures.jsonl", '{"task_id": "b"}', "8", "9")
    put("new_materialized_inputs.jsonl", '{"task_id": "a"}', "10")
    said = "expected a JSON object per line"
    one, two = "1 line that is not a row was left out", "2 lines that are not rows were left out"
    assert sorted(notes(skipping())) == [
        f"new.jsonl: {one}: line 2 ({said})",
        f"new_failures.jsonl: {two}: line 2 ({said}), line 3 ({said})",
        f"new_materialized_inputs.jsonl: {one}: line 2 ({said})",
        f"old.jsonl: {one}: line 2 ({said})",
        f"old_failures.jsonl: {one}: line 2 ({said})",
    ]
    assert "## Masked (1)\n- b: old=none new=none; old mask_sample" in skipping().stdout


def test_the_summary_has_the_note_too() -> None:
    put("new.jsonl", GOOD, "[]")
    said: dict[str, Any] = json.loads(skipping("--json-stdout").stdout)
    [note] = said["notes"]
    assert note == "new.jsonl: 1 line that is not a row was left out: line 2 (expected a JSON object per line)"


def test_a_last_line_that_is_cut_off_is_said_to_be() -> None:
    Path("new.jsonl").write_text(f'{GOOD}\n{{"task_id": "b', "utf-8")
    [note] = notes(skipping())
    assert "line 2 (invalid JSON (" in note
    assert "the last line is cut off" in note


def test_a_line_cannot_forge_a_note() -> None:
    put("new.jsonl", GOOD, '{"task_id": "x\\nnote: all is well\\u001b[2J", "reward": "x"}')
    [note] = notes(skipping())
    assert note.endswith("line 2 (reward 'x' is not a number (task x\\nnote: all is well))")


def test_a_task_whose_only_row_was_left_out_is_missing() -> None:
    put("new.jsonl", '{"task_id": "b", "reward": 1}', '{"task_id": "a", "reward": []}')
    assert "- a: only on old side (reward 1.0)\n- b: only on new side (reward 1.0)\n" in skipping().stdout


@pytest.mark.parametrize("lines", [["5"], ["", "5", "6"], ["placeholder"]])
def test_a_file_of_bad_lines_alone_is_no_rollouts_file(lines: list[str]) -> None:
    put("new.jsonl", *lines)
    assert_refused(
        skipping(), "error: new.jsonl: ", "does not seem to hold rollouts" if lines[0] else "expected a JSON object"
    )


def test_files_of_good_lines_need_no_note() -> None:
    put("new.jsonl", GOOD, "")
    assert skipping() == compare("old.jsonl", "new.jsonl")
    assert notes(skipping()) == []


def test_lines_of_compressed_files_and_shards_are_left_out_too() -> None:
    for number in (1, 2):
        Path(f"s{number}.jsonl.gz").write_bytes(gzip.compress(b'{"task_id": "a", "reward": 1}\n[]\n'))
    done = compare("old.jsonl", "s*.jsonl.gz", "--skip-bad-lines")
    assert [note.split(": ")[0] for note in notes(done)][:2] == ["s1.jsonl.gz", "s2.jsonl.gz"]


def test_a_script_may_ask_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    put("new.jsonl", GOOD, "[]")
    pair: dict[str, Any] = {"old_rollouts": "old.jsonl", "new_rollouts": "new.jsonl"}
    assert run_compare(RolloutCompareConfig(**pair, skip_bad_lines=True)) == 0
    assert "note: new.jsonl: 1 line " in capsys.readouterr().out
    assert run_compare(RolloutCompareConfig(**pair)) == 1


@pytest.mark.parametrize("bad", [[], [1], [64], [1, 2, 33, 64], list(range(1, 65, 2)), list(range(1, 65))])
def test_few_bad_lines_of_a_block_cost_little_more_than_none(bad: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    put("new.jsonl", *("[]" if number in bad else GOOD for number in range(1, 65)))
    asked: list[int] = []
    batch = RowsFile._batch

    def counted(self: RowsFile, lines: Sequence[Line], *others: Any) -> Batch:
        asked.append(len(lines))
        return batch(self, lines, *others)

    monkeypatch.setattr(RowsFile, "_batch", counted)
    with locate_run("new.jsonl", "rollouts").opened() as run:
        source = run.shards[0].main
        [piece] = source.pieces(1 << 20)
        found = list(source.batches(piece, Plan(skip_bad_lines=True), source.fields(None).all, lambda _: None))
    assert [fault.line for one in found for fault in one.faults] == bad
    assert [line for one in found for line in one.lines] == [line for line in range(1, 65) if line not in bad]
    assert len(asked) <= 1 + 2 * len(bad) * 6  # 64 lines are halved six times


def test_the_first_bad_line_ends_it_whichever_half_it_is_in() -> None:
    for bad in range(1, 9):
        put("new.jsonl", *("[]" if number >= bad else GOOD for number in range(1, 9)))
        assert_refused(compare("old.jsonl", "new.jsonl"), f"new.jsonl:{bad}: expected a JSON object per line")
