"""Where the agents parted: the first thing that they did differently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare import Parted, Step, aligned, compare_files, compare_rollouts, explain_flips, parted
from nemo_gym.rollout_compare.explain import transcripts as module
from nemo_gym.rollout_compare.producers import read_again, steps
from nemo_gym.rollout_compare.schema import Record, Wanted
from tests.properties import PROPERTY
from tests.support import write_rows


def call(command: str, tool: str = "bash") -> Step:
    return Step("assistant", "", tool, json.dumps({"command": command}))


def said(text: str) -> Step:
    return Step("assistant", text)


ASKED = Step("user", "Fix it.")
LS, TEST = call("ls"), call("pytest -q")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([LS, TEST], [LS, call("ls tests"), TEST], Parted(2, 'bash "pytest -q"', 'bash "ls tests"', 2, 3)),
        ([LS], [call("ls", "sh")], Parted(1, 'bash "ls"', 'sh "ls"', 1, 1)),
        ([LS, TEST], [call(" ls\n"), call("pytest  -q")], Parted(None, None, None, 2, 2)),
        ([LS, TEST], [LS], Parted(2, 'bash "pytest -q"', None, 2, 1)),
        ([LS], [LS, said("Done.")], Parted(2, None, '"Done."', 1, 2)),
        ([LS, said("Done.")], [LS, said("Failed.")], Parted(2, '"Done."', '"Failed."', 2, 2)),
        ([said("Let me see."), LS, said("Done.")], [LS, said("Done.")], Parted(None, None, None, 2, 2)),
        ([said("4")], [said("5")], Parted(1, '"4"', '"5"', 1, 1)),
        ([said("a"), ASKED, said("b")], [said("a"), ASKED, said("c")], Parted(2, '"b"', '"c"', 2, 2)),
        ([Step("reasoning", "x"), said("4")], [said("4"), said(" ")], Parted(None, None, None, 1, 1)),
        ([], [], Parted(None, None, None, 0, 0)),
    ],
)
def test_the_first_difference(old: list[Step], new: list[Step], expected: Parted) -> None:
    assert parted([ASKED, *old], [ASKED, *new]) == expected


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"b": 2, "a": "x  y"}', 'run "a=x y, b=2"'),
        ('{"n": 3}', 'run "n=3"'),
        ("[1]", 'run "[1]"'),
        ("not json", 'run "not json"'),
        ("", 'run ""'),
        ("[" * 9999, f'run "{"[" * 200}..."'),
        ("\x1b[31mred\x07", 'run "red\\x07"'),
    ],
)
def test_what_a_tool_was_called_with(arguments: str, shown: str) -> None:
    assert parted([Step("assistant", "", "run", arguments)], [LS]).old == shown


def test_the_order_of_arguments_does_not_matter() -> None:
    one, other = (Step("assistant", "", "run", text) for text in ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'))
    assert parted([one], [other]).step is None


def test_long_texts_are_shown_from_where_they_differ() -> None:
    found = parted([said("x" * 1000 + "old" + "y" * 500)], [said("x" * 1000 + "new")])
    assert found.old == f'"...{"x" * 20}old{"y" * 177}..."'
    assert found.new == f'"...{"x" * 20}new"'


STEPS = st.lists(st.sampled_from([LS, TEST, call("ls", "sh"), said("a"), said("b"), ASKED]), max_size=12)


@PROPERTY
@given(STEPS, STEPS)
def test_swapping_the_sides_swaps_what_is_told(old: list[Step], new: list[Step]) -> None:
    one, other = parted(old, new), parted(new, old)
    assert (one.step, one.old, one.new) == (other.step, other.new, other.old)
    assert (one.old_steps, one.new_steps) == (other.new_steps, other.old_steps)


@PROPERTY
@given(STEPS, STEPS)
def test_aligned_rows_hold_every_step_once_and_in_order(old: list[Step], new: list[Step]) -> None:
    rows = aligned(old, new)
    assert [a for a, _ in rows if a is not None] == list(range(len(old)))
    assert [b for _, b in rows if b is not None] == list(range(len(new)))
    assert all(old[a] == new[b] for a, b in rows if a is not None and b is not None)


def test_equal_steps_stand_in_one_row() -> None:
    assert aligned([ASKED, LS, TEST], [ASKED, TEST, said("x")]) == [(0, 0), (1, None), (2, 1), (None, 2)]


def row(task: str, reward: float, command: str | None) -> dict[str, Any]:
    item = {"type": "function_call", "name": "bash", "arguments": json.dumps({"command": command})}
    return {"task_id": task, "reward": reward, "response": {"output": [item] if command else []}}


OLD = [row("a", 1, "ls"), row("b", 1, "ls"), row("c", 1, None), row("d", 1, "ls")]
NEW = [row("a", 0, "cat x"), row("b", 1, "cat x"), row("c", 0, "ls"), row("d", 0, "ls")]


def test_flips_tell_where_the_agents_parted(tmp_path: Path) -> None:
    files = write_rows(tmp_path / "old.jsonl", OLD), write_rows(tmp_path / "new.jsonl", NEW)
    for result in (explain_flips(compare_rollouts(OLD, NEW), []), compare_files(*files, explain=True)):
        assert {flip.comparison.task: flip.parted for flip in result.flips} == {
            "a": Parted(1, 'bash "ls"', 'bash "cat x"', 1, 1),
            "c": None,
            "d": Parted(None, None, None, 1, 1),
        }


def test_of_so_many_flips_it_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PARTED", 1)
    result = explain_flips(compare_rollouts(OLD, NEW), [])
    assert [flip.comparison.task for flip in result.flips if flip.parted] == ["a"]


def test_a_row_that_is_gone_has_no_transcript(tmp_path: Path) -> None:
    files = write_rows(tmp_path / "old.jsonl", OLD), write_rows(tmp_path / "new.jsonl", NEW)
    result = compare_files(*files)
    files[0].write_text("")
    rows = result.flips[0].rows
    found = dict(read_again([rows.old, rows.new], Wanted(transcript=True)))
    old, new = found[0], found[1]
    assert isinstance(old, Exception)
    assert isinstance(new, Record)
    assert new.transcript == (Step("assistant", "", "bash", '{"command": "cat x"}'),)
    assert not any(flip.parted for flip in explain_flips(result, []).flips)


def test_agents_that_did_nothing_did_not_part() -> None:
    old, new = ([{"task_id": "a", "reward": reward, "response": {"output": [{"role": "user", "content": "x"}]}}]
                for reward in (0, 1))  # fmt: skip
    assert explain_flips(compare_rollouts(old, new), []).flips[0].parted is None


def prompted(prompt: str, **more: Any) -> dict[str, Any]:
    return {"task_id": "a", "reward": 1, "responses_create_params": {"instructions": prompt, "input": "x"}, **more}


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [("Be brief.", "Be kind.", 4), ("Be brief.", "Be brief. Thanks.", 10), ("x" * 1000 + "a", "x" * 1000 + "b", 1001)],
)
def test_the_first_difference_of_a_prompt_is_found(old: str, new: str, first: int) -> None:
    result = explain_flips(compare_rollouts([prompted(old)], [prompted(new)]), [])
    assert [(change.field, change.first_difference) for change in result.changes] == [("system prompt", first)]


def test_a_prompt_that_cannot_be_read_again_has_no_first_difference(tmp_path: Path) -> None:
    files = [write_rows(tmp_path / name, [prompted(name)]) for name in ("old.jsonl", "new.jsonl")]
    result = compare_files(*files)
    files[1].write_text("")
    assert [change.first_difference for change in explain_flips(result, []).changes] == [None]


def test_where_agents_parted_is_told_without_what_tools_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = row("a", 1, "ls"), row("a", 0, "pwd")
    for one in (old, new):
        items = one["response"]["output"]
        items[0]["call_id"] = "c"
        items.append({"type": "function_call_output", "call_id": "c", "output": "x" * 50_000})
    seen: list[str] = []

    def kept(text: str) -> str:
        seen.append(text)
        return text

    monkeypatch.setattr(steps, "several_lines", kept)
    (flip,) = explain_flips(compare_rollouts([old], [new]), []).flips
    assert flip.parted == Parted(1, 'bash "ls"', 'bash "pwd"', 1, 1)
    assert 0 < max(map(len, seen)) < 100
