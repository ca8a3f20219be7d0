"""Compare two runs of the same tasks: same result, or did it flip, and why?

The face for scripts: what a script needs, by name. A name is imported from its package when it is first asked for, so
that the command line loads no more than it runs. docs/design.md says what each package does.
"""

# A constant of its own, not the one of `typing`: importing that takes longer than all of this file.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from nemo_gym.rollout_compare.command import RolloutCompareConfig, run_compare
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
    from nemo_gym.rollout_compare.report import render_report, summary_dict, summary_schema
    from nemo_gym.rollout_compare.schema.result import (
        Category,
        CompareInputError,
        CompareResult,
        Side,
        TaskComparison,
        TaskSide,
    )

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

#: The modules that hold these names.
_HOMES = {
    "command": ("RolloutCompareConfig", "run_compare"),
    "compare.categories": ("compare_rollouts",),
    "compare.task_side": ("summarize_side",),
    "engine.runs": ("load_rollouts",),
    "explain.evidence": ("tail_lines", "verifier_output"),
    "explain.findings": ("explain_flips",),
    "join.joined": ("detect_task_key",),
    "producers.gym.facts": ("agent_error", "mask_reason", "measured_failure_kind", "task_id_of", "tasksets_of"),
    "report": ("render_report", "summary_dict", "summary_schema"),
    "schema.result": ("Category", "CompareInputError", "CompareResult", "Side", "TaskComparison", "TaskSide"),
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
