"""The command's options: the one table of flags, kinds, defaults and descriptions.

The parser, its help, the values, the config for scripts and the documents' table are made from it, or held against it.
"""

from __future__ import annotations

from functools import partial

from nemo_gym.rollout_compare.app.option import Option
from nemo_gym.rollout_compare.compare import rules_in_short
from nemo_gym.rollout_compare.text import MOST_LINE_BYTES, PAGE_MB

_RUNS, _TASKS, _READING = "runs", "which row is which task", "reading"
_FIGURES = "whether the difference is real"
_SHOWN, _WRITTEN, _GATE = "what the report shows", "what is written", "gate"

#: An option that may change what a summary says.
_telling = partial(Option, telling=True)

#: By the name of the config's field.
OPTIONS = {
    "old_rollouts": Option(
        None,
        "text",
        _RUNS,
        "Rollouts of the reference: JSON Lines, one attempt at a task a line. A file, compressed or not, a folder with "
        "one, a quoted pattern of shards, or - for standard input.",
        metavar="OLD",
    ),
    "new_rollouts": Option(None, "text", _RUNS, "Rollouts of the system that is compared with it.", metavar="NEW"),
    "key": _telling(
        "--key",
        "text",
        _TASKS,
        "Field that holds the task's id, as a dotted path; detected per side if not given.",
        metavar="FIELD",
    ),
    "old_key": _telling(
        "--old-key",
        "text",
        _TASKS,
        "Field that holds the task's id on the old side; overrides --key.",
        metavar="FIELD",
    ),
    "new_key": _telling(
        "--new-key",
        "text",
        _TASKS,
        "Field that holds the task's id on the new side; overrides --key.",
        metavar="FIELD",
    ),
    "format": _telling(
        "--format",
        "text",
        _READING,
        "The runs' producer, by its name; detected per side if not given.",
        metavar="NAME",
    ),
    "old_format": _telling(
        "--old-format", "text", _READING, "The old run's producer; overrides --format.", metavar="NAME"
    ),
    "new_format": _telling(
        "--new-format", "text", _READING, "The new run's producer; overrides --format.", metavar="NAME"
    ),
    "reward": _telling(
        "--reward",
        "text",
        _READING,
        "Metric to compare, by its name or as a dotted path; the producer's main one if not given.",
        metavar="FIELD",
    ),
    "old_reward": _telling(
        "--old-reward",
        "text",
        _READING,
        "Metric to compare on the old side; overrides --reward.",
        metavar="FIELD",
    ),
    "new_reward": _telling(
        "--new-reward",
        "text",
        _READING,
        "Metric to compare on the new side; overrides --reward.",
        metavar="FIELD",
    ),
    "lower_is_better": _telling(
        "--lower-is-better",
        "switch",
        _READING,
        "The lower of two rewards wins: wins, verdict and wording are reversed.",
    ),
    "skip_bad_lines": _telling(
        "--skip-bad-lines",
        "switch",
        _READING,
        "Leave out lines that are not rows, and say how many, instead of stopping at the first.",
    ),
    "max_line": _telling(
        "--max-line",
        "size",
        _READING,
        "The longest line that is accepted, in bytes or as 500MB; a longer one is an error.",
        metavar="SIZE",
        default=MOST_LINE_BYTES,
    ),
    "jobs": Option(
        "--jobs",
        "number",
        _READING,
        "How many processes read the rollouts; if not given, one for each processor, or 1 for small files.",
        metavar="N",
    ),
    "quiet": Option("--quiet", "switch", _READING, "Show no progress."),
    "margin": _telling(
        "--margin",
        "amount",
        _FIGURES,
        "Say whether the new side is the same within M (0.02 is 2 points), or at most M worse.",
        metavar="M",
    ),
    "tolerance": _telling(
        "--tolerance",
        "amount",
        _FIGURES,
        "Rewards that differ by at most T are the same result.",
        metavar="T",
        default=1e-9,
    ),
    "count_measured": _telling(
        "--count-measured",
        "switch",
        _FIGURES,
        "Give a partly masked task the category of its measured attempts, if both sides have some.",
    ),
    "by": _telling(
        "--by",
        "text",
        _FIGURES,
        "Also compare the tasks in groups, one for each value of this field of their rows, a dotted path.",
        metavar="FIELD",
        many=True,
    ),
    "cluster": _telling(
        "--cluster",
        "text",
        _FIGURES,
        "Field whose value tells which tasks are related, such as questions on one text: interval and p keep them "
        "together.",
        metavar="FIELD",
    ),
    "tail": _telling(
        "--tail",
        "count",
        _SHOWN,
        "How many lines of verifier output to show for each flip; 0 for none.",
        metavar="N",
        default=15,
    ),
    "both_sides": Option(
        "--both-sides", "switch", _SHOWN, "Show the winning side's verifier output under the losing side's."
    ),
    "logs_root": _telling(
        "--logs-root",
        "text",
        _SHOWN,
        "Folder under which verifier_logs_dir paths are looked for after the runs' own folders: relative ones, and "
        "absolute ones of another machine by their longest end there. For one side only: old=DIR or new=DIR.",
        metavar="DIR",
        many=True,
        or_one=True,
    ),
    "max_flips": Option(
        "--max-flips",
        "count",
        _SHOWN,
        "Show at most N flips of each kind, and say how many more there are.",
        metavar="N",
    ),
    "hide_noise": Option(
        "--hide-noise",
        "switch",
        _SHOWN,
        "Leave flips within the noise of their attempts out of the list, and say how many.",
    ),
    "sort": Option(
        "--sort",
        "order",
        _SHOWN,
        "Order of flips: size (those beyond noise first, then the largest changes) or label.",
        metavar="ORDER",
        default="size",
    ),
    "only": Option(
        "--only",
        "category",
        _SHOWN,
        "Show this section only: identical, flipped, flipped_agent_error, masked or missing. Counts and JSON are those "
        "of the whole.",
        metavar="CATEGORY",
        many=True,
    ),
    "color": Option(
        "--color",
        "color",
        _SHOWN,
        "Colour the report: always, never, or auto, on a terminal unless NO_COLOR says otherwise.",
        metavar="WHEN",
        default="auto",
    ),
    "json_output": Option("--json", "text", _WRITTEN, "Write a JSON summary to this file as well.", metavar="PATH"),
    "json_stdout": Option(
        "--json-stdout", "switch", _WRITTEN, "Print the JSON summary to standard output instead of the report."
    ),
    "html": Option(
        "--html",
        "text",
        _WRITTEN,
        "Write the comparison as a page: one file that opens without a network.",
        metavar="PATH",
    ),
    "html_limit": Option(
        "--html-limit",
        "number",
        _WRITTEN,
        "The most data in a page, in megabytes: transcripts are left out first, then verifier output.",
        metavar="MB",
        default=PAGE_MB,
    ),
    "markdown": Option(
        "--markdown",
        "text",
        _WRITTEN,
        "Write the comparison as a comment for a pull request to this file, or with - to standard output instead of "
        "the report.",
        metavar="PATH",
    ),
    "junit": Option(
        "--junit",
        "text",
        _WRITTEN,
        "Write JUnit XML to this file: a test case a task, lost flips as failures, masked and missing as skipped.",
        metavar="PATH",
    ),
    "table": Option(
        "--table",
        "table",
        _WRITTEN,
        "Write one row per task to this file: .csv, .jsonl or .parquet.",
        metavar="PATH",
    ),
    "transcripts": Option(
        "--transcripts",
        "switch",
        _WRITTEN,
        "Put what the agents did at flips into the JSON summary too, as much as a page would have.",
    ),
    "rerun": Option(
        "--rerun",
        "text",
        _WRITTEN,
        "Write the labels of the tasks to run again to this file: masked, missing, or with an agent error.",
        metavar="PATH",
    ),
    "fail_on": _telling(
        "--fail-on",
        "rule",
        _GATE,
        f"End with status 3 if the comparison breaks this rule: {rules_in_short()}.",
        metavar="RULE",
        many=True,
    ),
    "allow": _telling(
        "--allow",
        "text",
        _GATE,
        "File with the labels of tasks that break no rule, one a line, each with an optional reason: LABEL # REASON.",
        metavar="FILE",
    ),
}

#: What a summary cannot be asked for again: it holds what it was made with.
_NOT_AGAIN = {"logs_root", "transcripts", "json_output", "json_stdout"}


def shown_again() -> dict[str, Option]:
    """The options of `show`: those on what is shown and written."""
    shown = {name: option for name, option in OPTIONS.items() if option.group in {_SHOWN, _WRITTEN}}
    return {name: option for name, option in shown.items() if name not in _NOT_AGAIN}
