"""What a comparison says of itself: its version, the options that matter, the files of both runs."""

from __future__ import annotations

from collections.abc import Sequence

from nemo_gym.rollout_compare import __version__
from nemo_gym.rollout_compare.app.options import OPTIONS
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.engine import source_of_run
from nemo_gym.rollout_compare.producers import Run
from nemo_gym.rollout_compare.schema import Provenance


def provenance(options: Options, runs: Sequence[Run], rows: Sequence[int]) -> Provenance:
    """What is compared: the two runs' open files, which gave so many rows."""
    old, new = (source_of_run(run, count) for run, count in zip(runs, rows, strict=True))
    return Provenance(__version__, _telling(options), old, new)


def _telling(options: Options) -> dict[str, str | int | float | bool | list[str]]:
    """The telling options that are not as they are by default."""
    values = {name: getattr(options, name) for name, option in OPTIONS.items() if option.telling}
    given = {name: value for name, value in values.items() if value != OPTIONS[name].unset()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
