"""The command's options: the one table of flags, kinds, defaults and descriptions.

The parser, its help, the values, the config for scripts and the documents' table are made from it, or held against it.
"""

from __future__ import annotations

from nemo_gym.rollout_compare.app.option import COLORS, DESCRIPTION, ORDERS, SHOW_DESCRIPTION, TABLES, Option
from nemo_gym.rollout_compare.compare import rules_in_short
from nemo_gym.rollout_compare.text import MOST_LINE_BYTES, PAGE_MB

__all__ = ["COLORS", "DESCRIPTION", "OPTIONS", "ORDERS", "SHOW_DESCRIPTION", "TABLES", "Option", "shown_again"]

_RUNS, _TASKS, _READING = "runs", "which row is which task", "reading"
_FIGURES = "whether the difference is real"
_SHOWN, _WRITTEN, _GATE = "what the report shows", "what is written", "gate"

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
    "key": Option(
        "--key",
        "text",
        _TASKS,
        "Field that holds the task's id, as a dotted path; found for each side by itself if not given.",
        metavar="FIELD",
        telling=True,
    ),
    "old_key": Option(
        "--old-key",
        "text",
        _TASKS,
        "Field that holds the task's id on the old side; overrides --key.",
        metavar="FIELD",
        telling=True,
    ),
    "new_key": Option(
        "--new-key",
        "text",
        _TASKS,
        "Field that holds the task's id on the new side; overrides --key.",
        metavar="FIELD",
        telling=True,
    ),
    "format": Option(
        "--format",
        "text",
        _READING,
        "Whose runs these are, by the producer's name; found for each side by itself if not given.",
        metavar="NAME",
        telling=True,
    ),
    "old_format": Option(
        "--old-format", "text", _READING, "Whose run the old one is; overrides --format.", metavar="NAME", telling=True
    ),
    "new_format": Option(
        "--new-format", "text", _READING, "Whose run the new one is; overrides --format.", metavar="NAME", telling=True
    ),
    "reward": Option(
        "--reward",
        "text",
        _READING,
        "Metric that is compared, by its name or as a dotted path; the producer's main one if not given.",
        metavar="FIELD",
        telling=True,
    ),
    "old_reward": Option(
        "--old-reward",
        "text",
        _READING,
        "Metric of the old side that is compared; overrides --reward.",
        metavar="FIELD",
        telling=True,
    ),
    "new_reward": Option(
        "--new-reward",
        "text",
        _READING,
        "Metric of the new side that is compared; overrides --reward.",
        metavar="FIELD",
        telling=True,
    ),
    "lower_is_better": Option(
        "--lower-is-better",
        "switch",
        _READING,
        "Of two rewards the lower one wins: the sign of wins, verdict and words is turned.",
        telling=True,
    ),
    "skip_bad_lines": Option(
        "--skip-bad-lines",
        "switch",
        _READING,
        "Leave out lines that are not rows, and say how many, instead of stopping at the first.",
        telling=True,
    ),
    "max_line": Option(
        "--max-line",
        "size",
        _READING,
        "The longest line that is read, in bytes or as 500MB; a longer one is an error.",
        metavar="SIZE",
        default=MOST_LINE_BYTES,
        telling=True,
    ),
    "jobs": Option(
        "--jobs",
        "number",
        _READING,
        "How many processes read the rollouts; as many as there are processors if not given, 1 for small files.",
        metavar="N",
    ),
    "quiet": Option("--quiet", "switch", _READING, "Show no progress."),
    "margin": Option(
        "--margin",
        "amount",
        _FIGURES,
        "Say whether the new side is the same within M (0.02 is 2 points), or at least not worse by it.",
        metavar="M",
        telling=True,
    ),
    "tolerance": Option(
        "--tolerance",
        "amount",
        _FIGURES,
        "Rewards that differ by at most T are the same result.",
        metavar="T",
        default=1e-9,
        telling=True,
    ),
    "count_measured": Option(
        "--count-measured",
        "switch",
        _FIGURES,
        "Give a partly masked task the category that its measured attempts have, where both sides have some.",
        telling=True,
    ),
    "by": Option(
        "--by",
        "text",
        _FIGURES,
        "Compare the tasks of each value of this field of their rows, a dotted path, by themselves as well.",
        metavar="FIELD",
        many=True,
        telling=True,
    ),
    "cluster": Option(
        "--cluster",
        "text",
        _FIGURES,
        "Field whose value tells which tasks are related, such as questions on one text: interval and p with these "
        "kept together.",
        metavar="FIELD",
        telling=True,
    ),
    "tail": Option(
        "--tail",
        "count",
        _SHOWN,
        "How many lines of verifier output to show for each flip; 0 for none.",
        metavar="N",
        default=15,
        telling=True,
    ),
    "both_sides": Option(
        "--both-sides", "switch", _SHOWN, "Show the winning side's verifier output under the losing side's."
    ),
    "logs_root": Option(
        "--logs-root",
        "text",
        _SHOWN,
        "Folder under which verifier_logs_dir paths are looked for after the runs' own folders: relative ones, and "
        "absolute ones of another machine by their longest end there. For one side only: old=DIR or new=DIR.",
        metavar="DIR",
        many=True,
        or_one=True,
        telling=True,
    ),
    "max_flips": Option(
        "--max-flips", "count", _SHOWN, "Show so many flips of each kind, and how many more there are.", metavar="N"
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
        "How many megabytes of data a page has at most: transcripts are left out first, then verifier output.",
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
        "Write one row a task to this file: .csv, .jsonl or .parquet.",
        metavar="PATH",
    ),
    "transcripts": Option(
        "--transcripts",
        "switch",
        _WRITTEN,
        "Keep what the agents did at flips in the JSON summary too, as far as a page would have it.",
    ),
    "rerun": Option(
        "--rerun",
        "text",
        _WRITTEN,
        "Write the labels of the tasks to run again to this file: masked, missing, or with an agent error.",
        metavar="PATH",
    ),
    "fail_on": Option(
        "--fail-on",
        "rule",
        _GATE,
        f"End with status 3 if the comparison breaks this rule: {rules_in_short()}.",
        metavar="RULE",
        many=True,
        telling=True,
    ),
    "allow": Option(
        "--allow",
        "text",
        _GATE,
        "File with the labels of tasks that break no rule, one a line, each with an optional reason: LABEL # REASON.",
        metavar="FILE",
        telling=True,
    ),
}

#: What a summary cannot be asked for again: it holds what it was made with.
_NOT_AGAIN = {"logs_root", "transcripts", "json_output", "json_stdout"}


def shown_again() -> dict[str, Option]:
    """The options of `show`: those on what is shown and written."""
    return {
        name: option
        for name, option in OPTIONS.items()
        if option.group in {_SHOWN, _WRITTEN} and name not in _NOT_AGAIN
    }
