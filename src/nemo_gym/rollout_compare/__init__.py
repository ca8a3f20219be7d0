"""Compare two runs of the same tasks: same result, or did it flip, and why?

The road from bytes to report, a module and a value for each step:

1. `locate`    what the user named to the run's files; `inputs` opens them
2. `lines`     a file to lines: (number, offset, bytes)
3. `decode`    a line to the values of the fields that matter
4. `rows`      those values to `Facts`, and to the identity of the row's task (`task_input`: what was asked)
5. `table`     one run to a `Table` of `columns`; `origins` tells where a row can be read again (`reread`)
6. `join`      two tables to a `Join`: which rows are attempts at one task (`keys` from the `ladder`, `labels`: by what
               they are told apart and called; `gather`: the rows of each; `join_check`: what makes the join doubtful)
7. `sides`     a run's rows of a task to what the run says about it (`repeats`: its attempts, by `distributions`)
8. `statistics` those of all tasks to whether the difference is real (`paired`: the figures)
9. `compare`   a join to a `CompareResult`: each task's category, and all of the above
10. `findings` the flips of a result to why they flipped: `evidence` (and `logs`: files on disk), `triage` of it
11. `gate`     a result to whether it keeps the rules that were asked for
12. `report`   a finished result to text or JSON

A run (`run`) is read in `pieces`, put together in order (`reading`), by several processes where that pays (`workers`);
`sidecar` says which failed attempts belong to it, `planned` what was to be done, `recognize` what a file that holds no
rollouts seems to be.

`job` is that road with `options`; `cli` is the command line and `command` the same for scripts; `outputs` is the only
writer, `progress` shows how far the reading is, `ending` sees to it that a signal leaves nothing behind. `schema` and
`figures` are the vocabulary, `safe_text` what makes text safe to print.
"""

from typing import TYPE_CHECKING, Any

from nemo_gym.rollout_compare.compare.categories import compare_rollouts
from nemo_gym.rollout_compare.compare.task_side import summarize_side
from nemo_gym.rollout_compare.engine.runs import load_rollouts
from nemo_gym.rollout_compare.explain.evidence import tail_lines, verifier_output
from nemo_gym.rollout_compare.explain.findings import explain_flips
from nemo_gym.rollout_compare.join.joined import detect_task_key
from nemo_gym.rollout_compare.producers.gym.facts import (
    agent_error,
    mask_reason,
    measured_failure_kind,
    task_id_of,
    tasksets_of,
)
from nemo_gym.rollout_compare.report import note_text, render_report, summary_dict, summary_schema
from nemo_gym.rollout_compare.schema.result import (
    Category,
    CompareInputError,
    CompareResult,
    Side,
    TaskComparison,
    TaskSide,
)

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.command import RolloutCompareConfig, run_compare

__version__ = "0.1.0"

__all__ = [
    "Category",
    "CompareInputError",
    "CompareResult",
    "RolloutCompareConfig",
    "Side",
    "TaskComparison",
    "TaskSide",
    "__version__",
    "agent_error",
    "compare_rollouts",
    "detect_task_key",
    "explain_flips",
    "load_rollouts",
    "mask_reason",
    "measured_failure_kind",
    "note_text",
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


def __getattr__(name: str) -> Any:
    """The config for scripts, made when it is first asked for: the command line starts without pydantic."""
    if name in ("RolloutCompareConfig", "run_compare"):
        from nemo_gym.rollout_compare import command

        return getattr(command, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
