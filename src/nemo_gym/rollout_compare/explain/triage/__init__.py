"""Why did a task flip? What its verifier's output says, made into values that can be compared.

1. `read_test_file` or `read_tests`: a log folder's file, or the output's text -> `TestResults`, single tests by name.
2. `compare_tests`, `compare_attempts`: those of both sides -> `TestChanges`, the tests that broke, were fixed, did not
   run.
3. `signature`: the losing output, and the winning one to hold it against -> the error that made it fail, with all that
   varies taken out.
4. `clusters`: flips with their signatures -> groups of one signature.

Everything here is a function of its arguments: no file is opened, no output written. Whatever the bytes are, the answer
comes in time that grows with their number, and names that come out are safe to print.

A new kind of test output is one file with one function beside these, and one line in the tables of `readers`.

* `readers`: which reader reads what
* `pytest_text`: what pytest prints
* `unittest_text`: what unittest prints
* `sympy_text`: what sympy's own runner prints
* `go_test`: what `go test` prints, as text and as events
* `cargo_test`: what `cargo test` prints
* `nextest_text`: what `cargo nextest` prints
* `tree_text`: trees of ticks and crosses, as jest, vitest, mocha and others print them
* `mocha_text`: the failed tests that mocha lists at its end
* `js_json`: the JSON of jest, vitest, mocha and RSpec
* `maven_text`: what Maven's Surefire prints
* `gradle_text`: what Gradle prints
* `ant_text`: what Ant prints
* `junit_text`: what JUnit's console launcher and JUnitCore print
* `ctest_text`: what CTest prints
* `gtest_text`: what googletest prints
* `phpunit_text`: what PHPUnit prints
* `ruby_text`: what minitest and test-unit print
* `rspec_text`: what RSpec prints
* `tap_text`: the Test Anything Protocol
* `prove_text`: what Perl's prove prints of whole files
* `automake_text`: a verdict, a colon and a name on each line
* `ctrf`: the Common Test Report Format
* `junit`: JUnit XML
* `results`: single tests of one side
* `changes`: what changed between two sides
* `names`: one test under two names
* `noise`: lines that tell no cause
* `marks`: texts that every line with a cause has
* `causes`: causes that every program words in its own way
* `errors`: which line of an output says what went wrong
* `cursor`: a place among the lines of an output
* `tap_blocks`: what TAP and Test::More say of a failed test
* `blocks`: the errors of an output in its order, what test programs say of a failed test first
* `messages`: a message brought into the shape in which it is compared
* `anonymous`: an error without what varies from task to task
* `signature`: the error that made an output fail, made anonymous
* `clusters`: flips with one signature, and tasks that fail for another reason
"""

from nemo_gym.rollout_compare.explain.triage.changes import compare_attempts
from nemo_gym.rollout_compare.explain.triage.clusters import SignedFlip, clusters, other_reasons
from nemo_gym.rollout_compare.explain.triage.errors import ErrorLine
from nemo_gym.rollout_compare.explain.triage.readers import (
    is_certain_report,
    is_of_the_whole,
    is_report,
    read_test_file,
    read_tests,
)
from nemo_gym.rollout_compare.explain.triage.results import (
    TestResults,
    merge_tests,
    named_within,
    recorded_tests,
)
from nemo_gym.rollout_compare.explain.triage.signature import cause_of, errors_of, signature

__all__ = [
    "ErrorLine",
    "SignedFlip",
    "TestResults",
    "cause_of",
    "clusters",
    "compare_attempts",
    "errors_of",
    "is_certain_report",
    "is_of_the_whole",
    "is_report",
    "merge_tests",
    "named_within",
    "other_reasons",
    "read_test_file",
    "read_tests",
    "recorded_tests",
    "signature",
]
