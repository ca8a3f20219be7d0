"""What holds for every valid pair of runs; and the rules themselves, against a slow and plain oracle."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nemo_gym.rollout_compare import (
    CompareResult,
    TaskSide,
    compare_rollouts,
    explain_flips,
    load_rollouts,
    render_report,
    summarize_side,
    summary_dict,
    summary_schema,
)
from nemo_gym.rollout_compare.report.notes import note_text
from tests.properties import PROPERTY
from tests.support import write_rows

Rows = list[dict[str, Any]]

CANDIDATES = [
    *["_ng_task_id", "task_name", "task_id", "verifier_metadata.task_id", "verifier_metadata.task_name"],
    *["verifier_metadata.instance_id", "verifier_metadata.id"],
]
SCHEMA = Draft202012Validator(summary_schema())

REWARDS = [0, 1, 0.0, 1.0, 0.5, 0.25, -1, 1e-9, 2e-9, 1e300, -0.0, 1, 0, 0.5, None, math.nan, math.inf, -math.inf]
CONFIGS: list[Any] = [None, "x", [], {}, {"mask_sample": True}, {"mask_sample": None}]
RESPONSES: list[Any] = [None, "x", [], {}, {"metadata": None}, {"metadata": "error_type"}]
#: What rows say beside their reward; most of them nothing.
EXTRAS: list[dict[str, Any]] = [
    *[{}] * 12,
    *[{"mask_sample": mask} for mask in (True, False, 0, 1, None)],
    *[{"instance_config": config} for config in CONFIGS],
    {"mask_sample": False, "instance_config": {"mask_sample": 1}},
    {"mask_sample": None, "instance_config": {"mask_sample": 1}, "failure_kind": "oom"},
    *[{"failure_kind": kind} for kind in ("timeout", "", None)],
    {"mask_sample": True, "failure_kind": "timeout"},
    *[{"error": error} for error in ("boom", "two\nlines\n", "", None, {"message": "boom"}, ["boom"])],
    *[{"response": response} for response in RESPONSES],
    *[{"response": {"metadata": types}} for types in ({"seed": 1}, {"error_type": ""}, {"a_error_type": "Late"})],
    {"response": {"metadata": {"error_type": None, "z_error_type": "Late"}}, "test_output": "1 failed"},
    *[{name: "one\ntwo\n"} for name in ("test_output", "verifier_stdout", "verifier_output")],
]
RESULTS = st.builds(
    lambda reward, extra: {**extra, **({} if reward == "absent" else {"reward": reward})},
    st.sampled_from([*REWARDS, "absent"]),
    st.sampled_from(EXTRAS),
)
HOSTILE = st.text(st.sampled_from("a#/\n\r\x1b[31m\x07\u2028|-: \ud800\u202e") | st.characters(), max_size=12)
HOSTILE_RESULTS = st.builds(
    lambda reward, name, text: {
        "reward": reward,
        **({"response": {"metadata": {f"{text}error_type": text}}} if name == "response" else {name: text}),
    },
    st.sampled_from([0, 1, None]),
    st.sampled_from(["failure_kind", "error", "response", "test_output", "verifier_stdout", "verifier_output"]),
    HOSTILE,
)


def _with_id(row: dict[str, Any], key: str, value: object) -> dict[str, Any]:
    *outer, last = key.split(".")
    return {**row, outer[0]: {last: value}} if outer else {**row, last: value}


def runs(
    labels: st.SearchStrategy[Any], results: st.SearchStrategy[dict[str, Any]] = RESULTS, min_size: int = 1
) -> st.SearchStrategy[Rows]:
    """Runs whose rows all name their task by one candidate, and one of them by another one too."""

    def build(key: str, other: str, rows: list[tuple[dict[str, Any], Any]]) -> Rows:
        made = [_with_id(row, key, label) for row, label in rows]
        return [{other: "x", **row} for row in made[:1]] + made[1:]

    candidates = st.sampled_from(CANDIDATES)
    rows = st.lists(st.tuples(results, labels), min_size=min_size, max_size=8)
    return st.builds(build, candidates, st.sampled_from(CANDIDATES[:3]), rows)


SHORT = st.sampled_from(["a", "b", "c", "d", "unknown#1", ""]) | st.integers(0, 2)
PLAIN_RUN = runs(SHORT)
PREFIXED_RUN = runs(st.sampled_from(["bench/a", "bench/b", "bench/x", "bench/"]))
KEYED_RUN = runs(
    st.builds(
        lambda taskset, field, task: {"taskset": taskset, field: task},
        st.sampled_from(["R", "S"]),
        st.sampled_from(["id", "task_id"]),
        st.sampled_from(["a", "b", 1]),
    )
    | st.sampled_from(["a", "R/z", "e"]),
)
HOSTILE_RUN = runs(HOSTILE, HOSTILE_RESULTS, min_size=0)
PAIRS = st.one_of(
    st.tuples(PLAIN_RUN, PLAIN_RUN),
    st.tuples(PREFIXED_RUN, PLAIN_RUN),
    st.tuples(PLAIN_RUN, PREFIXED_RUN),
    st.tuples(KEYED_RUN, KEYED_RUN),
    st.tuples(KEYED_RUN, PLAIN_RUN),
    st.tuples(HOSTILE_RUN, HOSTILE_RUN).filter(any),
)


def _order_free(side: TaskSide | None) -> object:
    """What of a side does not depend on which of its rows is first."""
    if side is None:
        return None
    masked = side.masked and side.rows > 1 and side.masked.split(" rows masked: ")[0]
    found = (side.masked is None, side.agent_error is None, side.failure_kind is None)
    return side.rows, side.reward, side.reward_rows, masked, *found


def _told(result: CompareResult) -> list[object]:
    """Everything that a result says but what depends on which repeat is first."""
    tasks = [(t.task, t.category, t.winner, _order_free(t.old), _order_free(t.new)) for t in result.tasks]
    rows = (result.old_rows, result.new_rows, result.old_masked_rows, result.new_masked_rows)
    keys = (result.old_key, result.new_key, result.old_prefix_stripped, result.new_prefix_stripped)
    return [tasks, rows, keys, result.keyed_by_taskset, [note_text(note) for note in result.notes], result.counts()]


@PROPERTY
@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing_but_which_repeat_is_first(pair: tuple[Rows, Rows], random: Any) -> None:
    shuffled = [random.sample(rows, len(rows)) for rows in pair]
    assert _told(compare_rollouts(*shuffled)) == _told(compare_rollouts(*pair))


@PROPERTY
@given(PAIRS)
def test_swapping_the_sides_swaps_winners_and_counts(pair: tuple[Rows, Rows]) -> None:
    old, new = pair
    one, other = compare_rollouts(old, new), compare_rollouts(new, old)
    swapped = {"old": "new", "new": "old", None: None}
    assert [(t.task, t.category, swapped[t.winner], swapped[t.loser], t.new, t.old) for t in one.tasks] == [
        (t.task, t.category, t.winner, t.loser, t.old, t.new) for t in other.tasks
    ]
    pairs = [
        ("flipped_old_win", "flipped_new_win"),
        ("masked_old", "masked_new"),
        ("missing_old_only", "missing_new_only"),
    ]
    names = dict([*pairs, *((b, a) for a, b in pairs)])
    assert {names.get(name, name): count for name, count in one.counts().items()} == other.counts()
    assert (one.old_key, one.old_rows, one.old_masked_rows, one.old_prefix_stripped) == (
        *(other.new_key, other.new_rows, other.new_masked_rows, other.new_prefix_stripped),
    )


@PROPERTY
@given(PAIRS)
def test_each_task_has_exactly_one_category_and_the_counts_add_up(pair: tuple[Rows, Rows]) -> None:
    result = compare_rollouts(*pair)
    counts = result.counts()
    categories = ("identical", "flipped", "flipped_agent_error", "masked", "missing")
    by_category = [task.task for category in categories for task in result.by_category(category)]
    assert sorted(by_category) == [task.task for task in result.tasks]
    assert len(set(by_category)) == len(by_category) == counts["tasks"]
    assert sum(counts[category] for category in categories) == counts["tasks"]
    assert counts["flipped_old_win"] + counts["flipped_new_win"] == counts["flipped"]
    assert counts["missing_old_only"] + counts["missing_new_only"] == counts["missing"]
    assert max(counts["masked_old"], counts["masked_new"]) <= counts["masked"]
    assert counts["masked"] <= counts["masked_old"] + counts["masked_new"]


@PROPERTY
@given(PAIRS)
def test_every_row_is_counted_in_exactly_one_task(pair: tuple[Rows, Rows]) -> None:
    result = compare_rollouts(*pair)
    assert sum(task.old.rows for task in result.tasks if task.old) == result.old_rows == len(pair[0])
    assert sum(task.new.rows for task in result.tasks if task.new) == result.new_rows == len(pair[1])


@PROPERTY
@given(PAIRS)
def test_a_run_compared_with_itself_has_no_flips_and_nothing_missing(pair: tuple[Rows, Rows]) -> None:
    for rows in filter(None, pair):
        counts = compare_rollouts(rows, rows).counts()
        assert counts["identical"] + counts["masked"] == counts["tasks"]
        assert counts["masked_old"] == counts["masked_new"] == counts["masked"]


@PROPERTY
@given(PAIRS, st.integers(0, 5))
def test_a_report_is_made_for_any_valid_pair_and_no_line_of_it_is_forged(pair: tuple[Rows, Rows], tail: int) -> None:
    result = compare_rollouts(*pair)
    report = render_report(result, [], tail)
    assert report == render_report(compare_rollouts(*pair), [], tail)
    assert report.encode("utf-8")
    assert report.endswith("\n")
    lines = report[:-1].split("\n")
    assert not [line for line in lines if _controls(line)]
    counts = result.counts()
    flips = counts["flipped"] + counts["flipped_agent_error"]
    assert Counter(line.split(" ")[0] for line in lines if line.startswith(("###", "- "))) == Counter(
        {name: count for name, count in (("###", flips), ("-", counts["masked"] + counts["missing"])) if count}
    )
    sections = [line.rpartition(" (")[0] or line for line in lines if line.startswith("## ")]
    assert [section for section in sections if section != "## Flips with the same cause"] == [
        "## Difference",
        "## Flips",
        *["## Flips with agent errors"] * bool(counts["flipped_agent_error"]),
        "## Masked",
        "## Missing",
    ]
    assert len(sections) <= 5 + bool(counts["flipped_agent_error"])
    notes = [line for line in lines if line.startswith("note: ")]
    assert len(notes) == len(explain_flips(result, [], tail).notes)
    assert notes == lines[lines.index(notes[0]) :][: len(notes)] if notes else True
    evidence = [line for line in lines if "verifier output" in line and line.startswith("    ") and "    |" not in line]
    if any("no flip has verifier output" in note for note in notes):  # said once, not under each flip
        assert evidence == []
    else:
        assert len(evidence) == flips if tail else all("verifier output unavailable: " in line for line in evidence)


def _controls(text: str) -> list[str]:
    return [char for char in text if ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in "\u2028\u2029"]


@PROPERTY
@given(PAIRS)
def test_a_valid_summary_is_made_for_any_valid_pair(pair: tuple[Rows, Rows]) -> None:
    result = compare_rollouts(*pair)
    summary = summary_dict(result)
    SCHEMA.validate(summary)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["counts"] == result.counts()
    assert [task["task"] for task in summary["tasks"]] == [task.task for task in result.tasks]


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@PROPERTY
@given(st.lists(FINITE | st.integers(-(10**20), 10**20), min_size=1, max_size=30))
def test_the_mean_is_that_of_fmean_and_next_to_the_exact_one(rewards: list[float]) -> None:
    mean = summarize_side([{"reward": reward} for reward in rewards]).reward
    exact = sum((Fraction(float(reward)) for reward in rewards), Fraction()) / len(rewards)
    assert mean is not None
    assert abs(Fraction(mean) - exact) <= 2 * Fraction(math.ulp(float(exact)))
    try:
        assert mean == fmean(map(float, rewards))
    except OverflowError:
        assert mean == float(exact)


# The oracle: the rules word by word, a row at a time, without regard to speed.


def _field(row: Mapping[str, Any], path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _finite(row: Mapping[str, Any]) -> bool:
    return row.get("reward") is not None and math.isfinite(row["reward"])


def _mask(row: Mapping[str, Any]) -> str | None:
    mask = row.get("mask_sample")
    if mask is None:
        mask = _field(row, "instance_config.mask_sample")
    if mask:
        kind = row.get("failure_kind")
        return f"mask_sample (failure_kind={kind})" if kind else "mask_sample"
    if row.get("reward") is None:
        return "no reward"
    return None if _finite(row) else f"non-finite reward ({row['reward']})"


def _doubtful(row: Mapping[str, Any]) -> bool:
    metadata = _field(row, "response.metadata")
    types = metadata.items() if isinstance(metadata, dict) else []
    return bool(row.get("error")) or any(key.endswith("error_type") and value for key, value in types)


class Facts(NamedTuple):
    rows: int
    reward: float | None
    reward_rows: int
    masked: str | None
    doubtful: bool
    failure_kind: str | None


class Expected(NamedTuple):
    category: str
    winner: str | None
    old: Facts | None
    new: Facts | None


def _expected_side(rows: Rows) -> Facts | None:
    if not rows:
        return None
    rewards = [float(row["reward"]) for row in rows if _finite(row)]
    reasons = [reason for row in rows if (reason := _mask(row))]
    masked = reasons[0] if reasons else None
    if masked and len(rows) > 1:
        masked = f"{len(reasons)}/{len(rows)} rows masked: {masked}"
    kinds = [row["failure_kind"] for row in rows if row.get("failure_kind") and not _mask(row)]
    mean = fmean(rewards) if rewards else None
    return Facts(len(rows), mean, len(rewards), masked, any(map(_doubtful, rows)), kinds[0] if kinds else None)


def _expected(old_rows: Rows, new_rows: Rows) -> Expected:
    old, new = _expected_side(old_rows), _expected_side(new_rows)
    if old is None or new is None:
        return Expected("missing", None, old, new)
    if old.masked or new.masked:
        return Expected("masked", None, old, new)
    assert old.reward is not None
    assert new.reward is not None
    if abs(old.reward - new.reward) <= 1e-9:
        return Expected("identical", None, old, new)
    winner = "old" if old.reward > new.reward else "new"
    doubt = old.doubtful or new.doubtful
    return Expected("flipped_agent_error" if doubt else "flipped", winner, old, new)


def _keys(rows: Rows) -> list[str]:
    """The candidates that every row carries, earliest first."""
    return [path for path in CANDIDATES if rows and all(_field(row, path) is not None for row in rows)]


def _name(value: Any) -> tuple[str | None, str]:
    """The taskset and the task that a key's value names."""
    if not isinstance(value, dict):
        return None, str(value)
    task = value["task_id"] if value.get("task_id") is not None else value["id"]
    return value.get("taskset"), str(task)


def _prefix(labels: set[str], others: set[str]) -> str | None:
    heads = {label.split("/")[0] if "/" in label else None for label in labels}
    (head,) = heads if len(heads) == 1 else (None,)
    if head is None or any(label.startswith(f"{head}/") for label in others):
        return None
    return head


def _tasks(old_rows: Rows, new_rows: Rows) -> dict[str, Expected]:
    """Every task by its label, for runs of which none or both are keyed by taskset."""
    labels = _labels(old_rows, new_rows)
    tasks: dict[str, tuple[Rows, Rows]] = {}
    for i, rows in enumerate((old_rows, new_rows)):
        for label, row in zip(labels[i], rows, strict=True):
            tasks.setdefault(label, ([], []))[i].append(row)
    return {label: _expected(*tasks[label]) for label in sorted(tasks)}


def _labels(old_rows: Rows, new_rows: Rows) -> list[list[str]]:
    """Each row's label by the earliest keys by which the runs meet, else by the earliest."""
    keys = [_keys(old_rows) or _keys(new_rows), _keys(new_rows) or _keys(old_rows)]
    pairs = [(old, new) for old in keys[0] for new in keys[1]]
    meeting: dict[tuple[int, int], list[list[list[str]]]] = {}
    for pair in pairs:
        labels = _labels_by(old_rows, new_rows, *pair)
        if not set(labels[0]).isdisjoint(labels[1]):
            ranks = [CANDIDATES.index(key) for key in pair]
            meeting.setdefault((max(ranks), sum(ranks)), []).append(labels)
    if not meeting:
        return _labels_by(old_rows, new_rows, *pairs[0])
    first = meeting[min(meeting)]
    assume(len(first) == 1)
    return first[0]


def _labels_by(old_rows: Rows, new_rows: Rows, old_key: str, new_key: str) -> list[list[str]]:
    """Each row's label by a pair of keys."""
    names = [[_name(_field(row, key)) for row in rows] for rows, key in ((old_rows, old_key), (new_rows, new_key))]
    keyed = [len({taskset for taskset, _ in side if taskset is not None}) > 1 for side in names]
    assume(keyed[0] == keyed[1])
    labels = [
        [f"{taskset}/{task}" if keyed[0] and taskset is not None else task for taskset, task in side] for side in names
    ]
    if set(labels[0]).isdisjoint(labels[1]):
        found = [_prefix(set(one), set(other)) for one, other in (labels, labels[::-1])]
        assume(None in found)
        for i, prefix in enumerate(found):
            if prefix is not None:
                labels[i] = [label.removeprefix(f"{prefix}/") for label in labels[i]]
                assume(not set(labels[0]).isdisjoint(labels[1]))
    return labels


def _found(result: CompareResult) -> dict[str, Expected]:
    def side(one: TaskSide | None) -> Facts | None:
        if one is None:
            return None
        return Facts(one.rows, one.reward, one.reward_rows, one.masked, one.agent_error is not None, one.failure_kind)

    return {t.task: Expected(t.category, t.winner, side(t.old), side(t.new)) for t in result.tasks}


@pytest.mark.parametrize(
    "pairs",
    [
        st.tuples(PLAIN_RUN, PLAIN_RUN),
        st.tuples(PREFIXED_RUN, PLAIN_RUN),
        st.tuples(PLAIN_RUN, PREFIXED_RUN),
        st.tuples(PREFIXED_RUN, PREFIXED_RUN),
        st.tuples(KEYED_RUN, KEYED_RUN),
        st.tuples(st.just([]), PLAIN_RUN),
    ],
    ids=["plain", "old prefixed", "new prefixed", "both prefixed", "keyed", "empty"],
)
def test_labels_categories_rewards_and_reasons_follow_the_rules(
    pairs: st.SearchStrategy[tuple[Rows, Rows]],
) -> None:
    @PROPERTY
    @given(pairs)
    def check(pair: tuple[Rows, Rows]) -> None:
        found = _found(compare_rollouts(*pair))
        expected = _tasks(*pair)
        assert list(found) == list(expected)
        assert found == expected

    check()


@PROPERTY
@given(
    st.lists(st.tuples(st.sampled_from("RST"), st.sampled_from("abc")), min_size=2),
    st.lists(st.sampled_from("abcd"), min_size=1),
)
def test_a_plain_id_joins_the_keyed_task_that_it_can_only_mean(keyed: list[tuple[str, str]], plain: list[str]) -> None:
    assume(len({taskset for taskset, _ in keyed}) > 1)
    old: Rows = [{"task_id": {"taskset": taskset, "task_id": task}, "reward": 1} for taskset, task in keyed]
    result = compare_rollouts(old, [{"task_id": task, "reward": 1} for task in plain])
    homes = {task: {taskset for taskset, other in keyed if other == task} for task in "abcd"}
    joined = {task for task in plain if len(homes[task]) == 1}
    ambiguous = {task for task, tasksets in homes.items() if len(tasksets) > 1}
    assert {task.task for task in result.by_category("identical")} == joined
    assert {task.task for task in result.by_category("missing") if task.new} == set(plain) - joined
    labels = {task.task for task in result.by_category("missing") if task.old}
    assert labels >= {f"{taskset}/{task}" for task in ambiguous for taskset in homes[task]}
    if ambiguous:
        assert any(ambiguous == set(note.tasks) for note in result.notes)


# The failures sidecar.

ATTEMPTS = st.fixed_dictionaries(
    {},
    optional={
        "_ng_task_index": st.integers(0, 2) | st.none(),
        "_ng_rollout_index": st.integers(0, 1) | st.none(),
        "task_id": st.sampled_from("ab"),
    },
)
MARKS = st.dictionaries(
    st.sampled_from(["_ng_unrouted_run_error", "_ng_dispatch_drained", "_ng_omitted_rollout"]),
    st.booleans(),
    max_size=1,
)
RECORDS = st.lists(
    st.builds(
        lambda attempt, marks, kind: {**attempt, **marks, "failure_kind": kind}, ATTEMPTS, MARKS, st.sampled_from("xyz")
    )
)
MAIN_ROWS = st.lists(
    st.builds(
        lambda attempt, task, reward: {**attempt, "task_id": task, "reward": reward},
        ATTEMPTS,
        st.sampled_from("abc"),
        st.integers(0, 1),
    ),
    min_size=1,
)


def _attempt(row: Mapping[str, Any]) -> tuple[Any, Any] | None:
    pair = (row.get("_ng_task_index"), row.get("_ng_rollout_index"))
    return None if None in pair else pair


def _standing(main: Rows, records: Rows) -> Rows:
    finished = [_attempt(row) for row in main]
    routed = [one for one in records if not one.get("_ng_unrouted_run_error") and not one.get("_ng_dispatch_drained")]
    standing = []
    for i, record in enumerate(routed):
        attempt = _attempt(record)
        later = [_attempt(other) for other in routed[i + 1 :]]
        if attempt is not None and (attempt in later or attempt in finished):
            continue
        if not record.get("_ng_omitted_rollout"):
            standing.append(record)
    return standing


def _home(main: Rows, record: Mapping[str, Any]) -> str | None:
    """The task of a failure; None for an anonymous one."""
    if record.get("task_id") is not None:
        return str(record["task_id"])
    index = record.get("_ng_task_index")
    return next((str(row["task_id"]) for row in main if index is not None and row.get("_ng_task_index") == index), None)


def _run_of(folder: str, name: str, main: Rows, records: Rows) -> Sequence[Mapping[str, Any]]:
    write_rows(Path(folder, f"{name}_failures.jsonl"), records)
    return load_rollouts(write_rows(Path(folder, f"{name}.jsonl"), main))


@PROPERTY
@given(MAIN_ROWS, RECORDS, MAIN_ROWS, RECORDS)
def test_failures_stand_and_join_by_the_rules(old: Rows, old_records: Rows, new: Rows, new_records: Rows) -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = compare_rollouts(_run_of(folder, "old", old, old_records), _run_of(folder, "new", new, new_records))
    sides: list[dict[str, Rows]] = []
    anonymous: list[tuple[str, str]] = []
    for name, main, records in (("old", old, old_records), ("new", new, new_records)):
        tasks: dict[str, Rows] = {}
        for row in main:
            tasks.setdefault(str(row["task_id"]), []).append(row)
        for record in _standing(main, records):
            home = _home(main, record)
            reason = f"mask_sample (failure_kind={record['failure_kind']})"
            if home is None:
                anonymous.append((name, reason))
            else:
                tasks.setdefault(home, []).append({"mask_sample": True, "failure_kind": record["failure_kind"]})
        sides.append(tasks)
    expected = {
        task: _expected(sides[0].get(task, []), sides[1].get(task, [])) for task in sorted({*sides[0], *sides[1]})
    }
    for number, (name, reason) in enumerate(anonymous, 1):
        facts = Facts(1, None, 0, reason, doubtful=False, failure_kind=None)
        entry = Expected("masked", None, facts if name == "old" else None, facts if name == "new" else None)
        expected[f"unknown#{number}"] = entry
    assert list(_found(result)) == list(expected)
    assert _found(result) == expected
