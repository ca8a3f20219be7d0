"""RSpec's text: the tree of `--format documentation`, and the list of what failed.

Money
adds
when rounding
rounds half up (FAILED - 1)
waits (PENDING: Temporarily skipped with xit)
5 examples, 2 failures, 1 pending
rspec ./spec/money_spec.rb:5 # Money when rounding rounds half up
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_ENDED = re.compile(r"(\d{1,9}+) examples?, \d++ failures?")
_LISTED = re.compile(r"rspec '?\./\S++ # (\S.*)")
_FAILED = re.compile(r" \(FAILED - \d++\)$")
_PENDING = " (PENDING: "
_TREE_ENDS = ("Pending: (", "Failures:", "Finished in ")
_OUTSIDE = ("An error occurred while loading", "Run options:", "Randomized with seed", "Warning")
_LONGEST = 300


def read_rspec(text: str) -> TestResults | None:
    """The examples that RSpec names, as the words of their groups and their own."""
    if _ENDED.search(text) is None:
        return None
    said = lines(text)
    collected = Collector()
    end = next((i for i, line in enumerate(said) if line.startswith(_TREE_ENDS)), 0)
    _read_tree(collected, said[:end])
    for line in said:
        if found := _LISTED.match(line):
            collected.add(found[1], Outcome.FAILED)
    examples = sum(int(found[1]) for line in said if (found := _ENDED.match(line)))
    return collected.results("rspec", truncated=len(collected.outcomes) < examples)


def _read_tree(collected: Collector, said: list[str]) -> None:
    """A line is a group if the next one stands further right, else an example."""
    groups: list[tuple[int, str]] = []
    for line, following in zip(said, [*said[1:], ""], strict=False):
        indent, name = len(line) - len(line.lstrip()), line.strip()
        groups = [(at, group) for at, group in groups if at < indent]
        if len(name) > _LONGEST or name.startswith(_OUTSIDE):
            continue
        if len(following) - len(following.lstrip()) > indent:
            groups.append((indent, name))
        elif groups:
            failed = _FAILED.search(name)
            pending = name.find(_PENDING)
            outcome = Outcome.FAILED if failed else Outcome.SKIPPED if pending >= 0 else Outcome.PASSED
            own = name[: failed.start()] if failed else name[:pending] if pending >= 0 else name
            collected.add(" ".join([*(group for _, group in groups), own]), outcome)
