"""What the results beside samples say: settings, and of which metrics less is better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nemo_gym.rollout_compare.producers.lm_eval.results import settings_of
from tests.producer_support import TIME, doc, write_samples
from tests.support import compare, summary

OLD, NEW = (1.0, 2.0), (2.0, 1.0)


def measured(folder: Path, values: tuple[Any, ...], task: str = "sums", metric: str = "wer", **said: Any) -> Path:
    """A run of one task, with what its results say beside the metrics."""
    write_samples(folder, [doc(place, value, metric) for place, value in enumerate(values)], task)
    path = folder / f"results_{TIME}.json"
    told = json.loads(path.read_text("utf-8")) if path.exists() else {"results": {}, "higher_is_better": {}}
    told["results"][task] = {f"{metric},none": 0}
    for name, value in said.items():
        told[name] = {**told.get(name, {}), **value}
    path.write_text(json.dumps(told), "utf-8")
    return folder


def winners(*words: Path | str) -> list[str]:
    return [task["winner"] for task in summary(*words)["tasks"]]


def lower(metric: str = "wer", task: str = "sums", *, higher: bool = False) -> dict[str, Any]:
    return {task: {metric: higher}}


def test_the_lower_reward_wins_where_the_results_say_so(tmp_path: Path) -> None:
    old = measured(tmp_path / "old", OLD, higher_is_better=lower())
    new = measured(tmp_path / "new", NEW, higher_is_better=lower())
    assert winners(old, new) == winners(old, new, "--lower-is-better") == ["old", "new"]
    said = " ".join(compare(old, new).stdout.split())
    assert "less is better of wer, so the lower of two rewards wins: sums" in said


def test_one_run_that_says_it_is_enough(tmp_path: Path) -> None:
    old = measured(tmp_path / "old", OLD, higher_is_better=lower())
    new = measured(tmp_path / "new", NEW)
    assert winners(old, new) == ["old", "new"]


def test_where_it_is_said_of_some_tasks_alone_it_is_a_note(tmp_path: Path) -> None:
    for name, values in (("old", OLD), ("new", NEW)):
        measured(tmp_path / name, values, higher_is_better=lower())
        measured(tmp_path / name, values, "more", "acc", higher_is_better=lower("acc", "more", higher=True))
    said = " ".join(compare(tmp_path / "old", tmp_path / "new").stdout.split())
    assert "less is better of wer, and the higher of two rewards wins: compare it by itself: sums" in said
    assert sorted(winners(tmp_path / "old", tmp_path / "new")) == ["new", "new", "old", "old"]


def test_what_the_user_says_against_the_results_is_noted(tmp_path: Path) -> None:
    old = measured(tmp_path / "old", OLD, higher_is_better=lower(higher=True))
    new = measured(tmp_path / "new", NEW, higher_is_better=lower(higher=True))
    assert winners(old, new) == ["new", "old"]
    assert winners(old, new, "--lower-is-better") == ["old", "new"]
    said = " ".join(compare(old, new, "--lower-is-better").stdout.split())
    assert "more is better of wer, and the lower of two rewards wins: sums" in said


def test_a_metric_without_a_number_has_no_say(tmp_path: Path) -> None:
    for name, values in (("old", OLD), ("new", NEW)):
        measured(tmp_path / name, values, "acc_task", "acc", higher_is_better=lower("acc", "acc_task", higher=True))
        measured(tmp_path / name, ([1, 2],), "words", "perplexity", higher_is_better=lower("perplexity", "words"))
    assert "is better" not in compare(tmp_path / "old", tmp_path / "new").stdout


def test_the_direction_is_that_of_the_metric_that_was_chosen(tmp_path: Path) -> None:
    for name, (first, second) in (("old", OLD), ("new", NEW)):
        rows = [doc(0, first, "acc", metrics=["acc", "wer"], wer=second)]
        write_samples(tmp_path / name, rows)
        told = {"results": {"sums": {}}, "higher_is_better": {"sums": {"acc": True, "wer": False}}}
        (tmp_path / name / f"results_{TIME}.json").write_text(json.dumps(told), "utf-8")
    assert winners(tmp_path / "old", tmp_path / "new") == ["new"]
    assert winners(tmp_path / "old", tmp_path / "new", "--reward", "wer") == ["new"]


def test_what_a_task_was_run_with(tmp_path: Path) -> None:
    results = {
        "model_name": "m",
        "config": {"model": "hf", "model_args": {"pretrained": "m"}, "limit": None, "random_seed": 0, "gen_kwargs": {}},
        "configs": {"sums": {"generation_kwargs": {"until": ["x"]}}},
        "n-shot": {"sums": 5, "more": 1},
        "versions": "?",
    }
    assert settings_of(results, "sums") == (
        ("model", "m"),
        ("model backend", "hf"),
        ("model arguments", '{"pretrained":"m"}'),
        ("few-shot examples", 5),
        ("generation", '{"until":["x"]}'),
        ("seed", 0),
    )
    shots = "n-shot"
    old = measured(tmp_path / "old", OLD, **{shots: {"sums": 0}})  # type: ignore[arg-type]
    new = measured(tmp_path / "new", NEW, **{shots: {"sums": 5}})  # type: ignore[arg-type]
    said = compare(old, new).stdout
    assert "few-shot examples: 0 -> 5" in " ".join(said.partition("## What else changed")[2].split())
