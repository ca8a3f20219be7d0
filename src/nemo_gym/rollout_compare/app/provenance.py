"""What a comparison says of itself: its version, the options that matter, the files of both runs."""

from __future__ import annotations

from collections.abc import Sequence

from nemo_gym.rollout_compare import __version__
from nemo_gym.rollout_compare.app.values import Options
from nemo_gym.rollout_compare.engine import source_of_run
from nemo_gym.rollout_compare.producers import Run
from nemo_gym.rollout_compare.schema import Provenance

#: The options that may change what a summary says. The others say what is read, where it goes, and how fast.
TELLING = ("key", "old_key", "new_key", "lower_is_better", "skip_bad_lines", "fail_on", "tail", "logs_root")


def provenance(options: Options, runs: Sequence[Run], rows: Sequence[int]) -> Provenance:
    """What is compared: the two runs' open files, which gave so many rows."""
    old, new = (source_of_run(run, count) for run, count in zip(runs, rows, strict=True))
    return Provenance(__version__, _telling(options), old, new)


def _telling(options: Options) -> dict[str, str | int | bool | list[str]]:
    """The telling options that are not as they are by default."""
    plain = Options(old_rollouts="", new_rollouts="")
    values = {name: getattr(options, name) for name in TELLING if getattr(options, name) != getattr(plain, name)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
