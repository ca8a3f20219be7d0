"""What the results beside samples say: what the run was made with, and of which metrics less is better."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from nemo_gym.rollout_compare.producers.contract import Plan
from nemo_gym.rollout_compare.producers.json_rows import dig
from nemo_gym.rollout_compare.producers.lm_eval.layout import Layout, choice_of
from nemo_gym.rollout_compare.producers.measures import setting_of
from nemo_gym.rollout_compare.schema import Direction

#: Where a setting stands; `*` is the task.
_SETTINGS = {
    "model": ("model_name",),
    "model backend": ("config", "model"),
    "model arguments": ("config", "model_args"),
    "few-shot examples": ("n-shot", "*"),
    "generation": ("configs", "*", "generation_kwargs"),
    "generation arguments": ("config", "gen_kwargs"),
    "limit": ("config", "limit"),
    "seed": ("config", "random_seed"),
    "numpy seed": ("config", "numpy_seed"),
    "torch seed": ("config", "torch_seed"),
    "few-shot seed": ("config", "fewshot_seed"),
    "task version": ("versions", "*"),
    "chat template": ("chat_template",),
    "system instruction": ("system_instruction",),
    "lm-eval": ("lm_eval_version",),
}
_DIRECTIONS = "higher_is_better"


def settings_of(results: Mapping[str, Any], task: str) -> tuple[tuple[str, Any], ...]:
    """What a task was run with, by name."""
    found = {name: dig(results, [task if one == "*" else one for one in path]) for name, path in _SETTINGS.items()}
    return tuple((name, setting_of(value)) for name, value in found.items() if value not in (None, "", {}, []))


class Said(Struct, frozen=True):
    """Asked which of two rewards is the better one.

    Attributes:
        path: The results.
        layout: What is known of the samples.
        results: What the results say.
    """

    path: Path
    layout: Layout
    results: Mapping[str, Any]

    def __call__(self, plan: Plan) -> Direction | None:
        """What the results say of the metric that is the reward, None where they say nothing."""
        metric = choice_of(self.layout, plan.reward).metric
        higher = dig(self.results, (_DIRECTIONS, self.layout.task, metric))
        return Direction(str(self.path), self.layout.task, metric, not higher) if isinstance(higher, bool) else None
