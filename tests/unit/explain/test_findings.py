"""Why a task flipped: evidence of both sides, single tests, the loser's signature, clusters, and what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from msgspec.structs import replace

from nemo_gym.rollout_compare import compare_rollouts, render_report, summary_dict, verifier_output
from nemo_gym.rollout_compare.compare import categories as compare_module
from nemo_gym.rollout_compare.engine.runs import run_tables
from nemo_gym.rollout_compare.explain.evidence import log_roots
from nemo_gym.rollout_compare.explain.findings import explain_flips, with_findings
from nemo_gym.rollout_compare.explain.logs import LogRoots
from nemo_gym.rollout_compare.files import inputs as inputs_module
from nemo_gym.rollout_compare.files.inputs import Input
from nemo_gym.rollout_compare.producers import Plan, json_lines, locate_run
from nemo_gym.rollout_compare.schema import CompareResult, NoteKind, Side
from tests.support import assert_valid, put, run, write_rows
from tests.triage_support import changed

Rows = list[dict[str, Any]]

BOTH = "tests/test_a.py::test_one PASSED\ntests/test_a.py::test_two PASSED\n=== 2 passed in 0.1s ===\n"
ONE = (
    "tests/test_a.py::test_one PASSED\ntests/test_a.py::test_two FAILED\n"
    "E   AssertionError: boom\n=== 1 failed, 1 passed in 0.1s ===\n"
)
NO_NUMPY = (
    "Traceback (most recent call last):\n"
    '  File "/a/b.py", line {}, in f\n'
    "ModuleNotFoundError: No module named 'numpy'\n"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, with the runs' folders in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new"):
        Path(name).mkdir()


def summary(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]], *options: str) -> Any:
    """The JSON summary of two runs, valid by its schema."""
    paths = [str(write_rows(Path(side, "rollouts.jsonl"), rows)) for side, rows in (("old", old), ("new", new))]
    done = run("--json", "dev", "compare", *paths, *options)
    assert (done.status, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert_valid(told)
    return told


def flip(old: dict[str, Any], new: dict[str, Any], *options: str) -> Any:
    """The one flip of the task `t`, which the old side wins unless the rows say otherwise."""
    told = summary([{"task_id": "t", "reward": 1, **old}], [{"task_id": "t", "reward": 0, **new}], *options)
    (found,) = told["flips"]
    return found


def field(name: str, *lines: str) -> dict[str, Any]:
    return {"source": "field", "path": name, "lines": list(lines), "unavailable": None}


# Evidence


def test_both_sides_have_their_evidence() -> None:
    put("new/logs/t/test-stdout.txt", "one\ntwo\n")
    found = flip({"test_output": "won\n"}, {"verifier_logs_dir": "logs/t"})
    assert found["old"] == field("test_output", "won")
    assert found["new"] == {
        "source": "file",
        "path": "new/logs/t/test-stdout.txt",
        "lines": ["one", "two"],
        "unavailable": None,
    }


def test_a_side_without_any_says_why(tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old/r.jsonl", [{"task_id": "t", "reward": 1, "verifier_logs_dir": "logs/gone"}])
    new = write_rows(tmp_path / "new/r.jsonl", [{"task_id": "t", "reward": 0}])
    (found,) = json.loads(run("--json", "dev", "compare", str(old), str(new)).stdout)["flips"]
    neither = (
        "the row has neither verifier_logs_dir nor test_output, verifier_stdout, verifier_output, container_stderr, "
        "judge_output, judge_text, details or log_dir"
    )
    assert found["new"] == {"source": None, "path": None, "lines": [], "unavailable": neither}
    assert found["old"]["lines"] == []
    assert found["old"]["unavailable"] == f"not found: logs/gone, {tmp_path}/old/logs/gone, {tmp_path}/new/logs/gone"


def test_a_log_that_is_passed_over_is_told_beside_the_field_that_stands_in() -> None:
    found = flip({}, {"verifier_logs_dir": "/nowhere/a.log", "verifier_stdout": "x"})
    assert found["new"] == {**field("verifier_stdout", "x"), "unavailable": "not found: /nowhere/a.log"}


@pytest.mark.parametrize(("tail", "lines"), [("0", []), ("1", ["3"]), ("2", ["2", "3"]), ("9", ["1", "2", "3"])])
def test_the_tail_is_as_long_as_asked_for_and_the_whole_is_judged_all_the_same(tail: str, lines: list[str]) -> None:
    found = flip({"test_output": BOTH}, {"test_output": ONE + "1\n2\n3\n"}, "--tail", tail)
    assert found["new"]["lines"][-3:] == lines[-3:]
    assert len(found["old"]["lines"]) == min(int(tail), 3)
    assert found["tests"] == changed(["tests/test_a.py::test_two"], [])
    assert found["signature"] == "AssertionError: boom"


def side(*rewards: Any, said: str) -> Rows:
    return [{"task_id": "t", "reward": reward, "test_output": f"{said} {n}"} for n, reward in enumerate(rewards)]


def test_the_losers_worst_row_and_the_winners_best_speak_of_equals_the_first() -> None:
    higher = side(0.5, 1, None, 1, 0.75, said="higher")
    lower = side(0.5, None, 0.25, 0.25, 0.75, said="lower")
    for rows in (higher, lower):
        for row in rows:
            row["mask_sample"] = False
    # Rows without a reward mask their task, so those go for the flip itself.
    higher, lower = ([row for row in rows if row["reward"] is not None] for rows in (higher, lower))
    (old_wins,) = summary(higher, lower)["flips"]
    assert (old_wins["winner"], old_wins["old"], old_wins["new"]) == (
        "old",
        field("test_output", "higher 1"),
        field("test_output", "lower 2"),
    )
    (new_wins,) = summary(lower, higher)["flips"]
    assert (new_wins["winner"], new_wins["old"], new_wins["new"]) == (
        "new",
        field("test_output", "lower 2"),
        field("test_output", "higher 1"),
    )


def test_a_flip_with_an_agent_error_is_told_like_any_other() -> None:
    found = flip({"error": "oops", "test_output": BOTH}, {"test_output": ONE})
    assert found["category"] == "flipped_agent_error"
    assert found["tests"]["broken"] == ["tests/test_a.py::test_two"]
    assert found["signature"] == "AssertionError: boom"


def test_a_row_that_has_gone_since_it_was_read_is_told_and_has_no_signature() -> None:
    old = write_rows(Path("old/r.jsonl"), [{"task_id": "t", "reward": 1, "test_output": "x"}])
    new = write_rows(Path("new/r.jsonl"), [{"task_id": "t", "reward": 0, "test_output": "y"}])
    with locate_run(str(old)).opened() as old_run, locate_run(str(new)).opened() as new_run:
        tables = run_tables([old_run, new_run], [Plan(), Plan()], 1)
    result = compare_module.compare_tables(dict(zip(Side, tables, strict=True)))
    new.write_text("", "utf-8")
    (told,) = with_findings(result, dict.fromkeys(Side, log_roots([]))).flips
    assert told.old is not None
    assert told.old.lines == ("x",)
    assert told.new is not None
    assert (told.new.source, told.new.lines) == (None, ())
    assert told.new.unavailable == f"{new} has changed or gone since it was first read"
    assert (told.signature, told.tests) == (None, None)


# Single tests


def ctrf(**tests: str) -> str:
    return json.dumps({"results": {"tests": [{"name": name, "status": status} for name, status in tests.items()]}})


def junit(**tests: str) -> str:
    inside = {"passed": "", "failed": "<failure/>", "error": "<error/>", "skipped": "<skipped/>"}
    cases = "".join(f'<testcase name="{name}">{inside[status]}</testcase>' for name, status in tests.items())
    return f"<testsuite>{cases}</testsuite>"


CHANGED: tuple[dict[str, str], dict[str, str]] = (
    {"z": "passed", "a": "passed", "same": "passed", "never": "failed", "c": "failed", "s": "passed"},
    {"z": "failed", "a": "failed", "same": "passed", "never": "failed", "c": "passed", "s": "skipped"},
)
CHANGES = changed(["a", "z"], ["c"], ["s"])


def logs(name: str, contents: Sequence[str], text: str = "nothing to see\n") -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows whose logs folders hold a report of that name, and the log."""
    for side_name, content in zip(("old", "new"), contents, strict=True):
        put(f"{side_name}/logs-{side_name}/test-stdout.txt", text)
        put(f"{side_name}/logs-{side_name}/{name}", content)
    return {"verifier_logs_dir": "logs-old"}, {"verifier_logs_dir": "logs-new"}


def test_tests_from_a_ctrf_file() -> None:
    assert flip(*logs("ctrf.json", [ctrf(**tests) for tests in CHANGED]))["tests"] == CHANGES


@pytest.mark.parametrize("name", ["junit.xml", "TEST-a.XML"])
def test_tests_from_junit_files(name: str) -> None:
    assert flip(*logs(name, [junit(**tests) for tests in CHANGED]))["tests"] == CHANGES


def test_several_junit_files_are_one_report() -> None:
    rows = logs("a.xml", [junit(a="passed"), junit(a="failed")])
    put("old/logs-old/b.xml", junit(b="passed"))
    put("new/logs-new/b.xml", junit(b="failed"))
    assert flip(*rows)["tests"] == changed(["a", "b"], [])


@pytest.mark.parametrize("other", ["TEST-a.xml", "zz.xml"])
def test_a_ctrf_file_comes_before_junit_files_whatever_they_are_called(other: str) -> None:
    rows = logs("ctrf.json", [ctrf(**tests) for tests in CHANGED])
    put(f"old/logs-old/{other}", junit(another="passed"))
    assert flip(*rows)["tests"] == CHANGES


def test_a_report_comes_before_the_text() -> None:
    rows = logs("ctrf.json", [ctrf(a="passed"), ctrf(a="failed")], text=BOTH)
    assert flip(*rows)["tests"] == changed(["a"], [])


@pytest.mark.parametrize(
    ("name", "content"),
    [("ctrf.json", "{}"), ("junit.xml", "<html/>"), ("notes.json", ctrf(a="passed")), ("x.txt", junit(a="passed"))],
)
def test_a_file_that_is_no_report_leaves_the_text(name: str, content: str) -> None:
    old, new = logs(name, [content] * 2)
    put("old/logs-old/test-stdout.txt", BOTH)
    put("new/logs-new/test-stdout.txt", ONE)
    assert flip(old, new)["tests"] == changed(["tests/test_a.py::test_two"], [])


def test_fixed_is_the_other_way_round() -> None:
    told = flip({"reward": 0, "test_output": ONE}, {"reward": 1, "test_output": BOTH})
    assert told["tests"] == changed([], ["tests/test_a.py::test_two"])


def test_equal_tests_are_empty_lists_and_not_null() -> None:
    assert flip({"test_output": BOTH}, {"test_output": BOTH})["tests"] == changed([], [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"test_output": BOTH}, {}),
        ({}, {"test_output": BOTH}),
        ({}, {}),
        ({"test_output": BOTH}, {"test_output": "all is lost"}),
        ({"test_output": BOTH}, {"test_output": "--- FAIL: TestA (0.00s)\nFAIL\n"}),  # names that cannot be compared
        ({"test_output": BOTH}, {"verifier_logs_dir": "logs/gone"}),
    ],
)
def test_tests_are_null_where_either_sides_are_not_known(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert flip(old, new)["tests"] is None


def test_of_a_log_that_was_not_read_whole_an_unnamed_test_means_nothing() -> None:
    named = ["=== 2 passed in 0.1s ===", "tests/test_a.py::test_one PASSED", "tests/test_a.py::test_two PASSED"]
    put("old/logs/a/test-stdout.txt", "\n".join(named))
    unread = "x" * 100 + "\n"
    put("new/logs/b/test-stdout.txt", unread * 30_000 + "tests/test_a.py::test_one PASSED\n=== 1 passed in 1s ===\n")
    found = flip({"verifier_logs_dir": "logs/a"}, {"verifier_logs_dir": "logs/b"})
    assert found["tests"] == changed([], [])
    put("new/logs/b/test-stdout.txt", "tests/test_a.py::test_one PASSED\n=== 1 passed in 1s ===\n")
    found = flip({"verifier_logs_dir": "logs/a"}, {"verifier_logs_dir": "logs/b"})
    assert found["tests"] == changed([], [], ["tests/test_a.py::test_two"])


@pytest.mark.parametrize("spoiled", ["", "<html/>", None])
def test_of_reports_that_are_not_all_read_an_unnamed_test_means_nothing(spoiled: str | None) -> None:
    rows = logs("a.xml", [junit(a="passed", b="passed", c="passed"), junit(a="failed", b="passed")])
    assert flip(*rows)["tests"] == changed(["a"], [], ["c"])
    if spoiled is None:
        Path("new/logs-new/b.xml").symlink_to("nowhere")
    else:
        put("new/logs-new/b.xml", spoiled)
    assert flip(*rows)["tests"] == changed(["a"], [])


def test_reports_beside_a_log_that_is_named_itself_are_not_taken_for_its_own() -> None:
    logs("ctrf.json", [ctrf(a="passed"), ctrf(a="failed")])
    old, new = ({"verifier_logs_dir": f"logs-{side}/test-stdout.txt"} for side in ("old", "new"))
    assert flip(old, new)["tests"] is None


# Equal rewards, other tests


def equal(task: str, old: str | None, new: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"task_id": task, "reward": 0, "test_output": old},
        {"task_id": task, "reward": 0, "test_output": new},
    )


def test_a_task_whose_rewards_agree_but_whose_tests_differ_has_a_note() -> None:
    tasks = [equal("b", BOTH, ONE), equal("a", ONE, BOTH), equal("c", BOTH, BOTH), equal("d", BOTH, None)]
    old, new = (list(rows) for rows in zip(*tasks, strict=True))
    told = summary(old, new)
    assert told["notes"] == ["equal rewards, but single tests differ: a, b"]
    assert (told["flips"], told["clusters"]) == ([], [])
    assert (
        "note: equal rewards, but single tests differ: a, b\n"
        in run("dev", "compare", "old/rollouts.jsonl", "new/rollouts.jsonl").stdout
    )


@pytest.mark.parametrize(
    ("reward", "fails"),
    [
        ([0], True),
        ([0, 1], True),  # half of its attempts
        ([0.5], True),
        ([1], False),
        ([1.5], False),  # nobody knows what the best is
        ([0.5, 1.5], False),
    ],
)
def test_a_task_that_fails_on_both_sides_for_another_reason_is_told(reward: list[float], fails: bool) -> None:
    old, new = (
        [{"task_id": "a", "reward": one, "test_output": output} for one in reward]
        for output in ("KeyError: 'a'", "ValueError: b")
    )
    group = {"old_signature": "KeyError: 'a'", "new_signature": "ValueError: b", "tasks": ["a"]}
    assert summary(old, new)["other_reasons"] == ([group] if fails else [])


def test_a_note_stands_beside_flips_and_does_not_mix_with_them() -> None:
    agreeing, flipped = equal("a", BOTH, ONE), equal("t", ONE, BOTH)
    told = summary([agreeing[0], flipped[0]], [agreeing[1], {**flipped[1], "reward": 1}])
    assert told["notes"] == ["equal rewards, but single tests differ: a"]
    assert [found["task"] for found in told["flips"]] == ["t"]


def test_tasks_that_are_masked_or_missing_have_no_such_note() -> None:
    masked, missing = equal("m", BOTH, ONE), equal("x", BOTH, ONE)
    told = summary([{**masked[0], "mask_sample": True}, missing[0]], [masked[1]])
    assert told["notes"] == []


def test_of_a_large_run_only_so_many_equal_tasks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_module, "MOST_AGREEING", 2)
    old, new = (list(rows) for rows in zip(*(equal(f"t{n}", BOTH, ONE) for n in range(4)), strict=True))
    assert summary(old, new)["notes"] == ["equal rewards, but single tests differ: t0, t1"]


# Signatures and clusters


def test_the_signature_is_the_losers() -> None:
    kept = {"test_output": NO_NUMPY.format(7)}
    other = {"test_output": "bash: line 3: cargo: command not found\n"}
    assert flip(kept, other)["signature"] == "command not found: cargo"
    assert flip({**kept, "reward": 0}, {**other, "reward": 1})["signature"] == (
        "ModuleNotFoundError: No module named 'numpy'"
    )


@pytest.mark.parametrize(
    ("said", "signature"),
    [
        (None, None),
        ("", None),
        ("all is well\n", None),
        (NO_NUMPY.format(1), "ModuleNotFoundError: No module named 'numpy'"),
    ],
)
def test_what_is_not_known_has_no_signature(said: str | None, signature: str | None) -> None:
    assert flip({"test_output": "won"}, {"test_output": said})["signature"] == signature


def test_flips_of_one_signature_are_a_cluster_largest_first() -> None:
    said = {
        "b": (1, 0, NO_NUMPY.format(10)),
        "a": (1, 0, NO_NUMPY.format(99)),
        "e": (0, 1, NO_NUMPY.format(1)),  # the other winner, and only the losing side says so
        "c": (1, 0, "bash: cargo: command not found\n"),
        "d": (1, 0, "nothing of the kind\n"),
        "f": (1, 0, None),
        "g": (1, 0, None),
        "h": (1, 0, None),
    }
    old, new = (
        [
            {"task_id": task, "reward": rewards[side], "test_output": None if rewards[side] else rewards[2]}
            for task, rewards in said.items()
        ]
        for side in (0, 1)
    )
    numpy = "ModuleNotFoundError: No module named 'numpy'"
    assert summary(old, new)["clusters"] == [
        {"signature": numpy, "old_wins": 2, "new_wins": 1, "tasks": ["a", "b", "e"]},
        {"signature": "command not found: cargo", "old_wins": 1, "new_wins": 0, "tasks": ["c"]},
    ]


# What is read


class Watched:
    """Which files were opened, and where rows of them were read, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[str] = []
        self.offsets: list[int] = []
        plain = inputs_module.reading

        @contextmanager
        def reading(source: Input) -> Iterator[tuple[Any, BinaryIO]]:
            self.opened.append(source.path.parent.name)
            with plain(source) as (file, stored):
                yield _Seeking(file, self.offsets), stored

        monkeypatch.setattr(json_lines, "reading", reading)


class _Seeking:
    def __init__(self, file: BinaryIO, offsets: list[int]) -> None:
        self.file, self.offsets = file, offsets

    def seek(self, offset: int) -> int:
        self.offsets.append(offset)
        return self.file.seek(offset)

    def readline(self, most: int) -> bytes:
        return self.file.readline(most)


def test_rows_are_read_in_the_order_of_their_files_and_each_file_is_opened_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = Watched(monkeypatch)
    tasks = [f"t{n:03}" for n in range(100)]
    old = [{"task_id": task, "reward": 1, "test_output": f"old {task}"} for task in reversed(tasks)]
    new = [{"task_id": task, "reward": 0, "test_output": f"new {task}"} for task in (*tasks[50:], *tasks[:50])]
    told = summary(old, new)
    assert [found["old"]["lines"] for found in told["flips"]] == [[f"old {task}"] for task in tasks]
    assert [found["new"]["lines"] for found in told["flips"]] == [[f"new {task}"] for task in tasks]
    assert sorted(watched.opened) == ["new", "old"]
    assert watched.offsets[:100] == sorted(watched.offsets[:100])
    assert watched.offsets[100:] == sorted(watched.offsets[100:])
    assert len(watched.offsets) == 200


def test_rows_without_any_output_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    told = summary(
        [{"task_id": "a", "reward": 1}, {"task_id": "b", "reward": 1, "test_output": "x"}],
        [{"task_id": "a", "reward": 0}, {"task_id": "b", "reward": 0}],
    )
    assert watched.opened == ["old"]
    assert len(watched.offsets) == 1
    assert [found["new"]["source"] for found in told["flips"]] == [None, None]
    assert [found["signature"] for found in told["flips"]] == [None, None]
    assert told["flips"][1]["old"] == field("test_output", "x")


def test_tasks_of_equal_rewards_are_read_where_both_sides_have_output(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    pairs = [equal("a", None, ONE), equal("b", BOTH, None), equal("c", BOTH, ONE)]
    old, new = (
        [{key: value for key, value in row.items() if value is not None} for row in rows]
        for rows in zip(*pairs, strict=True)
    )
    assert summary(old, new)["notes"] == ["equal rewards, but single tests differ: c"]
    assert len(watched.offsets) == 2
    watched.offsets.clear()
    assert summary(old, [*new[1:2], {"task_id": "c", "reward": 0}])["notes"] == []
    assert watched.offsets == []


# As a library


def result_of(old: str | None, new: str | None) -> CompareResult:
    return compare_rollouts(
        [{"task_id": "t", "reward": 1, "test_output": old}], [{"task_id": "t", "reward": 0, "test_output": new}]
    )


def test_findings_are_values_of_the_result() -> None:
    result = result_of(BOTH, ONE)
    (before,) = result.flips
    assert (before.old, before.new, before.tests, before.signature) == (None, None, None, None)
    told = with_findings(result, dict.fromkeys(Side, log_roots([])), 1)
    (after,) = told.flips
    assert after.evidence(Side.OLD) is after.old
    assert after.evidence(Side.NEW) is after.new
    assert after.new is not None
    assert after.new.lines == ("=== 1 failed, 1 passed in 0.1s ===",)
    assert after.tests is not None
    assert after.tests.broken == ("tests/test_a.py::test_two",)
    assert [cluster.tasks for cluster in told.clusters] == [("t",)]
    for value in (result, told):
        assert_valid(json.loads(json.dumps(summary_dict(value))))


def test_a_script_explains_flips_by_the_folders_of_the_runs() -> None:
    put("old/logs/t.log", BOTH)
    old = [{"task_id": "t", "reward": 1, "verifier_logs_dir": "logs/t.log"}]
    result = compare_rollouts(old, [{"task_id": "t", "reward": 0, "test_output": ONE}])
    told = explain_flips(result, ["old"], 1)
    assert told == with_findings(result, dict.fromkeys(Side, LogRoots((Path("old"),))), 1)
    (flip,) = told.flips
    assert flip.tests is not None
    assert flip.tests.broken == ("tests/test_a.py::test_two",)
    (unread,) = explain_flips(result, []).flips
    assert unread.old is not None
    assert unread.old.unavailable == "not found: logs/t.log"


def test_each_side_has_roots_of_its_own() -> None:
    for side in Side:
        put(f"{side}/t.log", f"from {side}\n")
    old, new = ([{"task_id": "t", "reward": reward, "verifier_logs_dir": "t.log"}] for reward in (1, 0))
    told = with_findings(compare_rollouts(old, new), {side: LogRoots((Path(side),)) for side in Side})
    (flip,) = told.flips
    assert [evidence and evidence.lines for evidence in (flip.old, flip.new)] == [("from old",), ("from new",)]


def test_a_comparison_without_flips_or_outputs_is_as_it_was() -> None:
    result = compare_rollouts([{"task_id": "t", "reward": 1}], [{"task_id": "t", "reward": 1}])
    assert with_findings(result, dict.fromkeys(Side, log_roots([]))) is result


def test_the_report_of_a_script_tells_them_too() -> None:
    report = render_report(result_of(BOTH, ONE), [], tail=0)
    assert "    broken tests (1): tests/test_a.py::test_two\n" in report
    assert "    |" not in report


def test_a_row_alone_tells_its_output_and_where_it_is_from() -> None:
    put("runs/logs/t/test-stdout.txt", "one\ntwo\n")
    assert verifier_output({"verifier_logs_dir": "logs/t"}, ["runs"]) == ("one\ntwo\n", "runs/logs/t/test-stdout.txt")
    assert verifier_output({"test_output": "x"}, []) == ("x", "row field 'test_output'")
    assert verifier_output({"verifier_logs_dir": "logs/t"}, []) == (None, "not found: logs/t")


def test_no_carriage_return_hides_a_verdict() -> None:
    found = flip({}, {"test_output": "1 failed\r 10%\r 20%\nbar 1%\rbar 2%\n"})
    assert found["new"]["lines"] == ["1 failed\\r 20%", "bar 2%"]


class TestTwice:
    """What is found is a function of the flips and the agreeing tasks: a second call replaces what the first found."""

    def result(self, tmp_path: Path) -> CompareResult:
        put("late/t.log", ONE)
        agreeing, flipped = equal("a", BOTH, ONE), equal("t", BOTH, ONE)
        old = [agreeing[0], {**flipped[0], "reward": 1}]
        new = [agreeing[1], {"task_id": "t", "reward": 0, "verifier_logs_dir": "t.log"}]
        return compare_rollouts(old, new)

    def test_the_second_time_changes_nothing(self, tmp_path: Path) -> None:
        once = explain_flips(self.result(tmp_path), ["late"], 2)
        assert [(note.kind, note.tasks) for note in once.notes] == [(NoteKind.TESTS_DIFFER, ("a",))]
        assert [cluster.tasks for cluster in once.clusters] == [("t",)]
        assert explain_flips(once, ["late"], 2) == once

    def test_what_was_found_before_is_replaced(self, tmp_path: Path) -> None:
        result = self.result(tmp_path)
        before = explain_flips(result, [], 9)
        found = explain_flips(before, ["late"], 1)
        assert found == explain_flips(result, ["late"], 1)
        assert found != before

    def test_a_note_that_no_longer_holds_goes(self, tmp_path: Path) -> None:
        once = explain_flips(self.result(tmp_path), ["late"])
        assert explain_flips(replace(once, agreeing=()), ["late"]).notes == ()


@pytest.mark.parametrize(("reward", "told"), [(0, True), (0.5, True), (1, False), (2, False)])
def test_tasks_that_fail_for_another_reason_are_told(reward: float, told: bool) -> None:
    old = {"task_id": "t", "reward": reward, "test_output": "ModuleNotFoundError: No module named 'left'"}
    new = {**old, "test_output": "ModuleNotFoundError: No module named 'right'"}
    found = explain_flips(compare_rollouts([old], [new]), []).other_reasons
    names = [f"ModuleNotFoundError: No module named '{name}'" for name in ("left", "right")]
    assert [(one.old_signature, one.new_signature, one.tasks) for one in found] == ([(*names, ("t",))] if told else [])


@pytest.mark.parametrize(
    ("reward", "told"), [((0,), False), ((1,), True), ((0, 1), True), ((0.25,), True), ((7.5,), True), ((-0.5,), False)]
)
def test_where_lower_is_better_what_has_a_reward_above_0_fails(reward: Sequence[float], told: bool) -> None:
    old, new = (
        [{"task_id": "t", "reward": one, "test_output": f"KeyError: '{name}'"} for one in reward]
        for name in ("left", "right")
    )
    found = summary(old, new, "--lower-is-better")["other_reasons"]
    group = {"old_signature": "KeyError: 'left'", "new_signature": "KeyError: 'right'", "tasks": ["t"]}
    assert found == ([group] if told else [])


@pytest.mark.parametrize(("better", "options"), [(1, []), (0, ["--lower-is-better"])])
def test_of_several_attempts_those_that_failed_are_held_against_each_other(better: int, options: list[str]) -> None:
    passed = {"task_id": "t", "reward": better, "test_output": "PASSED t.py::a\nwarmed up: ValueError: no cache\n"}
    failed = {"task_id": "t", "reward": 1 - better, "test_output": "FAILED t.py::a - KeyError: 'left'\n"}
    told = summary([passed, failed], [failed, passed], *options)
    assert told["other_reasons"] == []
    assert not any("single tests differ" in note for note in told["notes"])
    failed_otherwise = {**failed, "test_output": "FAILED t.py::a - KeyError: 'right'\n"}
    group = {"old_signature": "KeyError: 'left'", "new_signature": "KeyError: 'right'", "tasks": ["t"]}
    assert summary([passed, failed], [passed, failed_otherwise], *options)["other_reasons"] == [group]
