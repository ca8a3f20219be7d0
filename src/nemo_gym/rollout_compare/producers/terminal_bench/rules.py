"""What the result of a terminal-bench trial means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.folders import Trials
from nemo_gym.rollout_compare.producers.inside import RunFolder
from nemo_gym.rollout_compare.producers.rewards import NO_RESULT, Main, no_reward, number_of, seconds_between
from nemo_gym.rollout_compare.producers.scores import shown
from nemo_gym.rollout_compare.producers.terminal_bench import TRIAL
from nemo_gym.rollout_compare.producers.trials import Asked, Told, Trial
from nemo_gym.rollout_compare.schema import Fields, Output, Step

MAIN = "is_resolved"
#: Failure modes that say nothing, and the one after which even a result of false is none: the agent never ran.
_NO_FAILURE = {"unset", "none"}
_NEVER_RAN = "agent_installation_failed"

_TASK, _NAME, _MODE, _INSTRUCTION, _TESTS = "task_id", "trial_name", "failure_mode", "instruction", "parser_results"
_TOKENS = {"input-tokens": "total_input_tokens", "output-tokens": "total_output_tokens"}
_TIMES = ("trial_started_at", "trial_ended_at")
_MOST_DIGITS = 19
_PANES = ("panes/post-test.txt", "panes/post-agent.txt")


class TerminalBenchReader(Struct, frozen=True):
    """The results of one run's trials.

    Attributes:
        settings: What the run was made with, by name.
    """

    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every result."""
        return (MAIN, _TASK, _NAME, _MODE, _INSTRUCTION, _TESTS, *_TOKENS.values(), *_TIMES)

    @property
    def output_fields(self) -> tuple[str, ...]:
        """Where the tests' output may be."""
        return (*_PANES, _TESTS)

    def fields(self, key: str | None) -> Fields:
        """The task's id."""
        return Fields((_TASK,), (), (), _INSTRUCTION).or_named(key)

    def main(self, run: Trials) -> Main:
        """Whether the task was resolved."""
        del run
        return Main(MAIN)

    def metrics(self, row: Mapping[str, Any]) -> Iterable[str]:
        """Whether the task is resolved, where that is known."""
        return [MAIN] if isinstance(row.get(MAIN), bool) else []

    def group(self, trial: Trial) -> str:
        """Each trial alone: its name has its number."""
        return trial.name

    def began(self, told: Told | None) -> str:
        """Nothing: the names have the order."""
        del told
        return ""

    def attempt(self, trial: Trial, told: Told | None, number: int, offset: int, asked: Asked) -> Attempt:
        """What became of a trial; one without a result is named by its folder."""
        parts = TRIAL.fullmatch(trial.name.rpartition("/")[2])
        if told is None:
            return Attempt(
                ids={_TASK: parts["task"] if parts else trial.name},
                reward=None,
                masked=NO_RESULT,
                attempt=attempt_of(parts),
                has_output=True,
                number=number,
                offset=offset,
            )
        named = dict(zip(self.paths, told.values, strict=True))
        parts = TRIAL.fullmatch(str(named[_NAME])) or parts
        reward, masked, error = _outcome(named, told, asked)
        task = named[_TASK] if named[_TASK] is not None or not parts else parts["task"]
        return Attempt(
            ids={**told.fields, _TASK: task},
            reward=reward,
            masked=masked,
            agent_error=error,
            attempt=attempt_of(parts),
            asked=named[_INSTRUCTION],
            has_output=trial.entry is None or bool(named[_TESTS]),
            number=number,
            offset=offset,
            settings=dict(self.settings),
            measures=_measures(named),
        )

    def asked_of(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> Any:
        """The task's instruction."""
        del folder, trial
        return row.get(_INSTRUCTION)

    def output(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> Output:
        """The terminal after the tests, and what the tests' own parser found."""
        names = [f"{trial.name}/{name}" for name in _PANES if trial.entry is None]
        files = tuple(path for name in names if folder.size_of(name) and (path := folder.file(name)))
        tests = row.get(_TESTS)
        found = tests if isinstance(tests, Mapping) else {}
        outcomes = {name: "passed" if outcome == "passed" else "failed" for name, outcome in found.items()}
        listed = "\n".join(f"{outcome.upper()} {name}" for name, outcome in outcomes.items())
        texts = ((_TESTS, listed),) if listed else ()
        return Output(None, texts, self.output_fields, files, outcomes or None)

    def transcript(self, folder: RunFolder, trial: Trial, row: Mapping[str, Any]) -> tuple[Step, ...] | None:
        """The logs of agents are of many forms: none is read."""
        del folder, trial, row
        return None


def attempt_of(parts: re.Match[str] | None) -> int | str | None:
    """The number of an attempt by the name of its trial; it is a text where it has more digits than any number."""
    digits = parts["attempt"] if parts else None
    return int(digits) if digits and len(digits) < _MOST_DIGITS else digits


def _outcome(named: Mapping[str, Any], told: Told, asked: Asked) -> tuple[float | None, str | None, str | None]:
    """The reward, why it does not count, and the agent's own error: one that it overcame is none."""
    resolved, mode = named[MAIN], named[_MODE]
    failed = mode if isinstance(mode, str) and mode not in _NO_FAILURE else None
    value = told.reward if asked.chosen else resolved
    reward = number_of(value)
    if not isinstance(resolved, bool):
        said = "null" if resolved is None else shown(resolved)
        return reward, failed or f"{MAIN} is {said}: the tests gave no result", None
    if failed == _NEVER_RAN and not resolved:
        return reward, failed, None
    if reward is None:
        return None, no_reward(asked.reward, value, [MAIN]), None
    return reward, None, None if resolved else failed


def _measures(named: Mapping[str, Any]) -> dict[str, float]:
    """Tokens, which stand as 0 where the agent did not count them, and seconds."""
    counts = {measure: number_of(named[name]) for measure, name in _TOKENS.items()}
    found: dict[str, float] = {measure: count for measure, count in counts.items() if count}
    seconds = seconds_between(*(named[name] for name in _TIMES))
    return found if seconds is None else {**found, "seconds": seconds}
