"""Why did a task flip? What its verifier's output says, made into values that can be compared.

1. `read_test_file` or `read_tests`: a log folder's file, or the output's text -> `TestResults`, single tests by name.
2. `compare_tests`: two of them -> `TestChanges`, the tests that broke and those that were fixed.
3. `signature`: the losing output -> its last error with all that varies taken out.
4. `clusters`: flips with their signatures -> groups of one signature and one winner.

Everything here is a function of its arguments: no file is opened, no output written. Whatever the bytes are, the answer
comes in time that grows with their number, and names that come out are safe to print.

A new kind of test output is one file with one function beside these, and one line in the tables of `readers`.

* `readers`: which reader reads what
* `pytest_text`: what pytest prints
* `unittest_text`: what unittest prints
* `go_test`: what `go test` prints, as text and as events
* `cargo_test`: what `cargo test` prints
* `ctrf`: the Common Test Report Format
* `junit`: JUnit XML
* `results`: single tests of one side, and what changed between two
* `errors`: which line of an output says what went wrong
* `anonymous`: an error without what varies from task to task
* `signature`: the last error of an output, made anonymous
* `clusters`: flips with one signature and one winner
"""

from nemo_gym.rollout_compare.explain.triage.clusters import SignedFlip, clusters
from nemo_gym.rollout_compare.explain.triage.readers import read_test_file, read_tests
from nemo_gym.rollout_compare.explain.triage.results import Outcome, TestResults, compare_tests, merge_tests
from nemo_gym.rollout_compare.explain.triage.signature import NO_OUTPUT, signature
from nemo_gym.rollout_compare.schema import Cluster, TestChanges

__all__ = [
    "NO_OUTPUT",
    "Cluster",
    "Outcome",
    "SignedFlip",
    "TestChanges",
    "TestResults",
    "clusters",
    "compare_tests",
    "merge_tests",
    "read_test_file",
    "read_tests",
    "signature",
]
