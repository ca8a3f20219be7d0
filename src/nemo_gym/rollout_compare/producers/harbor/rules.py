"""What the result of a Harbor trial means: reward, mask, errors, names of the task, settings and costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.attempts import Attempt
from nemo_gym.rollout_compare.producers.folders import Trials
from nemo_gym.rollout_compare.producers.harbor.evidence import OUTPUT_FILES, HarborFiles
from nemo_gym.rollout_compare.producers.harbor.exceptions import INVALID
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.rewards import NO_RESULT, Main, main_of, no_reward, number_of, seconds_between
from nemo_gym.rollout_compare.producers.trials import Asked, Told, Trial
from nemo_gym.rollout_compare.schema import Fields

MAIN = "reward"
REWARDS = "verifier_result.rewards"
#: Where the first versions have the only reward.
_ONE_REWARD = "verifier_result.reward"

_RESULT = ("task_name", "source", "trial_name", "task_checksum", REWARDS, _ONE_REWARD, "reward_valid")
_EXCEPTION = ("exception_info.exception_type", "exception_info.policy.has_valid_reward", "step_results")
_SETTINGS = {
    "agent": "agent_info.name",
    "agent version": "agent_info.version",
    "model": "agent_info.model_info.name",
    "model provider": "agent_info.model_info.provider",
    "timeout multiplier": "config.timeout_multiplier",
    "agent timeout multiplier": "config.agent_timeout_multiplier",
    "agent arguments": "config.agent.kwargs",
}
_COSTS = {
    "input-tokens": "n_input_tokens",
    "cached-tokens": "n_cache_tokens",
    "output-tokens": "n_output_tokens",
    "dollars": "cost_usd",
}
_TURNS = "n_episodes"
_TIMES = ("started_at", "finished_at")
_AGENT = ("agent_result.metadata.n_episodes", *(f"agent_result.{name}" for name in _COSTS.values()))


class Begun(Struct, frozen=True):
    """What is known of a trial that left no result.

    Attributes:
        task: The task's name.
        source: The data set that it is of.
    """

    task: str
    source: str | None = None


class HarborReader(HarborFiles, frozen=True):
    """The results of one job's trials.

    Attributes:
        by_source: Whether tasks are told apart by their data sets too, of which the job has several.
        begun: The trials without a result, by their names.
    """

    by_source: bool = False
    begun: tuple[tuple[str, Begun], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """What is read of every result."""
        return (*_RESULT, *_EXCEPTION, *_TIMES, *_AGENT, *_SETTINGS.values())

    @property
    def output_fields(self) -> tuple[str, ...]:
        """The files that may hold the verifier's output."""
        return OUTPUT_FILES

    def fields(self, key: str | None) -> Fields:
        """The task's name, else that without its organization; the content of the task is known by its checksum."""
        further = ("task_name without organization",)
        return Fields(("task_name",), further, input="task_checksum", digests=True).or_named(key)

    def main(self, run: Trials) -> Main:
        """`reward` where any trial has it, else the only key that there is."""
        return main_of(run.path, MAIN, run.metrics(REWARDS))

    def metrics(self, row: Mapping[str, Any]) -> Iterable[str]:
        """The verifier's rewards."""
        rewards = dig(row, REWARDS.split("."))
        if isinstance(rewards, Mapping):
            return rewards
        return [] if dig(row, _ONE_REWARD.split(".")) is None else [MAIN]

    def group(self, trial: Trial) -> str:
        """The name of the trial without the random end."""
        return trial.name.rpartition("__")[0]

    def began(self, told: Told | None) -> str:
        """When the trial began; one without a result is the last."""
        began = told.values[self.paths.index(_TIMES[0])] if told else None
        return began if isinstance(began, str) else "~"

    def attempt(self, trial: Trial, told: Told | None, number: int, offset: int, asked: Asked) -> Attempt:
        """What became of a trial."""
        if told is None:
            begun = dict(self.begun)[trial.name]
            names = self._ids(begun.task, begun.source, {})
            return Attempt(
                ids=names,
                reward=None,
                masked=NO_RESULT,
                attempt=trial.name,
                has_output=True,
                number=number,
                offset=offset,
            )
        named = dict(zip(self.paths, told.values, strict=True))
        listed = named["step_results"]
        steps = [step for step in listed if isinstance(step, Mapping)] if isinstance(listed, list) else []
        reward, masked, error = _outcome(named, steps, told, asked)
        return Attempt(
            ids=self._ids(named["task_name"], named["source"], told.fields),
            reward=reward,
            masked=masked,
            agent_error=error,
            attempt=named["trial_name"] or trial.name,
            asked=named["task_checksum"],
            has_output=True,
            number=number,
            offset=offset,
            settings={name: value for name, path in _SETTINGS.items() if (value := named[path]) is not None},
            measures=_measures(named, steps),
        )

    def _ids(self, name: Any, source: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        short = name.rpartition("/")[2] if isinstance(name, str) else name
        taskset = {"taskset": source} if self.by_source and source is not None else None
        ids: dict[str, Any] = {"task_name": name, "task_name without organization": short}
        if taskset:
            ids = {field: {**taskset, "task_id": value} for field, value in ids.items() if value is not None}
        return {**fields, **ids}


def _outcome(
    named: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], told: Told, asked: Asked
) -> tuple[float | None, str | None, str | None]:
    """The reward, why it does not count, and the agent's own error."""
    one = {} if named[_ONE_REWARD] is None else {MAIN: named[_ONE_REWARD]}
    rewards = named[REWARDS] if isinstance(named[REWARDS], Mapping) else one
    raised = list(_raised(named, steps))
    value = rewards.get(asked.reward)
    if value is None and asked.chosen:
        value = told.reward
    reward = number_of(value)
    spoilt = next((kind for kind, valid in raised if not valid), None)
    first = raised[0][0] if raised else None
    valid = named["reward_valid"]
    if valid is False and (rewards or raised):
        return reward, spoilt or first or "reward_valid is false", None
    if valid is not True and spoilt:
        return reward, spoilt, None
    if reward is None:
        return None, first if first and not rewards else no_reward(asked.reward, value, rewards), None
    return reward, None, first


def _raised(named: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> list[tuple[str, bool]]:
    """The exceptions of a trial and of its steps, each with whether the reward is valid in spite of it."""
    pairs = [(named[_EXCEPTION[0]], named[_EXCEPTION[1]])]
    for step in steps:
        info = step.get("exception_info")
        if isinstance(info, Mapping):
            policy = info.get("policy")
            pairs.append((info.get("exception_type"), dig(policy, ("has_valid_reward",))))
    kinds = [(str(kind), valid) for kind, valid in pairs if kind is not None]
    return [(kind, valid if isinstance(valid, bool) else kind not in INVALID) for kind, valid in kinds]


def _measures(named: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What a trial cost; of one with several steps the sums."""
    found: dict[str, float] = {}
    results = [step["agent_result"] for step in steps if isinstance(step.get("agent_result"), Mapping)]
    for measure, name in _COSTS.items():
        own = named[f"agent_result.{name}"]
        values = [own] if own is not None else [result.get(name) for result in results]
        numbers = [number for value in values if (number := number_of(value)) is not None]
        if numbers:
            found[measure] = sum(numbers)
    turns = number_of(named["agent_result.metadata.n_episodes"])
    if turns is not None:
        found["turns"] = turns
    seconds = seconds_between(*(named[name] for name in _TIMES))
    if seconds is not None:
        found["seconds"] = seconds
    return found
