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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.app.comparison import compare_files
    from nemo_gym.rollout_compare.command import RolloutCompareConfig, run_compare
    from nemo_gym.rollout_compare.compare.categories import compare_rollouts
    from nemo_gym.rollout_compare.compare.task_side import summarize_side
    from nemo_gym.rollout_compare.explain.evidence import tail_lines, verifier_output
    from nemo_gym.rollout_compare.explain.findings import explain_flips
    from nemo_gym.rollout_compare.join.joined import detect_task_key
    from nemo_gym.rollout_compare.producers.gym import (
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
        Cluster,
        CompareInputError,
        CompareResult,
        Evidence,
        Flip,
        Side,
        Statistics,
        TaskComparison,
        TaskSide,
        Verdict,
    )

__all__ = [
    "Category",
    "Cluster",
    "CompareInputError",
    "CompareResult",
    "Evidence",
    "Flip",
    "RolloutCompareConfig",
    "Side",
    "Statistics",
    "TaskComparison",
    "TaskSide",
    "Verdict",
    "__version__",
    "agent_error",
    "compare_files",
    "compare_rollouts",
    "detect_task_key",
    "explain_flips",
    "load_rollouts",
    "mask_reason",
    "measured_failure_kind",
    "render_report",
    "run_compare",
    "summarize_side",
    "summary_dict",
    "summary_schema",
    "tail_lines",
    "task_id_of",
    "tasksets_of",
    "verifier_output",
]

__version__: str

#: Where the names are: nothing is imported before it is asked for, so that the command line starts fast.
_HOMES = {
    "app.comparison": "compare_files",
    "command": "RolloutCompareConfig run_compare",
    "compare.categories": "compare_rollouts",
    "compare.task_side": "summarize_side",
    "explain.evidence": "tail_lines verifier_output",
    "explain.findings": "explain_flips",
    "join.joined": "detect_task_key",
    "producers.gym": "agent_error load_rollouts mask_reason measured_failure_kind task_id_of tasksets_of",
    "report": "render_report summary_dict summary_schema",
    "schema": "Category Cluster CompareInputError CompareResult Evidence Flip Side Statistics TaskComparison TaskSide "
    "Verdict",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("rollout-compare")
    elif name in _HOME_OF:
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*globals(), *__all__})
