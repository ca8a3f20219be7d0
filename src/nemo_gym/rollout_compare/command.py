"""The command for scripts: its options as a pydantic config, and everything that it does but parse the command line."""

from __future__ import annotations

from typing import Annotated, TextIO

from pydantic import BaseModel, ConfigDict, Field

from nemo_gym.rollout_compare.app.job import run_job
from nemo_gym.rollout_compare.app.options import DESCRIPTION, OPTIONS, Options
from nemo_gym.rollout_compare.compare.gate import RULE_PATTERN
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL, Category

_Text = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=0, strict=True)]
_Rule = Annotated[str, Field(pattern=f"^({RULE_PATTERN})$")]
_Number = Annotated[int, Field(ge=1, strict=True)]


def _described(name: str) -> str:
    return OPTIONS[name].description


class RolloutCompareConfig(BaseModel):  # noqa: D101  # its docstring is the command's help, said in one place
    __doc__ = DESCRIPTION

    model_config = ConfigDict(extra="forbid", frozen=True)

    old_rollouts: _Text = Field(description=_described("old_rollouts"))
    new_rollouts: _Text = Field(description=_described("new_rollouts"))
    key: _Text | None = Field(None, description=_described("key"))
    old_key: _Text | None = Field(None, description=_described("old_key"))
    new_key: _Text | None = Field(None, description=_described("new_key"))
    format: _Text | None = Field(None, description=_described("format"))
    old_format: _Text | None = Field(None, description=_described("old_format"))
    new_format: _Text | None = Field(None, description=_described("new_format"))
    reward: _Text | None = Field(None, description=_described("reward"))
    old_reward: _Text | None = Field(None, description=_described("old_reward"))
    new_reward: _Text | None = Field(None, description=_described("new_reward"))
    skip_bad_lines: bool = Field(False, description=_described("skip_bad_lines"))
    jobs: _Number | None = Field(None, description=_described("jobs"))
    quiet: bool = Field(False, description=_described("quiet"))
    fail_on: tuple[_Rule, ...] = Field((), description=_described("fail_on"))
    rerun: _Text | None = Field(None, description=_described("rerun"))
    tail: _Count = Field(DEFAULT_TAIL, description=_described("tail"))
    json_output: _Text | None = Field(None, description=_described("json_output"))
    json_stdout: bool = Field(False, description=_described("json_stdout"))
    logs_root: _Text | tuple[_Text, ...] | None = Field(None, description=_described("logs_root"))
    both_sides: bool = Field(False, description=_described("both_sides"))
    max_flips: _Count | None = Field(None, description=_described("max_flips"))
    only: tuple[Category, ...] = Field((), description=_described("only"))


def run_compare(config: RolloutCompareConfig, out: TextIO | None = None) -> int:
    """Compare two runs and print the report, or the JSON summary; write the JSON file first when asked.

    Args:
        config: The options.
        out: Where the report goes; standard output when None.

    Returns:
        0 for a report, whatever it says; 3 for a report that breaks one of the rules of `fail_on`, after a line on
        standard error for each; 1 for an input that cannot be read or an output that cannot be written, after one line
        on standard error.
    """
    values = config.model_dump()
    roots = values.pop("logs_root") or ()
    return run_job(Options(**values, logs_root=(roots,) if isinstance(roots, str) else roots), out)
