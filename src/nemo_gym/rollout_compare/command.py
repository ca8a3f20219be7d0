"""The command for scripts: its options as a pydantic config, and everything that it does but parse the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from nemo_gym.rollout_compare.app.job import run_job
from nemo_gym.rollout_compare.app.option import COLORS, DESCRIPTION, ORDERS, TABLES, Option
from nemo_gym.rollout_compare.app.options import OPTIONS
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.compare import NO_MARGIN, RULE_PATTERN, asks_for_margin
from nemo_gym.rollout_compare.schema import Category

if TYPE_CHECKING:  # what is made below, for type checkers; a test holds it against the table

    class RolloutCompareConfig(BaseModel):
        """The options of one comparison."""

        model_config = ConfigDict(extra="forbid", frozen=True)

        old_rollouts: str
        new_rollouts: str
        key: str | None = None
        old_key: str | None = None
        new_key: str | None = None
        format: str | None = None
        old_format: str | None = None
        new_format: str | None = None
        reward: str | None = None
        old_reward: str | None = None
        new_reward: str | None = None
        lower_is_better: bool = False
        skip_bad_lines: bool = False
        max_line: int = 1_000_000_000
        jobs: int | None = None
        quiet: bool = False
        margin: float | None = None
        tolerance: float = 1e-9
        count_measured: bool = False
        by: tuple[str, ...] = ()
        cluster: str | None = None
        tail: int = 15
        both_sides: bool = False
        logs_root: str | tuple[str, ...] | None = None
        max_flips: int | None = None
        hide_noise: bool = False
        sort: str = "size"
        only: tuple[Category, ...] = ()
        color: str = "auto"
        json_output: str | None = None
        json_stdout: bool = False
        html: str | None = None
        html_limit: int = 20
        markdown: str | None = None
        junit: str | None = None
        table: str | None = None
        transcripts: bool = False
        rerun: str | None = None
        fail_on: tuple[str, ...] = ()
        allow: str | None = None

else:
    #: One value of an option, by its kind.
    _TYPES = {
        "text": Annotated[str, Field(min_length=1)],
        "count": Annotated[int, Field(ge=0, strict=True)],
        "number": Annotated[int, Field(ge=1, strict=True)],
        "size": Annotated[int, Field(ge=1, strict=True)],
        "amount": Annotated[float, Field(ge=0, allow_inf_nan=False)],
        "switch": bool,
        "rule": Annotated[str, Field(pattern=f"^({RULE_PATTERN})$")],
        "category": Category,
        "order": Annotated[str, Field(pattern=f"^({'|'.join(ORDERS)})$")],
        "color": Annotated[str, Field(pattern=f"^({'|'.join(COLORS)})$")],
        "table": Annotated[str, Field(pattern=rf"(?i).({'|'.join(map(re.escape, TABLES))})$")],
    }

    def _field(option: Option) -> tuple[Any, Any]:
        one = _TYPES[option.kind]
        if option.or_one:
            return one | option.type_of(one) | None, Field(None, description=option.description)
        unset = ... if option.flag is None else option.unset()
        return option.type_of(one), Field(unset, description=option.description)

    def _rules_have_their_margin(config: Any) -> Any:
        if config.margin is None and asks_for_margin(config.fail_on):
            raise ValueError(NO_MARGIN)
        return config

    RolloutCompareConfig = create_model(
        "RolloutCompareConfig",
        __config__=ConfigDict(extra="forbid", frozen=True),
        __doc__=DESCRIPTION,
        __module__=__name__,
        __validators__={"rules_have_their_margin": model_validator(mode="after")(_rules_have_their_margin)},
        **{name: _field(option) for name, option in OPTIONS.items()},
    )


def run_compare(config: RolloutCompareConfig, out: TextIO | None = None) -> int:
    """Compare two runs and print the report, or the JSON summary; write the files that are asked for first.

    Args:
        config: The options.
        out: Where the report goes; standard output when None.

    Returns:
        0 for a report, whatever it says; 3 for a report that breaks one of the rules of `fail_on`, after a line on
        standard error for each; 1 for an input that cannot be read or an output that cannot be written, after one line
        on standard error.
    """
    values = config.model_dump()
    for name, option in OPTIONS.items():
        if option.or_one and not isinstance(values[name], tuple):
            values[name] = () if values[name] is None else (values[name],)
    return run_job(Options(**values), out)
