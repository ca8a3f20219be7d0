from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from types import MappingProxyType
from typing import Any

import pytest

from nemo_gym.rollout_compare.compare.categories import MOST_AGREEING, compare_rollouts
from nemo_gym.rollout_compare.compare.questions import Questions
from nemo_gym.rollout_compare.compare.task_side import summarize_side
from nemo_gym.rollout_compare.engine import MOST_LOOKED_AT
from nemo_gym.rollout_compare.producers.gym.failures import failed_attempt
from nemo_gym.rollout_compare.report.notes import note_message, note_names, note_text
from nemo_gym.rollout_compare.schema import (
    Category,
    CompareInputError,
    JoinCheck,
    Mask,
    MaskKind,
    Repeats,
    Side,
    TaskComparison,
    TaskSide,
)
from tests.support import row_at

Row = dict[str, Any]


def row(reward: Any, **others: Any) -> Row:
    return {"task_id": "t", "reward": reward, **others}


def rows(**rewards: Any) -> list[Row]:
    """A row for each task and reward."""
    return [{"task_id": task, "reward": reward} for task, reward in rewards.items()]


def compared(old: list[Row] | Row, new: list[Row] | Row) -> TaskComparison:
    """The one task of two runs."""
    old_rows, new_rows = ([side] if isinstance(side, dict) else side for side in (old, new))
    [task] = compare_rollouts(old_rows, new_rows).tasks
    return task


def category(old: list[Row] | Row, new: list[Row] | Row) -> Category:
    return compared(old, new).category


MASKED = row(1, mask_sample=True)
FAILED = failed_attempt({"failure_kind": "crash"})
NAMED_FAILURE = failed_attempt({"task_id": "t", "failure_kind": "crash"})


class TestSide:
    def test_one_row(self) -> None:
        assert summarize_side([row(0.5)]) == TaskSide(1, 0.5, 1, None, None, None)

    def test_the_reward_is_the_mean_of_the_finite_ones_those_of_masked_rows_too(self) -> None:
        side = summarize_side([row(1), row(None), row(0.5, mask_sample=True), row(math.nan), row(0), row(-math.inf)])
        assert (side.rows, side.reward, side.reward_rows) == (6, 0.5, 3)

    @pytest.mark.parametrize("rewards", [[None], [math.nan, math.inf], [None, None]])
    def test_without_a_finite_reward_there_is_none(self, rewards: list[Any]) -> None:
        side = summarize_side([row(reward) for reward in rewards])
        assert (side.reward, side.reward_rows) == (None, 0)
        assert side.masked

    @pytest.mark.parametrize(
        ("rewards", "mean"),
        [
            ([0.1] * 10, 0.1),
            ([1e16, 1, -1e16], 1 / 3),
            ([1.7e308, 1.7e308], 1.7e308),
            ([1.7e308, 1.7e308, -1.7e308], 1.7e308 / 3),
            ([5e-324, 5e-324], 5e-324),
            ([1, 0, 0], 1 / 3),
            ([2**53 + 1], float(2**53)),
        ],
    )
    def test_the_mean_is_correctly_rounded(self, rewards: list[float], mean: float) -> None:
        assert summarize_side([row(reward) for reward in rewards]).reward == mean
        task = compared([row(reward) for reward in rewards], [row(0)])
        assert task.old
        assert task.old.reward == mean

    def test_the_mean_is_that_of_the_standard_library(self) -> None:
        for size in (2, 3, 7, 50):
            rewards = [math.sin(i) for i in range(size)]
            assert summarize_side([row(reward) for reward in rewards]).reward == fmean(rewards)

    @pytest.mark.parametrize(
        ("side", "masked"),
        [
            ([row(1)], None),
            ([row(1), row(0)], None),
            ([MASKED], "mask_sample"),
            ([row(None)], "no reward"),
            ([row(math.inf)], "non-finite reward (inf)"),
            ([row(1), MASKED], "1/2 rows masked: mask_sample"),
            ([row(1), row(None), MASKED], "2/3 rows masked: no reward"),
            ([MASKED, row(None)], "2/2 rows masked: mask_sample"),
            ([row(1), NAMED_FAILURE, row(None)], "2/3 rows masked: mask_sample (failure_kind=crash)"),
        ],
    )
    def test_it_is_masked_for_the_first_reason_with_the_number_of_rows(
        self, side: list[Row], masked: str | None
    ) -> None:
        assert summarize_side(side).masked == masked
        task = compared(side, row(0))
        assert task.old
        assert task.old.masked == masked

    def test_the_agent_error_is_the_first_found(self) -> None:
        side = [row(1), row(0, response={"metadata": {"a_error_type": "E"}}), row(0, error="later")]
        assert summarize_side(side).agent_error == "a_error_type=E"
        assert summarize_side([row(1)]).agent_error is None

    def test_the_failure_kind_is_the_first_of_an_unmasked_row(self) -> None:
        side = [row(1), row(0, mask_sample=True, failure_kind="m"), row(0, failure_kind="k"), row(0, failure_kind="l")]
        assert summarize_side(side).failure_kind == "k"
        assert summarize_side(side[:2]).failure_kind is None

    def test_no_row_is_no_side(self) -> None:
        with pytest.raises(ValueError, match="at least one row"):
            summarize_side([])

    def test_a_broken_row_is_an_error(self) -> None:
        with pytest.raises(CompareInputError, match=r"^row 2: reward 'x' is not a number \(task t\)$"):
            summarize_side([row(1), row("x")])

    def test_sides_of_a_comparison_are_those_of_their_rows(self) -> None:
        groups = [
            [row(1)],
            [row(0.5), row(0.25)],
            [row(1), MASKED, row(0, error="e")],
            [row(0, failure_kind="k")],
            [row(None)],
            [row(1)],
        ]
        old = [{**one, "task_id": f"t{i}"} for i, group in enumerate(groups) for one in group]
        result = compare_rollouts(old, [])
        assert [task.old for task in result.tasks] == [
            summarize_side([one for one in old if one["task_id"] == f"t{i}"]) for i in range(len(groups))
        ]

    def test_many_different_rewards_each_stay_what_they_are(self) -> None:
        count = 3000
        result = compare_rollouts([{"task_id": f"{i:05}", "reward": i / 7} for i in range(count)], [])
        assert [task.old.reward for task in result.tasks if task.old] == [i / 7 for i in range(count)]


class TestCategory:
    def test_a_task_on_one_side_only_is_missing(self) -> None:
        result = compare_rollouts(rows(a=1, b=1), rows(b=1, c=1))
        assert {task.task: (task.category, bool(task.old), bool(task.new)) for task in result.tasks} == {
            "a": ("missing", True, False),
            "b": ("identical", True, True),
            "c": ("missing", False, True),
        }

    @pytest.mark.parametrize("masked", [MASKED, row(None), row(math.nan), row(math.inf), NAMED_FAILURE])
    def test_missing_comes_before_masked(self, masked: Row) -> None:
        result = compare_rollouts([masked], rows(other=1))
        assert [task.category for task in result.tasks] == ["missing", "missing"]

    @pytest.mark.parametrize("masked", [MASKED, row(None), row(math.nan), row(-math.inf), NAMED_FAILURE])
    def test_a_task_with_a_masked_side_is_masked(self, masked: Row) -> None:
        for other in (row(1), row(0), masked):
            for old, new in ((masked, other), (other, masked)):
                task = compared(old, new)
                assert (task.category, task.winner) == ("masked", None)

    def test_one_masked_row_of_several_masks_the_side(self) -> None:
        assert category([row(1), MASKED], row(1)) == "masked"

    def test_masked_comes_before_identical_and_before_agent_errors(self) -> None:
        assert category(MASKED, row(1)) == "masked"
        assert category(row(1, mask_sample=True, error="e"), row(0)) == "masked"

    def test_a_failure_kind_alone_does_not_mask(self) -> None:
        assert category(row(1, failure_kind="k"), row(0)) == "flipped"

    @pytest.mark.parametrize(
        ("old", "new", "same"),
        [
            (1, 1.0, True),
            (0, -0.0, True),
            (0, 1e-9, True),
            (0, -1e-9, True),
            (0, 1.000001e-9, False),
            (0, 2e-9, False),
            (1, 1 + 0.9e-9, True),
            (1, 1 + 1.1e-9, False),
            (0.1 + 0.2, 0.3, True),
            (1e12, 1e12 + 1, False),
            (1e300, 1e300, True),
            (1.7e308, -1.7e308, False),
            (5e-324, 0, True),
        ],
    )
    def test_rewards_are_identical_within_an_absolute_tolerance(self, old: float, new: float, same: bool) -> None:
        expected = Category.IDENTICAL if same else Category.FLIPPED
        assert category(row(old), row(new)) is expected
        assert category(row(new), row(old)) is expected

    def test_means_are_compared(self) -> None:
        assert category([row(1), row(0)], [row(0), row(1)]) == "identical"
        assert category([row(1), row(0)], row(0.5)) == "identical"
        assert category([row(0.1), row(0.2), row(0.3)], row(0.2)) == "identical"
        assert category([row(1), row(0), row(0)], [row(1), row(0)]) == "flipped"

    @pytest.mark.parametrize(("old", "new", "winner"), [(1, 0, Side.OLD), (0, 0.5, Side.NEW), (-2, -1, Side.NEW)])
    def test_the_side_with_the_higher_reward_wins(self, old: float, new: float, winner: Side) -> None:
        task = compared(row(old), row(new))
        assert (task.category, task.winner, task.loser) == ("flipped", winner, winner.other)
        doubtful = compared(row(old, error="e"), row(new))
        assert (doubtful.category, doubtful.winner) == ("flipped_agent_error", winner)

    @pytest.mark.parametrize("error", [{"error": "e"}, {"response": {"metadata": {"error_type": "E"}}}])
    def test_a_flip_with_an_agent_error_on_either_side_is_doubtful(self, error: Row) -> None:
        assert category(row(1, **error), row(0)) == "flipped_agent_error"
        assert category(row(1), row(0, **error)) == "flipped_agent_error"
        assert category(row(1, **error), row(0, **error)) == "flipped_agent_error"
        assert category(row(1), [row(0), row(0, **error)]) == "flipped_agent_error"

    def test_an_agent_error_does_not_matter_where_rewards_agree(self) -> None:
        task = compared(row(1, error="e"), row(1))
        assert (task.category, task.winner) == ("identical", None)

    def test_nothing_but_a_flip_has_a_winner(self) -> None:
        result = compare_rollouts(rows(a=1, b=None, c=1, d=1), rows(a=1, b=1, d=0))
        assert [task.winner for task in result.tasks] == [None, None, None, Side.OLD]


class TestAnonymousFailures:
    def test_each_is_a_masked_entry_of_its_own_counted_through_old_then_new(self) -> None:
        result = compare_rollouts([*rows(a=1), FAILED, FAILED], [FAILED, *rows(a=1, z=0), FAILED])
        assert [(task.task, task.category) for task in result.tasks] == [
            ("a", "identical"),
            ("z", "missing"),
            ("unknown#1", "masked"),
            ("unknown#2", "masked"),
            ("unknown#3", "masked"),
            ("unknown#4", "masked"),
        ]
        crashed = TaskSide(1, None, 0, Mask(MaskKind.MASK_SAMPLE, "crash"), masked_rows=1)
        assert [(task.old, task.new) for task in result.tasks[2:]] == [
            (crashed, None),
            (crashed, None),
            (None, crashed),
            (None, crashed),
        ]
        assert (result.old_rows, result.new_rows, result.old_masked_rows, result.new_masked_rows) == (3, 4, 2, 2)

    def test_it_joins_nothing_not_even_a_real_task_of_its_name(self) -> None:
        real = [{"task_id": "unknown#1", "reward": 1}]
        result = compare_rollouts([*real, FAILED], real)
        assert [(task.task, task.category) for task in result.tasks] == [
            ("unknown#1", "identical"),
            ("unknown#1", "masked"),
        ]
        assert result.counts()["tasks"] == 2

    def test_they_come_last_whatever_the_labels(self) -> None:
        result = compare_rollouts([FAILED, *rows(zz=1)], rows(zz=1))
        assert [task.task for task in result.tasks] == ["zz", "unknown#1"]

    def test_one_that_is_named_by_its_index_masks_its_task(self) -> None:
        failed = failed_attempt({"_ng_task_index": 3})
        result = compare_rollouts([row(1, _ng_task_index=3), failed], [row(1)])
        [task] = result.tasks
        assert task.old
        assert (task.category, task.old.masked) == ("masked", "1/2 rows masked: mask_sample (failure_kind=failure)")
        assert task.old.reward == 1


class TestOrder:
    def test_tasks_come_in_the_string_order_of_their_labels(self) -> None:
        labels = ["b", "a", "B", "10", "2", "\u00e9", "a/b", "a b", ""]
        result = compare_rollouts([{"task_id": label, "reward": 1} for label in labels], rows(z=1))
        assert [task.task for task in result.tasks] == sorted([*labels, "z"])

    def test_flips_come_in_the_order_of_their_tasks(self) -> None:
        result = compare_rollouts(rows(c=1, a=0, b=1, d=1), rows(b=0, d=1, a=1, c=0))
        assert [flip.comparison.task for flip in result.flips] == ["a", "b", "c"]
        assert all(flip.evidence(side) is None for flip in result.flips for side in Side)


class TestTellingRows:
    """Of a flip the losing side's worst row and the winning side's best."""

    def told(self, old: list[Row], new: list[Row]) -> tuple[Any, Any]:
        [flip] = compare_rollouts(old, new).flips
        assert flip.rows.comparison is flip.comparison
        return row_at(flip.rows.old)["n"], row_at(flip.rows.new)["n"]

    def test_a_side_of_one_row_has_that_row(self) -> None:
        assert self.told([row(1, n="old")], [row(0, n="new")]) == ("old", "new")
        assert self.told([row(0, n="old", error="e")], [row(1, n="new")]) == ("old", "new")

    def test_the_losing_side_has_its_lowest_reward_and_the_winning_side_its_highest(self) -> None:
        losing = [row(0.5, n=1), row(0.25, n=2), row(-1, n=3), row(0, n=4)]
        winning = [row(1, n=5), row(-9, n=6), row(99, n=7), row(2, n=8)]
        assert self.told(losing, winning) == (3, 7)
        assert self.told(winning, losing) == (7, 3)

    def test_of_equal_rows_it_is_the_first(self) -> None:
        losing = [row(1, n=1), row(0, n=2), row(0.0, n=3), row(-0.0, n=4)]
        winning = [row(0, n=5), row(2, n=6), row(2.0, n=7)]
        assert self.told(losing, winning) == (2, 6)
        assert self.told(winning, losing) == (6, 2)

    def test_rows_of_other_tasks_are_no_candidates(self) -> None:
        others = [{"task_id": "u", "reward": reward, "n": "other"} for reward in (-5, 5)]
        assert self.told([*others, row(0, n="old"), *others], [row(1, n="new"), *others]) == ("old", "new")

    def test_only_flips_have_them(self) -> None:
        result = compare_rollouts(rows(a=1, b=1, c=None, d=1), rows(a=1, c=0, d=0.5, e=1))
        assert [flip.comparison.task for flip in result.flips] == ["d"]
        assert (result.flips[0].rows.old.where, result.flips[0].rows.new.where) == ("row 4", "row 3")


class TestAgreeing:
    """Identical tasks whose single tests may differ."""

    def told(self, old: list[Row], new: list[Row]) -> list[tuple[str, str, str]]:
        agreeing = compare_rollouts(old, new).agreeing
        return [(task.comparison.task, task.old.where, task.new.where) for task in agreeing]

    @pytest.mark.parametrize("name", ["test_output", "verifier_stdout", "verifier_output", "verifier_logs_dir"])
    def test_both_first_rows_have_verifier_output(self, name: str) -> None:
        old = [{**one, name: "said"} for one in rows(a=1, b=1, c=1)]
        assert self.told(old, old[::-1]) == [("a", "row 1", "row 3"), ("b", "row 2", "row 2"), ("c", "row 3", "row 1")]
        assert self.told(old, [*rows(a=1), *old[1:]]) == [("b", "row 2", "row 2"), ("c", "row 3", "row 3")]
        assert self.told([*rows(a=1), *old[1:]], old) == [("b", "row 2", "row 2"), ("c", "row 3", "row 3")]

    def test_nothing_is_told_where_a_side_has_none(self) -> None:
        said = [row(1, test_output="said")]
        assert self.told(said, rows(t=1)) == self.told(rows(t=1), said) == []

    def test_other_categories_have_none(self) -> None:
        old = [{**one, "test_output": "said"} for one in rows(a=1, b=1, c=None, d=1)]
        new = [{**one, "test_output": "said"} for one in rows(a=1, b=0, c=1, e=1)]
        assert [task for task, _, _ in self.told(old, new)] == ["a"]

    def test_of_several_rows_the_first_counts(self) -> None:
        old = [row(1), row(1, test_output="said")]
        assert self.told(old, old) == []
        assert self.told(old[::-1], old[::-1]) == [("t", "row 1", "row 1")]

    def test_of_very_many_only_the_first_are_told(self) -> None:
        run = [{"task_id": f"{i:05}", "reward": 1, "test_output": "said"} for i in range(MOST_AGREEING + 3)]
        told = [task for task, _, _ in self.told(run, run[::-1])]
        assert told == [f"{i:05}" for i in range(MOST_AGREEING)]


class TestResult:
    def test_it_says_what_was_compared(self) -> None:
        old: list[Row] = [{"task_name": "p/a", "reward": 1}, {"task_name": "p/b", "reward": None}]
        new = [{"task_id": "a", "reward": 1}, {"task_id": "a", "reward": 1}, row(1)]
        result = compare_rollouts(old, new)
        assert (result.old_key, result.new_key) == ("task_name", "task_id")
        assert (result.old_rows, result.new_rows) == (2, 3)
        assert (result.old_masked_rows, result.new_masked_rows) == (1, 0)
        assert (result.old_prefix_stripped, result.new_prefix_stripped) == ("p/", None)
        assert not result.keyed_by_taskset
        assert [task.task for task in result.tasks] == ["a", "b", "t"]

    def test_the_key_that_is_given_is_that_of_both_sides(self) -> None:
        result = compare_rollouts([row(1, id="x")], [{"id": "x", "reward": 1}], key="id")
        assert (result.old_key, result.new_key) == ("id", "id")
        assert [task.task for task in result.tasks] == ["x"]

    def test_tasksets_of_both_sides_are_told(self) -> None:
        both = [{"task_id": {"taskset": name, "id": "x"}, "reward": 1} for name in "AB"]
        result = compare_rollouts(both, both)
        assert result.keyed_by_taskset
        assert [task.task for task in result.tasks] == ["A/x", "B/x"]

    def test_what_was_asked_of_both_sides_is_compared(self) -> None:
        old, new = ([{"task_id": "t", "reward": 1, "responses_create_params": {"input": asked}}] for asked in "AB")
        assert compare_rollouts(old, old).join_check == JoinCheck(1, 1, 0)
        assert compare_rollouts(old, new).join_check == JoinCheck(1, 1, 1, ("t",))

    def test_it_has_figures_but_no_reasons_and_no_rules_yet(self) -> None:
        result = compare_rollouts(rows(a=1, b=1, c=0, d=None), rows(a=0, b=1, c=0.5, d=1))
        assert result.statistics
        assert (result.statistics.n, result.statistics.old_wins, result.statistics.new_wins) == (3, 1, 1)
        assert (result.clusters, result.gate) == ((), ())
        assert all((flip.tests, flip.signature) == (None, None) for flip in result.flips)

    def test_a_flip_of_several_attempts_a_side_has_its_repeats(self) -> None:
        [flip] = compare_rollouts([row(1), row(0), row(1)], [row(0), row(0)]).flips
        assert flip.repeats
        assert flip.repeats == Repeats(2, 3, 0, 2, flip.repeats.p_value, within_noise=False, too_few_attempts=True)
        [flip] = compare_rollouts([row(1), row(0)], [row(0)]).flips
        assert flip.repeats is None

    @pytest.mark.parametrize(("old", "new", "count"), [([], [FAILED], 1), ([FAILED] * 2, [FAILED], 3), ([], [], 0)])
    def test_failures_that_name_no_task_are_counted(self, old: list[Row], new: list[Row], count: int) -> None:
        result = compare_rollouts([*rows(a=1), *old], [*rows(a=0), *new])
        assert (result.anonymous, len(result.tasks)) == (count, 1 + count)

    def test_any_mapping_is_a_row(self) -> None:
        frozen: list[Mapping[str, Any]] = [
            MappingProxyType({"verifier_metadata": MappingProxyType({"id": 1}), "reward": 1})
        ]
        assert [task.task for task in compare_rollouts(frozen, frozen).tasks] == ["1"]

    def test_a_broken_row_is_an_error_that_names_it(self) -> None:
        with pytest.raises(CompareInputError, match=r"^row 2: reward True is not a number \(task b\)$"):
            compare_rollouts(rows(a=1), rows(a=1, b=True))


class TestNotes:
    @pytest.mark.parametrize(
        ("rows", "noted"),
        [
            ([{}, {"reward": None}, {"score": "1"}], True),
            ([{}, {"reward": 0}], False),
            ([{}, {"mask_sample": True}], False),
            ([{"reward": math.nan}], False),
        ],
    )
    def test_a_run_without_any_reward_is_noted(self, rows: list[dict[str, Any]], noted: bool) -> None:
        silent = [{"task_id": str(i), **row} for i, row in enumerate(rows)]
        other = [{"task_id": str(i), "reward": 1} for i in range(len(rows))]
        for side, runs in ((Side.OLD, (silent, other)), (Side.NEW, (other, silent))):
            note = f"no row of the {side} run has a 'reward', which is a number: all of its tasks are masked"
            assert [note_text(one) for one in compare_rollouts(*runs).notes] == [note] * noted
        assert [note_text(one) for one in compare_rollouts([], other).notes] == ["the old run has no rows"]

    def test_the_note_on_a_run_without_any_reward_names_fields_that_could_be_meant(self) -> None:
        silent: list[Row] = [
            {"task_id": "a", "score": 1, "metrics": {"reward": 0.5}, "seconds": 3, "resolved": True},
            {"task_id": "b", "score": 0.5, "reward": None, "deep": {"rewards": {"style": 1, "said": "x"}}},
        ]
        other = [{"task_id": label, "reward": 1} for label in "ab"]
        (note, *_) = compare_rollouts(silent, other).notes
        assert note.rewards == (("score", 2), ("deep.rewards.style", 1), ("metrics.reward", 1), ("resolved", 1))
        assert note.total == 0
        assert note_text(note).endswith(
            "masked; if another field is meant, name it with --reward: score (2 rows), deep.rewards.style (1 row), "
            "metrics.reward (1 row), resolved (1 row)"
        )

    def test_of_many_rows_without_any_reward_the_first_are_looked_at(self) -> None:
        names = {f"score_{i}": {"score": 1} for i in range(12)}
        silent: list[Row] = [{"task_id": str(i), **names} for i in range(MOST_LOOKED_AT + 1)]
        (note, *_) = compare_rollouts(silent, [{"task_id": "0", "reward": 1}]).notes
        assert note.total == MOST_LOOKED_AT
        assert dict(note.rewards) == {f"score_{i}.score": MOST_LOOKED_AT for i in range(12)}
        assert " (rows of the first 1,000): score_0.score (1000 rows), " in note_text(note)
        assert note_text(note).endswith(" and 2 more")

    def notes(self, old: list[Row], new: list[Row]) -> list[tuple[str, tuple[str, ...]]]:
        return [(note_message(note), tuple(note_names(note))) for note in compare_rollouts(old, new).notes]

    def test_one_row_for_each_task_needs_no_note(self) -> None:
        assert self.notes(rows(a=1, b=1), rows(a=1, c=None)) == []

    def test_tasks_with_several_rows_are_noted_for_each_side(self) -> None:
        several, uneven = self.notes([*rows(b=1, a=1), *rows(a=0)], rows(a=1, b=1))
        assert several == (
            "the old run has several rows a task (1 task x 2 attempts), compared by their mean reward",
            ("a",),
        )
        assert uneven == ("1 of 2 joined tasks has different numbers of attempts on the two sides", ("a",))
        several, uneven = self.notes(rows(a=1), [*rows(b=1, a=1), *rows(a=0, b=0, c=0), *rows(c=0, a=0)])
        message = "the new run has several rows a task (3 tasks x 2 to 3 attempts), compared by their mean reward"
        assert several == (message, ("a", "b", "c"))
        assert uneven == ("1 of 1 joined task has different numbers of attempts on the two sides", ("a",))

    def test_the_same_tasks_on_both_sides_are_noted_once(self) -> None:
        twice = [*rows(b=1, a=1), *rows(a=0)]
        [(message, tasks)] = self.notes(twice, twice)
        assert message == "both runs have several rows a task (1 task x 2 attempts), compared by their mean reward"
        assert tasks == ("a",)

    def test_the_same_tasks_with_other_numbers_of_rows_are_noted_apart(self) -> None:
        notes = self.notes(rows(a=1, b=1) * 2, rows(a=1, b=1) * 3)
        assert [message.split(",")[0] for message, _ in notes] == [
            "the old run has several rows a task (2 tasks x 2 attempts)",
            "the new run has several rows a task (2 tasks x 3 attempts)",
            "2 of 2 joined tasks have different numbers of attempts on the two sides",
        ]

    def test_different_tasks_on_both_sides_are_noted_apart(self) -> None:
        notes = self.notes([*rows(a=1, b=1), *rows(a=0)], [*rows(a=1, b=1), *rows(b=1)])
        assert [tasks for _, tasks in notes] == [("a",), ("b",), ("a", "b")]

    def test_several_anonymous_failures_are_no_rows_of_one_task(self) -> None:
        assert self.notes([*rows(a=1, b=1), FAILED, FAILED], rows(a=1, b=1)) == []

    def test_tasksets_and_ambiguous_ids_are_noted(self) -> None:
        keyed = [{"task_id": {"taskset": name, "id": "x"}, "reward": 1} for name in "AB"]
        keyed.append({"task_id": {"taskset": "A", "id": "y"}, "reward": 1})
        assert [tasks for _, tasks in self.notes(keyed, rows(x=1, y=1))] == [("A", "B"), ("x",)]


# Questions


def attempts(**tasks: str) -> list[Row]:
    """Rows of tasks by their marks: solved 1, failed 0, masked with the reward 1 a dash."""
    return [
        {"task_id": task, "reward": int(mark != "0"), "mask_sample": mark == "-"}
        for task, marks in tasks.items()
        for mark in marks
    ]


class TestQuestions:
    def test_a_partly_masked_task_is_masked_unless_its_measured_rows_are_asked_for(self) -> None:
        old, new = attempts(a="11-0", b="11-", c="1--", d="--"), attempts(a="0001", b="11", c="--", d="1")
        unasked = compare_rollouts(old, new)
        assert [task.category for task in unasked.tasks] == [Category.MASKED] * 4
        asked = compare_rollouts(old, new, questions=Questions(count_measured=True))
        assert [task.category for task in asked.tasks] == [
            Category.FLIPPED,
            Category.IDENTICAL,
            Category.MASKED,
            Category.MASKED,
        ]
        [flip] = asked.flips
        assert flip.comparison.old
        assert (flip.comparison.old.rows, flip.comparison.old.reward, flip.comparison.old.solved) == (3, 2 / 3, 2)
        assert flip.comparison.winner is Side.OLD
        assert unasked.statistics
        assert asked.statistics
        assert unasked.statistics.delta == asked.statistics.delta

    def test_a_row_that_does_not_count_tells_of_no_flip(self) -> None:
        """The masked row has the reward 1 and would be the winner's best."""
        rows = [{"task_id": "a", "reward": reward} for reward in (0.5, 0.75)]
        old = [{"task_id": "a", "reward": 1, "mask_sample": True}, *rows]
        asked = compare_rollouts(old, [{"task_id": "a", "reward": 0}], questions=Questions(count_measured=True))
        assert asked.flips[0].rows.old.line == 3

    def test_rewards_within_the_tolerance_are_identical(self) -> None:
        old, new = ([{"task_id": "a", "reward": reward}] for reward in (0.5, 0.515))
        assert compare_rollouts(old, new).tasks[0].category is Category.FLIPPED
        asked = compare_rollouts(old, new, questions=Questions(tolerance=0.02))
        assert asked.tasks[0].category is Category.IDENTICAL
        assert asked.statistics
        assert (asked.statistics.new_wins, asked.statistics.delta) == (0, 0.0)

    def test_groups_are_the_values_of_fields_of_the_old_row_or_else_the_new_one(self) -> None:
        old = [{"task_id": f"{n:02}", "reward": 1, "meta": {"kind": "easy"} if n < 6 else {}} for n in range(18)]
        new = [{"task_id": f"{n:02}", "reward": 1, "meta": {"kind": 7 if n < 12 else None}} for n in range(18)]
        asked = compare_rollouts(old, new, questions=Questions(by=("meta.kind",), cluster="task_id"))
        assert asked.statistics
        assert asked.statistics.subsets
        [subsets] = asked.statistics.subsets
        assert (subsets.field, [group.name for group in subsets.groups]) == ("meta.kind", ["(none)", "7", "easy"])
        assert asked.statistics.clustered
        assert (asked.statistics.clustered.field, asked.statistics.clustered.groups) == ("task_id", 18)
        assert asked.groups == {
            "meta.kind": [*["easy"] * 6, *["7"] * 6, *["(none)"] * 6],
            "task_id": [f"{n:02}" for n in range(18)],
        }

    def test_tasksets_are_groups_unasked(self) -> None:
        rows = [{"task_id": {"taskset": name, "task_id": str(n)}, "reward": 1} for name in ("x", "y") for n in range(6)]
        result = compare_rollouts(rows, rows, "task_id")
        assert result.statistics
        assert result.statistics.subsets
        assert [group.name for group in result.statistics.subsets[0].groups] == ["x", "y"]
        assert result.groups == {"taskset": [*"xxxxxx", *"yyyyyy"]}

    def test_a_failure_without_a_task_is_of_no_taskset(self) -> None:
        rows = [{"task_id": {"taskset": name, "task_id": "1"}, "reward": 1} for name in "xy"]
        result = compare_rollouts([*rows, FAILED], rows)
        assert [task.task for task in result.tasks] == ["x/1", "y/1", "unknown#1"]
        assert result.groups == {"taskset": ["x", "y", "(none)"]}


def test_attempts_within_the_tolerance_agree() -> None:
    rows = [{"task_id": task, "reward": reward} for task in "ab" for reward in (0.5, 0.52)]
    rows.append({"task_id": "b", "reward": None})
    for tolerance, flaky in ((1e-9, True), (0.05, False)):
        result = compare_rollouts(rows, rows, questions=Questions(tolerance=tolerance))
        assert [task.old is not None and task.old.flaky for task in result.tasks] == [flaky, flaky]


KINDS = [{"task_id": f"{n:02}", "reward": 1, "meta": {"kind": "ab"[n % 2], "difficulty": n}} for n in range(12)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Questions(by=("meta.knid",)), "--by meta.knid: no task .*; did you mean meta.kind? "),
        (Questions(cluster="difficult"), "--cluster difficult: no task .*; did you mean meta.difficulty? "),
        (Questions(by=("meta.kind", "zzz"), cluster="zzz"), "--by zzz: no task has a value of it in its first row "),
    ],
)
def test_a_field_that_no_task_has_is_an_error_with_the_fields_that_there_are(asked: Questions, said: str) -> None:
    fields = r"[(]fields: task_id, reward, meta.kind, meta.difficulty[)]$"
    with pytest.raises(CompareInputError, match=f"^{said.replace('? ', '[?] ')}{fields}"):
        compare_rollouts(KINDS, KINDS, questions=asked)


def test_runs_of_one_taskset_need_not_name_it() -> None:
    found = compare_rollouts(KINDS, KINDS, questions=Questions(by=("taskset",))).statistics
    assert found is not None
    assert found.subsets is not None
    assert [(one.name, one.n) for one in found.subsets[0].groups] == [("(none)", 12)]


def test_a_field_that_one_task_has_is_enough() -> None:
    bare = [{**row, "meta": {"kind": None, "a.b": 1}} for row in KINDS]
    found = compare_rollouts(bare, [*bare[1:], KINDS[0]], questions=Questions(by=("meta.kind",))).statistics
    assert found is not None
    assert found.subsets is not None
    assert [(group.name, group.n) for group in found.subsets[0].groups] == [("(none)", 11), (None, 1)]
    with pytest.raises(CompareInputError, match=r"^--by meta.kind: .* [(]fields: task_id, reward[)]$"):
        compare_rollouts(bare, bare, questions=Questions(by=("meta.kind",)))


def test_by_taskset_means_the_tasksets_where_no_row_has_such_a_field() -> None:
    rows = [
        {"_ng_task_id": {"taskset": name, "task_id": f"q{i}"}, "reward": 1} for name in ("one", "two") for i in range(6)
    ]
    plain, asked = (compare_rollouts(rows, rows, questions=Questions(by=by)).statistics for by in ((), ("taskset",)))
    assert plain is not None
    assert asked is not None
    assert asked.subsets == plain.subsets
    assert asked.subsets is not None
    assert [group.name for group in asked.subsets[0].groups] == ["one", "two"]
    own = compare_rollouts([{**row, "taskset": "x"} for row in rows], rows, questions=Questions(by=("taskset",)))
    assert own.statistics is not None
    assert own.statistics.subsets is not None
    assert [group.name for group in own.statistics.subsets[0].groups] == ["x"]


def test_a_difference_beyond_a_double_is_no_number_in_a_record() -> None:
    old, new = [{"task_id": "a", "reward": 1e308}], [{"task_id": "a", "reward": -1e308}]
    (record,) = compare_rollouts(old, new).to_records()
    assert (record["old_reward"], record["new_reward"], record["delta"]) == (1e308, -1e308, None)
