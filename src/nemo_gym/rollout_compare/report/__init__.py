"""A finished result to text: one renderer a file.

* `terminal`: the report that people read
* `summary`: the JSON summary
* `facts`: what the summary's other keys say in words, as facts
* `frames`: one row a task: tables, data frames, notebooks
* `gate`: the gate's rules in words
* `html`: the page
* `jsonschema`: the schema of the JSON summary
* `junit`: JUnit XML
* `markdown`: a comment for a pull request
* `notes`: the words for notes
* `reading`: a summary to the result that it was made from
* `renderers`: what can be written beside the report
* `rerun`: the list of tasks to run again
* `shape`: the types of the JSON summary
"""

from __future__ import annotations

from nemo_gym.rollout_compare.explain import Roots, explain_flips
from nemo_gym.rollout_compare.report.gate import told_gate
from nemo_gym.rollout_compare.report.renderers import RENDERERS
from nemo_gym.rollout_compare.report.summary import summary_dict, summary_lines, summary_schema
from nemo_gym.rollout_compare.report.terminal.color import colored
from nemo_gym.rollout_compare.report.terminal.flips import by_size
from nemo_gym.rollout_compare.report.terminal.text import Shown, report_lines
from nemo_gym.rollout_compare.report.terminal.wrapped import wrapped
from nemo_gym.rollout_compare.schema import DEFAULT_TAIL, CompareResult

__all__ = [
    "RENDERERS",
    "Shown",
    "by_size",
    "colored",
    "render_report",
    "report_lines",
    "summary_dict",
    "summary_lines",
    "summary_schema",
    "told_gate",
    "wrapped",
]


def render_report(result: CompareResult, roots: Roots, tail: int = DEFAULT_TAIL) -> str:
    """The report that the command prints.

    Args:
        result: A comparison.
        roots: The folders of the runs, in which relative log paths are looked for after the current folder.
        tail: How many lines of verifier output a flip shows; 0 for none.
    """
    return "".join(f"{line}\n" for line in report_lines(explain_flips(result, roots, tail), Shown(output=tail > 0)))
