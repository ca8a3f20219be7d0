"""The command's options: one table of flags, kinds and descriptions for the command line and the config."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from nemo_gym.rollout_compare.schema import DEFAULT_TAIL

DESCRIPTION = """\
Compare two rollout JSONL files task by task.

Counts identical, flipped, masked and missing tasks and prints the losing
side's verifier output for every flip. A report, not a gate: the exit status
is 0 whatever it says, unless --fail-on asks for more; it is 1 when an input
cannot be read or an output cannot be written.

Examples:
  # Old server vs new one on the same tasks
  gym dev compare old/rollouts.jsonl new/rollouts.jsonl

  # Look for verifier logs in a server's folder too, keep 30 log lines per
  # flip, and also write a machine-readable summary
  gym dev compare old.jsonl new.jsonl \\
      --logs-root servers/terminal-bench --tail 30 --json compare.json

  # Join on an explicit field when auto-detection picks the wrong one
  gym dev compare old.jsonl new.jsonl --key verifier_metadata.instance_id

  # A run's folder against compressed shards; fail if the new side lost tasks
  gym dev compare old_run/ "new_run/part-*.jsonl.zst" --fail-on "lost>3"
"""


class Option(Struct, frozen=True):
    """One option.

    Attributes:
        flag: How it is given on the command line; None for an argument that is told by its place.
        kind: `text` (never empty), `count` (a whole number, 0 or more), `number` (1 or more), `switch` (given or
            not), `rule` (of the gate) or `category` (of tasks).
        description: What it does, as the help says it.
        metavar: What its value is called in the help.
        default: Its value when it is not given.
        many: Whether it may be given several times; its value is a tuple.
    """

    flag: str | None
    kind: Literal["text", "count", "number", "switch", "rule", "category"]
    description: str
    metavar: str = ""
    default: int | bool | None = None
    many: bool = False


#: By the name of the config's field.
OPTIONS = {
    "old_rollouts": Option(
        None,
        "text",
        "Rollouts of the reference: JSON Lines, one attempt at a task a line. A file, compressed or not, a folder with "
        "one, a quoted pattern of shards, or - for standard input.",
        metavar="OLD",
    ),
    "new_rollouts": Option(None, "text", "Rollouts of the system that is compared with it.", metavar="NEW"),
    "key": Option(
        "--key",
        "text",
        "Field that holds the task's id, as a dotted path; found for each side by itself if not given.",
        metavar="FIELD",
    ),
    "old_key": Option(
        "--old-key", "text", "Field that holds the task's id on the old side; goes before --key.", metavar="FIELD"
    ),
    "new_key": Option(
        "--new-key", "text", "Field that holds the task's id on the new side; goes before --key.", metavar="FIELD"
    ),
    "format": Option(
        "--format",
        "text",
        "Whose runs these are, if not to be found out: rollouts (of NeMo Gym), harbor, terminal-bench, nemo-evaluator.",
        metavar="NAME",
    ),
    "old_format": Option("--old-format", "text", "Whose run the old one is; overrides --format.", metavar="NAME"),
    "new_format": Option("--new-format", "text", "Whose run the new one is; overrides --format.", metavar="NAME"),
    "reward": Option(
        "--reward",
        "text",
        "Metric that is compared, by its name or as a dotted path; the main one of the runs' format if not given.",
        metavar="FIELD",
    ),
    "old_reward": Option(
        "--old-reward", "text", "Metric of the old side that is compared; overrides --reward.", metavar="FIELD"
    ),
    "new_reward": Option(
        "--new-reward", "text", "Metric of the new side that is compared; overrides --reward.", metavar="FIELD"
    ),
    "skip_bad_lines": Option(
        "--skip-bad-lines",
        "switch",
        "Leave out lines that are not rows, and say how many, instead of stopping at the first.",
        default=False,
    ),
    "jobs": Option(
        "--jobs",
        "number",
        "How many processes read the rollouts; as many as there are processors if not given, 1 for small files.",
        metavar="N",
    ),
    "quiet": Option("--quiet", "switch", "Show no progress.", default=False),
    "fail_on": Option(
        "--fail-on",
        "rule",
        "End with status 3 if the comparison breaks this rule: flipped, lost (the old side wins), agent-error, masked "
        "or missing, each with >N for more than N tasks (in quotes), or worse (the verdict).",
        metavar="RULE",
        many=True,
    ),
    "rerun": Option(
        "--rerun",
        "text",
        "Write the labels of the tasks to run again to this file: masked, missing, or with an agent error.",
        metavar="PATH",
    ),
    "tail": Option(
        "--tail",
        "count",
        "How many lines of verifier output to show for each flip; 0 for none.",
        metavar="N",
        default=DEFAULT_TAIL,
    ),
    "json_output": Option("--json", "text", "Write a JSON summary to this file as well.", metavar="PATH"),
    "json_stdout": Option(
        "--json-stdout", "switch", "Print the JSON summary to standard output instead of the report.", default=False
    ),
    "logs_root": Option(
        "--logs-root",
        "text",
        "Folder under which verifier_logs_dir paths are looked for after the runs' own folders: relative ones, and "
        "absolute ones of another machine by their longest end there. For one side only: old=DIR or new=DIR.",
        metavar="DIR",
        many=True,
    ),
    "both_sides": Option(
        "--both-sides", "switch", "Show the winning side's verifier output under the losing side's.", default=False
    ),
    "max_flips": Option(
        "--max-flips", "count", "Show so many flips of each kind, and how many more there are.", metavar="N"
    ),
    "only": Option(
        "--only",
        "category",
        "Show this section only: identical, flipped, flipped_agent_error, masked or missing. Counts and JSON are those "
        "of the whole.",
        metavar="CATEGORY",
        many=True,
    ),
}


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
    skip_bad_lines: bool = False
    jobs: int | None = None
    quiet: bool = False
    fail_on: tuple[str, ...] = ()
    rerun: str | None = None
    tail: int = DEFAULT_TAIL
    json_output: str | None = None
    json_stdout: bool = False
    logs_root: tuple[str, ...] = ()
    both_sides: bool = False
    max_flips: int | None = None
    only: tuple[str, ...] = ()
