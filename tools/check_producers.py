#!/usr/bin/env python3
"""Hold our reading of other producers' runs against what their own programs say of them.

    check_producers.py RUNS            every run below a folder
    check_producers.py RUNS --own DIR  also with the producers' own readers, in environments that are made in DIR

Most producers write figures beside their results: means, counts, lists. Of Inspect and Harbor the package itself reads
the run, each in an environment of its own, so that nothing of them is a dependency. Prints a table; the status is 1 if
anything disagrees.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nemo_gym.rollout_compare.engine import run_tables
from nemo_gym.rollout_compare.producers import Plan, locate_run
from nemo_gym.rollout_compare.schema import CompareInputError

#: What is read of a log by its own package: a line of JSON with the rewards by sample, null where there is none.
_INSPECT = """
import json, sys
from inspect_ai.log import read_eval_log_sample_summaries
from inspect_ai.scorer import value_to_float
number, found = value_to_float(), []
for one in read_eval_log_sample_summaries(sys.argv[1]):
    score = next(iter((one.scores or {}).values()), None)
    plain = score is not None and not one.error and not isinstance(score.value, (list, dict))
    value = number(score.value) if plain and score.value == score.value else None
    found.append(value)
print(json.dumps(found))
"""
_HARBOR = """
import json, sys
from pathlib import Path
from harbor.models.trial.result import TrialResult
found = []
for trial in sorted(path.parent for path in Path(sys.argv[1]).glob("*__*/config.json")):
    path = trial / "result.json"
    if not path.is_file():  # killed: their viewer leaves it out, we mask it
        found.append(None)
        continue
    result = TrialResult.model_validate_json(path.read_text("utf-8"))
    rewards = result.verifier_result.rewards if result.verifier_result else None
    valid = getattr(result, "reward_valid", None)
    found.append((rewards or {}).get("reward") if valid is not False else None)
print(json.dumps(found))
"""


class Read(NamedTuple):
    """A row as we read it: its reward, NaN where there is none, and whether it counts."""

    reward: float
    counts: bool


class Checked(NamedTuple):
    """A figure of a run: theirs and ours."""

    what: str
    theirs: Any
    ours: Any

    @property
    def agrees(self) -> bool:
        """Whether the two are the same; means are written with four digits by some."""
        if isinstance(self.theirs, float) and isinstance(self.ours, float):
            return math.isclose(self.theirs, self.ours, abs_tol=1e-4)
        return bool(self.theirs == self.ours)


def rows_in(path: Path, reward: str | None = None) -> list[Read]:
    """The rows of a run."""
    with locate_run(str(path)).opened() as run:
        (table,) = run_tables([run], [Plan(reward=reward)], 1)
    return [Read(value, said is None) for value, said in zip(table.reward, table.masked, strict=True)]


def mean(rows: list[Read], *, of_all: bool = False) -> float:
    """The mean reward of the rows that count; of all rows, if those that do not count as 0."""
    counting = [row.reward for row in rows if row.counts]
    number = len(rows) if of_all else len(counting)
    return sum(counting) / number if number else math.nan


def lm_eval(path: Path) -> Iterator[Checked]:
    """The means of each metric and filter that has a number in every row."""
    told = json.loads(path.read_text("utf-8"))
    time = path.stem.removeprefix("results_")
    for task, metrics in told["results"].items():
        samples = path.with_name(f"samples_{task}_{time}.jsonl")
        for name, value in metrics.items():
            metric, comma, _ = name.partition(",")
            if comma and not metric.endswith("_stderr") and isinstance(value, float) and samples.is_file():
                rows = rows_in(samples, name)
                if any(row.counts for row in rows):
                    yield Checked(f"{task} {name}", value, mean(rows))


def verifiers(path: Path) -> Iterator[Checked]:
    """The mean reward, in which an error counts as 0."""
    told = json.loads(path.read_text("utf-8"))
    if "avg_reward" in told:
        yield Checked("avg_reward", float(told["avg_reward"]), mean(rows_in(path.parent), of_all=True))


def openai_evals(path: Path) -> Iterator[Checked]:
    """The accuracy in the final report."""
    for line in path.read_text("utf-8").splitlines():
        report = json.loads(line).get("final_report") if '"final_report"' in line else None
        if report and isinstance(report.get("accuracy"), float):
            yield Checked("accuracy", report["accuracy"], mean(rows_in(path)))


def promptfoo(path: Path) -> Iterator[Checked]:
    """How many results passed, failed, and were errors."""
    stats = json.loads(path.read_text("utf-8"))["results"]["stats"]
    rows = rows_in(path, "success")
    passed = sum(row.counts and row.reward == 1 for row in rows)
    errors = sum(not row.counts for row in rows)
    theirs = [stats[name] for name in ("successes", "failures", "errors")]
    yield Checked("passed, failed, errors", theirs, [passed, len(rows) - passed - errors, errors])


def swebench(path: Path) -> Iterator[Checked]:
    """How many instances were resolved; of the others, the empty patches are no errors."""
    told = json.loads(path.read_text("utf-8"))
    rows = rows_in(path)
    resolved = sum(row.counts and row.reward == 1 for row in rows)
    yield Checked("resolved", told.get("resolved_instances", len(told["resolved_ids"])), resolved)
    if "error_ids" in told:
        masked = {*told["error_ids"], *told.get("infra_failure_ids", ())}
        yield Checked("errors", len(masked), sum(not row.counts for row in rows))


def nemo_evaluator(path: Path) -> Iterator[Checked]:
    """The mean reward, in which a failure of the infrastructure counts as 0."""
    told = json.loads(path.read_text("utf-8"))
    value = told.get("benchmark", {}).get("scores", {}).get("summary", {}).get("mean")
    if isinstance(value, float):
        yield Checked("mean", value, mean(rows_in(path.parent), of_all=True))


def harbor(path: Path) -> Iterator[Checked]:
    """How often each reward was given; what was given and is not valid is not listed there either."""
    evals = json.loads(path.read_text("utf-8")).get("stats", {}).get("evals", {})
    given: Counter[float] = Counter()
    for one in evals.values():
        for value, trials in (one.get("reward_stats") or {}).get("reward", {}).items():
            given[float(value)] += len(trials)
    if given:
        ours = Counter(row.reward for row in rows_in(path.parent) if row.counts)
        yield Checked("rewards", dict(sorted(given.items())), dict(sorted(ours.items())))


Check = Callable[[Path], Iterator[Checked]]
#: Which files have figures: the producer, a pattern, what must stand in the file, and the check.
CHECKS: tuple[tuple[str, str, str, Check], ...] = (
    ("lm-eval", "results_*.json", '"higher_is_better"', lm_eval),
    ("verifiers", "metadata.json", '"env_id"', verifiers),
    ("openai-evals", "*.jsonl", '"spec"', openai_evals),
    ("promptfoo", "*.json", '"evalId"', promptfoo),
    ("swe-bench", "*.json", '"resolved_ids"', swebench),
    ("nemo-evaluator", "eval-*.json", '"config_hash"', nemo_evaluator),
    ("harbor", "result.json", '"n_total_trials"', harbor),
)


#: Some of the packages need Python 3.12.
_NEWER = ("python3.13", "python3.12", *map(str, Path.home().glob(".pyenv/versions/3.1[23]*/bin/python")))


def _works(python: str) -> bool:
    found = shutil.which(python)
    return bool(found) and not subprocess.run([str(found), "--version"], capture_output=True, check=False).returncode


def own_python(place: Path, package: str) -> Path | None:
    """The interpreter of a package's environment, which is made if need be; None if pip does not have the package."""
    folder = place / package
    python = folder / "bin" / "python"
    if (folder / ".ready").exists():
        return python
    base = next(filter(_works, _NEWER), sys.executable)
    subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", package], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"skip {package}: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
        return None
    (folder / ".ready").touch()
    return python


def by_own_reader(script: str, python: Path, run: Path) -> Checked:
    """A run's rewards as its own package reads them."""
    done = subprocess.run([python, "-c", script, run], capture_output=True, text=True, check=False)
    if done.returncode:
        return Checked("own reader", done.stderr.strip().splitlines()[-1:], None)
    theirs = Counter(json.loads(done.stdout))
    return Checked("own reader", theirs, Counter(row.reward if row.counts else None for row in rows_in(run)))


def figures(runs: Path, own: Path | None) -> Iterator[tuple[str, Path, Checked]]:
    """All figures below a folder."""
    for producer, pattern, sign, check in CHECKS:
        for path in sorted(runs.rglob(pattern)):
            if sign in path.read_text("utf-8", "replace")[: 1 << 20]:
                try:
                    yield from ((producer, path, one) for one in check(path))
                except CompareInputError as error:
                    yield producer, path, Checked("read", True, str(error))
    if own:
        jobs = {path.parent.parent for path in runs.rglob("*/result.json") if "__" in path.parent.name}
        for package, script, places in (
            ("inspect_ai", _INSPECT, sorted(runs.rglob("*.eval"))),
            ("harbor", _HARBOR, sorted(jobs)),
        ):
            python = own_python(own, package) if places else None
            for place in places if python else ():
                yield package, place, by_own_reader(script, python, place)


def main() -> int:
    """Print a row for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="a folder of runs")
    parser.add_argument("--own", type=Path, metavar="DIR", help="environments for the producers' own readers")
    args = parser.parse_args()
    faults = count = 0
    for producer, path, one in figures(args.runs, args.own):
        count += 1
        faults += not one.agrees
        verdict = "ok  " if one.agrees else "FAIL"
        print(f"{verdict} {producer:15} {path.relative_to(args.runs)}: {one.what}: {one.theirs}", flush=True)
        if not one.agrees:
            print(f"     ours: {one.ours}")
    print(f"{count} figures, {faults} disagree")
    return int(faults > 0 or not count)


if __name__ == "__main__":
    sys.exit(main())
