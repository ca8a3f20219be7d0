"""What `prove` says of whole files: without `-v` it names no tests.

t/money.t ..
Dubious, test returned 1 (wstat 256, 0x100)
Failed 1/5 subtests
t/skip.t ... skipped: no network
[03:17:03] t/tax.t .... ok      284 ms ( 0.00 usr ...
Files=3, Tests=6,  0 wallclock secs ( 0.02 usr ...
"""

import re

from nemo_gym.rollout_compare.explain.triage.results import Collector, Outcome, TestResults
from nemo_gym.rollout_compare.text import lines

_FILE = re.compile(r"(?:\[\d\d:\d\d:\d\d\] )?+([^\s]{1,300}\.\w{1,9}) \.{2,}+ *+(.*)")
_FAILED = re.compile(r"(?:Dubious, |Failed \d++/\d++ subtests|No subtests run)")
_COUNTS = re.compile(r"Files=(\d{1,9}+), Tests=")


def read_prove(text: str) -> TestResults | None:
    """The files that `prove` names."""
    if ".t .." not in text and "\nFiles=" not in text:
        return None
    collected, file, files = Collector(), "", None
    for line in lines(text):
        if found := _FILE.match(line):
            file, said = found[1], found[2]
        else:
            said = line
        outcome = _outcome(said, begins=bool(found))
        if file and outcome:
            collected.add(file, outcome)
            file = ""
        elif counts := _COUNTS.match(line):
            files = (files or 0) + int(counts[1])
    return collected.results("prove", truncated=files is None or len(collected.outcomes) < files)


def _outcome(said: str, *, begins: bool) -> Outcome | None:
    if _FAILED.match(said):
        return Outcome.FAILED
    if begins and (said == "ok" or said.startswith("ok ")):
        return Outcome.PASSED
    return Outcome.SKIPPED if begins and said.startswith("skipped") else None
