"""A metric that the user chose and no attempt has, whoever left the run."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from nemo_gym.rollout_compare import CompareInputError, compare_files
from nemo_gym.rollout_compare.engine import metrics, run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run
from tests.support import assert_refused, compare, read_files, write_rows

GOLDEN = Path(__file__).parents[2] / "golden"

#: By the story that has such runs, what the error lists as the first that can be chosen.
RUNS = {
    "harbor-jobs": ("old", "reward (7 attempts), recall (1 attempt)"),
    "inspect-killed-run": ("old", "judge (5 samples)"),
    "lm-eval-two-filters": ("old", "exact_match (3 attempts)"),
    "nemo-evaluator-bundles": ("old", "reward (3 attempts), scoring_details.correct (3 attempts)"),
    "openai-evals-match-and-metrics": ("old.jsonl", "match.correct (3 samples)"),
    "openhands": ("old", "test_result.report.resolved (4 attempts)"),
    "promptfoo-repeats": ("old.json", "namedScores.tone (5 results)"),
    "table-csv-and-tsv": ("old.csv", "Task ID, prompt, score, explanation"),
    "terminal-bench-runs": ("old", "is_resolved (5 attempts)"),
    "verifiers-episodes": ("old", "metrics.length (3 attempts), rewards.right (3 attempts)"),
    "verifiers-results-reordered": ("old", "brevity (8 attempts), correct (8 attempts)"),
    "first-comparison": ("old.jsonl", "reward (5 attempts)"),
}


@pytest.mark.parametrize("story", RUNS)
@pytest.mark.parametrize("option", ["--reward", "--old-reward", "--new-reward"])
def test_it_is_an_error_that_lists_those_that_there_are(
    story: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copytree(GOLDEN / story / "inputs", tmp_path / "runs"))
    run, listed = RUNS[story]
    done = compare(run, run, option, "zzz")
    assert_refused(done, "error: old", listed)
    assert "'zzz'" in done.stderr


def test_what_is_no_number_is_no_metric(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "r.jsonl", [{"task_id": "a", "reward": 1, "kind": "x", "score": {"b": True}}] * 2)
    said = "no attempt has a number for the metric 'kind'; --reward NAME takes one of: "
    with pytest.raises(CompareInputError, match=f"{said}reward [(]2 attempts[)], score.b [(]2 attempts[)]$"):
        compare_files(path, path, reward="kind")


def test_a_metric_that_one_attempt_has_is_enough(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "r.jsonl", [{"task_id": "a", "reward": 1}, {"task_id": "b", "score": 0.5}])
    assert compare_files(path, path, reward="score").counts()["masked"] == 1


@pytest.mark.parametrize("rows", [[{"task_id": "a", "response": {}}], [{"task_id": "a", "score": "nan"}]])
def test_a_run_of_which_no_attempt_has_any_metric_is_left_alone(rows: list[dict[str, object]], tmp_path: Path) -> None:
    path = write_rows(tmp_path / "r.jsonl", rows)
    assert compare_files(path, path, reward="score").counts()["masked"] == 1


def test_a_harbor_job_that_failed_as_a_whole_is_left_alone(tmp_path: Path) -> None:
    trial = tmp_path / "job" / "t__abc"
    trial.mkdir(parents=True)
    write_rows(
        trial / "result.json", [{"task_name": "t", "trial_name": "t__abc", "exception_info": {"exception_type": "X"}}]
    )
    found = compare_files(tmp_path / "job", tmp_path / "job", reward="tests", format="harbor")
    assert found.counts()["masked"] == 1


def test_attempts_that_are_masked_for_another_reason_say_nothing_of_the_metric(tmp_path: Path) -> None:
    old = write_rows(tmp_path / "old.jsonl", [{"task_id": "a", "score": 1, "reward": 1}])
    lost = {"task_id": "a", "mask_sample": True, "failure_kind": "infra", "error": "boom", "reward": 0}
    new = write_rows(tmp_path / "new.jsonl", [lost])
    assert compare_files(old, new, reward="score").counts()["masked"] == 1


class TestRewards:
    """Which fields could be meant as the reward of a run that has none."""

    ROWS = (b'{"task_id": "a", "score": 1}\n', b'{"task_id": "b", "score": 0, "resolved": true}\n')

    def test_each_is_told_with_how_many_of_the_first_rows_carry_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"".join(self.ROWS))
        [table] = read_files(path)
        assert metrics.rewards_meant(table) == (("score", 2), ("resolved", 1))
        monkeypatch.setattr(metrics, "MOST_LOOKED_AT", 1)
        assert metrics.rewards_meant(table) == (("score", 1),)

    def test_rows_that_cannot_be_read_any_more_carry_none(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_bytes(b"".join(self.ROWS))
        [table] = read_files(path)
        path.write_bytes(self.ROWS[0] + b"x" * (len(self.ROWS[1]) - 1) + b"\n")
        assert metrics.rewards_meant(table) == (("score", 1),)
        path.unlink()
        assert metrics.rewards_meant(table) == ()

    @pytest.mark.parametrize(
        ("story", "run", "named"),
        [
            ("inspect-killed-run", "old", "judge"),
            ("lm-eval-two-filters", "old", "exact_match"),
            ("promptfoo-repeats", "old.json", "namedScores.tone"),
            ("swebench", "old", "resolved"),
        ],
    )
    def test_each_producer_names_its_own(self, story: str, run: str, named: str) -> None:
        with locate_run(str(GOLDEN / story / "inputs" / run)).opened() as opened:
            (table,) = run_tables([opened], [Plan()], 1)
            assert named in dict(metrics.rewards_meant(table))

    def test_a_list_of_samples_names_them_as_their_lines_do(self, tmp_path: Path) -> None:
        (lines,) = (GOLDEN / "lm-eval-two-filters" / "inputs" / "old").rglob("samples_gsm_*.jsonl")
        path = tmp_path / "samples_sums.json"
        path.write_text(f"[{','.join(lines.read_text('utf-8').splitlines())}]", "utf-8")
        with locate_run(str(path), format="lm-eval").opened() as opened:
            (table,) = run_tables([opened], [Plan()], 1)
            assert "exact_match" in dict(metrics.rewards_meant(table))
