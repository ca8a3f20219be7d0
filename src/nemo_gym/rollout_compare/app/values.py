"""The options' values, checked, as a comparison takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, defstruct

from nemo_gym.rollout_compare.app.option import Option
from nemo_gym.rollout_compare.app.options import OPTIONS

if TYPE_CHECKING:  # what is made below, for type checkers; a test holds it against the table

    class Options(Struct, frozen=True, kw_only=True):
        """The options' values, checked; the fields are `OPTIONS`' names."""

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
        logs_root: tuple[str, ...] = ()
        max_flips: int | None = None
        hide_noise: bool = False
        sort: str = "size"
        only: tuple[str, ...] = ()
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
    _TYPES = {
        "text": str,
        "count": int,
        "number": int,
        "size": int,
        "amount": float,
        "switch": bool,
        "rule": str,
        "category": str,
        "order": str,
        "color": str,
        "table": str,
    }

    def _field(name: str, option: Option) -> tuple[Any, ...]:
        declared = (name, option.type_of(_TYPES[option.kind]))
        return declared if option.flag is None else (*declared, option.unset())

    Options = defstruct(
        "Options",
        [_field(name, option) for name, option in OPTIONS.items()],
        namespace={"__doc__": "The options' values, checked; the fields are `OPTIONS`' names."},
        module=__name__,
        frozen=True,
        kw_only=True,
    )
