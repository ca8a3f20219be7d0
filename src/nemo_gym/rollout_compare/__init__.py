"""Compare two runs of the same tasks: same result, or did it flip, and why?

The road from bytes to report has a package for each step:

1. `files`      what the user named to files, and files to lines
2. `producers`  what a producer's runs look like: their rows as batches of columns
3. `table`      one run as columns; `engine` reads runs in pieces and puts them together
4. `join`       two tables to one list of tasks: which rows are attempts at which task
5. `compare`    the joined rows to a `CompareResult`: each task's category, and whether the difference is real
6. `explain`    the flips of a result to why they flipped
7. `report`     a finished result to text and JSON

`app` is that road with options, and `command` the same for scripts. All speak the words of `schema`, and `text` makes
what comes from other machines safe to print. `docs/design.md` says which package may import which.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.app.comparison import compare_files
    from nemo_gym.rollout_compare.command import RolloutCompareConfig, run_compare
    from nemo_gym.rollout_compare.compare import check_gate, compare_rollouts, summarize_side
    from nemo_gym.rollout_compare.explain import (
        aligned,
        explain_flips,
        parted,
        tail_lines,
        transcript_of,
        verifier_output,
    )
    from nemo_gym.rollout_compare.join import detect_task_key
    from nemo_gym.rollout_compare.producers import (
        agent_error,
        load_rollouts,
        mask_reason,
        measured_failure_kind,
        task_id_of,
        tasksets_of,
    )
    from nemo_gym.rollout_compare.report import render_report, summary_dict, summary_schema
    from nemo_gym.rollout_compare.schema import (
        Category,
        Change,
        Cluster,
        CompareInputError,
        CompareResult,
        Cost,
        Evidence,
        Flip,
        Parted,
        Rule,
        Setting,
        Side,
        Statistics,
        Step,
        TaskComparison,
        TaskSide,
        Truncated,
        Verdict,
    )

__version__ = "0.1.0"

__all__ = [
    "Category",
    "Change",
    "Cluster",
    "CompareInputError",
    "CompareResult",
    "Cost",
    "Evidence",
    "Flip",
    "Parted",
    "RolloutCompareConfig",
    "Rule",
    "Setting",
    "Side",
    "Statistics",
    "Step",
    "TaskComparison",
    "TaskSide",
    "Truncated",
    "Verdict",
    "__version__",
    "agent_error",
    "aligned",
    "check_gate",
    "compare_files",
    "compare_rollouts",
    "detect_task_key",
    "explain_flips",
    "load_rollouts",
    "mask_reason",
    "measured_failure_kind",
    "parted",
    "render_report",
    "run_compare",
    "summarize_side",
    "summary_dict",
    "summary_schema",
    "tail_lines",
    "task_id_of",
    "tasksets_of",
    "transcript_of",
    "verifier_output",
]

#: The modules that hold these names.
_HOMES = {
    "app.comparison": ("compare_files",),
    "command": ("RolloutCompareConfig", "run_compare"),
    "compare": ("check_gate", "compare_rollouts", "summarize_side"),
    "explain": ("aligned", "explain_flips", "parted", "tail_lines", "transcript_of", "verifier_output"),
    "join": ("detect_task_key",),
    "producers": (
        "agent_error",
        "load_rollouts",
        "mask_reason",
        "measured_failure_kind",
        "task_id_of",
        "tasksets_of",
    ),
    "report": ("render_report", "summary_dict", "summary_schema"),
    "schema": (
        "Category",
        "Change",
        "Cluster",
        "CompareInputError",
        "CompareResult",
        "Cost",
        "Evidence",
        "Flip",
        "Parted",
        "Rule",
        "Setting",
        "Side",
        "Statistics",
        "Step",
        "TaskComparison",
        "TaskSide",
        "Truncated",
        "Verdict",
    ),
}

#: The modules that a script may ask for as `nemo_gym.rollout_compare.NAME` without importing them.
_DOORS = ("command", "compare", "join", "report", "schema")


def __getattr__(name: str) -> object:
    """A name of the face, or a door, imported when it is first asked for."""
    from importlib import import_module

    if name in _DOORS:
        return import_module(f"{__name__}.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What a notebook offers: the names, and the doors."""
    return sorted({*globals(), *__all__, *_DOORS})
