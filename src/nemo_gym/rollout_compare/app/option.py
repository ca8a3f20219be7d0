"""What an option is made of: its row in the table, the words that it may take, the text above the list."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from nemo_gym.rollout_compare.text import size_text

DESCRIPTION = """\
Compare two runs of LLM agents task by task: rollout JSONL files, or what
other harnesses leave (--format has their names).

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

  # Show a summary again, or make a page of it, without the runs
  gym dev compare show compare.json --html compare.html
"""


SHOW_DESCRIPTION = """\
Show a comparison again from its JSON summary, without the runs.

Examples:
  gym dev compare show compare.json --only masked
  gym dev compare show compare.json --html compare.html
"""


class Option(NamedTuple):
    """One option.

    Attributes:
        flag: How it is given on the command line; None for an argument that is told by its place.
        kind: `text` (never empty), `count` (a whole number, 0 or more), `number` (1 or more), `size` (of bytes, 1 or
            more), `amount` (any number, 0 or more), `switch` (given or not), `rule` (of the gate), `category` (of
            tasks), `order` (of flips), `color` (when there is some) or `table` (a path that ends as its kind does).
        group: The heading of the help under which it stands.
        description: What it does, as the help says it.
        metavar: What its value is called in the help.
        default: Its value when it is not given; a switch is off.
        many: Whether it may be given several times; its value is a tuple.
        or_one: Whether a config may hold a single value of it, or None for none, instead of a tuple.
        telling: Whether it may change what a summary says; the others say what is read, where it goes, and how fast.
    """

    flag: str | None
    kind: Literal["text", "count", "number", "size", "amount", "switch", "rule", "category", "order", "color", "table"]
    group: str
    description: str
    metavar: str = ""
    default: int | float | str | None = None
    many: bool = False
    or_one: bool = False
    telling: bool = False

    def unset(self) -> Any:
        """The value of an option that is not given."""
        if self.many:
            return ()
        return False if self.kind == "switch" else self.default

    def type_of(self, one: Any) -> Any:
        """The type of its value, where one value that is given is of type `one`."""
        if self.many:
            return tuple[one, ...]
        return one if self.flag is None or self.unset() is not None else one | None

    def told(self) -> str:
        """What it does, its default, and whether it may be repeated."""
        value = size_text(self.default) if self.kind == "size" and isinstance(self.default, int) else self.default
        default = f" Default: {value}." if value is not None else ""
        return f"{self.description}{default}{' May be given several times.' if self.many else ''}"


#: The orders in which flips may stand.
ORDERS = ("size", "label")

#: When the report is coloured.
COLORS = ("auto", "always", "never")

#: What a table may be, by the ends of its name.
TABLES = (".csv", ".jsonl", ".parquet")
