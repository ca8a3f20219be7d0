"""Runs of verifiers and prime-rl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nemo_gym.rollout_compare.producers import locate_run
from nemo_gym.rollout_compare.producers.records import Told
from nemo_gym.rollout_compare.producers.verifiers.episodes import EpisodeReader
from nemo_gym.rollout_compare.producers.verifiers.results import ResultReader
from nemo_gym.rollout_compare.schema import Step
from tests.producer_support import found_in, record_in, steps_in, table_of_run
from tests.record_support import episode, result, trace, write_episodes, write_results
from tests.support import assert_refused, compare, put

ERROR = {"error": "ModelError", "error_chain_str": "ModelError -> Timeout"}


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (result(0, 1.5), 1.5),
        (result(0, 0), 0.0),
        (result(0, 0.0, error=ERROR), "error: ModelError -> Timeout"),
        (result(0, 0.0, error="old\ntext"), "error: text"),
        (result(0, 0.0, is_completed=False), "not completed"),
        (result(0, None), "no reward"),
        (result(0, float("nan")), "non-finite reward (nan)"),
    ],
)
def test_an_error_masks_for_the_reward_is_0_then_whatever_was_done(row: Any, found: Any, tmp_path: Path) -> None:
    write_results(tmp_path, [row])
    assert found_in(tmp_path) == [("0", found)]


def test_repeats_are_rows_with_one_example(tmp_path: Path) -> None:
    write_results(tmp_path, [result(0), result(1, 0.0), result(0, 0.5)])
    assert found_in(tmp_path) == [("0", 1.0), ("1", 0.0), ("0", 0.5)]


def test_a_truncated_answer_counts_and_is_doubtful(tmp_path: Path) -> None:
    write_results(tmp_path / "old", [result(0, 1.0)])
    write_results(tmp_path / "new", [result(0, 0.0, is_truncated=True)])
    assert "### 0: old=1.0 new=0.0 -> old wins" in (told := compare(tmp_path / "old", tmp_path / "new").stdout)
    assert "flipped (agent error)        1" in told


@pytest.mark.parametrize(("metric", "found"), [("brevity", 0.5), ("metrics.brevity", 0.5), ("x", "no value of x")])
def test_another_metric_is_chosen_by_its_name(metric: str, found: Any, tmp_path: Path) -> None:
    write_results(tmp_path, [result(0)])
    assert found_in(tmp_path, reward=metric) == [("0", found)]


@pytest.mark.parametrize("reward", ["1.0", True, [1.0], 10**400])
def test_a_reward_that_is_not_a_number_is_one_line(reward: Any, tmp_path: Path) -> None:
    write_results(tmp_path, [result(0), result(7, reward)])
    assert_refused(compare(tmp_path, tmp_path), "results.jsonl:2: reward ", "is not a number", "(task 7)")


def test_a_last_line_that_is_cut_off(tmp_path: Path) -> None:
    write_results(tmp_path, [result(0)])
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"example_id": 1, "pro')
    assert_refused(compare(tmp_path, tmp_path), "results.jsonl:2: invalid JSON", "the run may still be writing")
    assert found_in(tmp_path, skip_bad_lines=True) == [("0", 1.0)]


def test_attempts_without_a_record_are_noted(tmp_path: Path) -> None:
    write_results(tmp_path, [result(0), result(1)], num_examples=2, rollouts_per_example=3)
    told = compare(tmp_path, tmp_path).stdout
    assert "4 planned attempts left no record" in told
    write_results(tmp_path, [result(0), result(1)], num_examples=-1, rollouts_per_example=3)
    assert "planned" not in compare(tmp_path, tmp_path).stdout
    write_results(tmp_path, [result(0)], num_examples=1, rollouts_per_example=2)
    assert "1 planned attempt left no record" in compare(tmp_path, tmp_path).stdout


def test_an_example_is_read_again(tmp_path: Path) -> None:
    write_results(tmp_path, [result(0, answer="41")])
    record = record_in(tmp_path)
    assert record.output is not None
    assert record.output.texts == (("metrics", "correct: 1.0\nbrevity: 0.5\nexpected answer: 41"),)
    assert record.transcript == (
        Step("system", "Be short."),
        Step("user", "question 0"),
        Step("assistant", "42"),
    )
    write_results(tmp_path, [result(0, completion="42", metrics={})])
    assert steps_in(tmp_path)[-1] == Step("assistant", "42")


def test_what_a_run_was_made_with_and_what_it_cost() -> None:
    reader = ResultReader.of(
        {"env_id": "e", "model": "m", "sampling_args": {"n": 1, "stop": ["x"]}, "version_info": {"vf_version": "0.1"}}
    )
    values: tuple[Any, ...] = (1.0, None, True, False, "q", {}, 31, 9.0, 0.5, -1)
    attempt = reader.attempt(Told(values, {"example_id": 3}, None, None, 1, 0))
    assert attempt.settings == {"model": "m", "environment": "e", "verifiers": "0.1", "n": 1, "stop": '["x"]'}
    assert attempt.measures == {"input-tokens": 31, "output-tokens": 9.0, "seconds": 0.5}


def test_the_prompt_tells_where_examples_have_moved(tmp_path: Path) -> None:
    rows = [result(number, number / 4) for number in range(4)]
    moved = [{**row, "example_id": 3 - row["example_id"]} for row in rows]
    write_results(tmp_path / "old", rows)
    write_results(tmp_path / "new", moved)
    told = compare(tmp_path / "old", tmp_path / "new").stdout
    assert "join key: old=prompt, new=prompt" in told
    assert "identical                    4" in told


def test_an_example_asked_in_other_words_has_not_moved(tmp_path: Path) -> None:
    write_results(tmp_path / "old", [result(0), result(1)])
    write_results(tmp_path / "new", [result(0, prompt="other words"), result(1)])
    told = compare(tmp_path / "old", tmp_path / "new").stdout
    assert "join key: old=example_id, new=example_id" in told
    assert "same id, different task input" in told


# Version 1


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (episode("t", trace(right={"score": 1.0, "weight": 1.0}, short={"score": 0.5, "weight": 0.5})), 1.25),
        (episode("t", trace(right={"score": 1.0, "weight": 1.0}, short=None)), 1.0),
        (episode("t", trace(right={"score": 1.0}, plain=0.5)), 1.5),
        (episode("t", trace()), "no reward"),
        (episode("t", trace(right=None)), "no reward"),
        (episode("t", trace(right={"score": "high"})), "a reward is not a finite number"),
        (episode("t", trace(), ok=False), "not ok"),
        (episode("t", ok=False, is_timeout=True), "timed out"),
        (episode("t", ok=False, errors=[{"type": "E"}]), "error: E"),
        (episode("t", trace(), ok=False, errors=[{"type": "E", "message": "a\nb"}]), "error: E: b"),
        (episode("t", {**trace(right=1.0), "errors": ["odd"]}, ok=None, errors=["odd"]), "odd"),
        (episode("t", {**trace(right=1.0), "ok": False}, ok=None), "not ok"),
        (episode("t", trace(right=1.0), ok=None), 1.0),
    ],
)
def test_an_episode_has_the_sum_of_its_rewards_if_it_is_ok(one: Any, found: Any, tmp_path: Path) -> None:
    write_episodes(tmp_path, [one])
    assert found_in(tmp_path) == [("t", found)]


def test_a_line_may_be_a_trace(tmp_path: Path) -> None:
    write_episodes(tmp_path, [{**trace(right=0.5), "task": {"key": "k", "data": {}}}])
    table = table_of_run(tmp_path)
    assert list(table.reward) == [0.5]
    assert record_in(tmp_path).transcript == (Step("user", "q"), Step("assistant", "a"))


def test_of_several_agents_the_only_one_that_is_trained_counts(tmp_path: Path) -> None:
    judge = trace("judge", trainable=False, fair=0.25)
    write_episodes(tmp_path, [episode("t", judge, trace("solver", right=1.0))])
    assert found_in(tmp_path) == [("t", 1.0)]
    for metric, value in {
        "judge": 0.25,
        "judge.fair": 0.25,
        "solver.rewards.right": 1.0,
        "solver.metrics.length": 3.0,
    }.items():
        assert found_in(tmp_path, reward=metric) == [("t", value)]


def test_else_one_has_to_be_chosen(tmp_path: Path) -> None:
    write_episodes(tmp_path, [episode("t", trace("a", r=1.0), trace("b", r=0.0)), episode("u", trace("a", r=0.5))])
    done = compare(tmp_path, tmp_path)
    assert_refused(done, "several agents", "--reward NAME takes one of: a (1 row)", "b.rewards.r (1 row)")
    assert found_in(tmp_path, reward="a") == [("t", 1.0), ("u", 0.5)]
    assert found_in(tmp_path, reward="b") == [("t", 0.0), ("u", "no value of b")]


def test_an_episode_is_read_again(tmp_path: Path) -> None:
    one = trace(right={"score": 0.0, "weight": 2})
    write_episodes(tmp_path, [episode("t", {**one, "info": {"note": 1}, "errors": ["odd"]})])
    record = record_in(tmp_path)
    assert record.output is not None
    assert record.output.texts == (
        ("rewards", 'right: {"score":0.0,"weight":2}'),
        ("errors", "odd"),
        ("info", '{"note":1}'),
    )


def test_what_an_episode_was_made_with_and_what_it_cost() -> None:
    values: tuple[Any, ...] = ("i", True, None, [], [trace(right=1.0)], None, None, None, "q", 7, None)
    attempt = EpisodeReader().attempt(Told(values, {"task.key": "k"}, None, None, 1, 0))
    assert attempt.settings == {"model": "m", "temperature": 0.5}
    assert attempt.measures == {"input-tokens": 7, "turns": 1.0, "seconds": 2.5}
    assert attempt.attempt == "i"


# Where runs lie


def test_a_run_below_a_folder_is_found(tmp_path: Path) -> None:
    write_results(tmp_path / "outputs" / "evals" / "sums--m" / "0a1b2c3d", [result(0)])
    assert found_in(tmp_path) == [("0", 1.0)]


def test_of_several_runs_one_has_to_be_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_results(tmp_path / name, [result(0)])
    assert_refused(compare(tmp_path, tmp_path), "it holds 2 runs; name the folder of one: a, b")


def test_episodes_that_trained_a_model_are_written_twice_and_read_once(tmp_path: Path) -> None:
    step = tmp_path / "rollouts" / "step_3"
    for name in ("all", "effective"):
        write_episodes(step / "eval" / name, [episode("t", trace(r=1.0))])
    assert found_in(tmp_path) == [("t", 1.0)]
    assert found_in(step / "eval" / "effective") == [("t", 1.0)]
    write_episodes(step / "train" / "all", [episode("t", trace(r=0.0))])
    assert_refused(compare(step, step), "name the folder of one: eval/all, train/all")


def test_a_folder_without_a_run_and_standard_input(tmp_path: Path) -> None:
    put(tmp_path / "notes.txt", "x")
    assert_refused(compare(tmp_path, tmp_path, "--format", "verifiers"), "without traces.jsonl or results.jsonl")
    assert [path.name for path in locate_run("-", "verifiers").files()] == ["standard input"]


def test_a_named_key_is_not_questioned(tmp_path: Path) -> None:
    write_results(tmp_path, [result(0, info={"name": "add"})])
    write_episodes(tmp_path / "v1", [episode("t", trace(r=1.0))])
    assert found_in(tmp_path / "results.jsonl", key="info.name") == [("add", 1.0)]
    assert found_in(tmp_path / "v1", key="task.key") == [("key t", 1.0)]


def test_results_without_metadata_are_told_by_their_rows(tmp_path: Path) -> None:
    write_results(tmp_path, [result(0, metrics=None)])
    (tmp_path / "metadata.json").unlink()
    assert found_in(tmp_path) == [("0", 1.0)]
    assert list(ResultReader(()).metrics(result(0))) == ["correct", "brevity"]


def test_lines_that_are_none_before_the_first_episode(tmp_path: Path) -> None:
    write_episodes(tmp_path, [episode("t", trace(r=1.0))])
    path = tmp_path / "traces.jsonl"
    put(path, "no\n" + path.read_text())
    assert_refused(compare(tmp_path, tmp_path), "traces.jsonl:1: invalid JSON")
    assert found_in(tmp_path, skip_bad_lines=True) == [("t", 1.0)]


def test_a_chosen_reward_may_be_an_object_or_a_number(tmp_path: Path) -> None:
    write_episodes(tmp_path, [episode("t", trace(r={"score": 0.5, "weight": 3}, s=0.25), num_turns=4)])
    for metric, value in {"r": 0.5, "rewards.s": 0.25, "num_turns": 4.0, "rewards": "no value of rewards"}.items():
        assert found_in(tmp_path, reward=metric) == [("t", value)]
