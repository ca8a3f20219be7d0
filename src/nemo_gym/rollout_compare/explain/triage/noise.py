"""Lines that look like errors and tell no cause: summaries of counts, hints, passed tests, traces of a shell."""

import re
from functools import lru_cache

#: Lines of output are the same from task to task: what was found of so many of them is remembered.
REMEMBERED = 1 << 13

# The order does not matter; a line that any of these fits is never a signature.
_NOISE = re.compile(
    r"""(?:
      (?:ok|PASS|PASSED|XPASS|SKIP|SKIPPED)(?::|\ |\t|$)            # passed and skipped tests
    | [\u2713\u2714\u221a\u25cb\u2193\ufe63\u21a9]                    # the same, with ticks
    | \[\ +OK\ \]|\[\ \ FAILED\ \ \]|\[ok\]:|\[gw\d++\]
    | test\ .*\ \.\.\.\ (?:ok|ignored|FAILED)$
    | \S++\ (?:PASSED|SKIPPED|XFAIL|XPASS|FAILED|ERROR)(?:\ ++\[|\ *+$)  # pytest -v
    | \S++\ \([\w.<>]++\)(?:\ \.\.\.\ .*)?$                            # unittest -v
    | \++\ \S                                                       # what the shell is about to do
    | [^\s@]++@[^\s:]++:\S*[\#$](?:\ |$)                                          # a prompt
    | >{5}\                                                          # marks of a harness
    | \d++:\ (?:0x)?[0-9a-f]{4,}                                     # addresses in a trace
    | [=_*-]{3}                                                      # headings
    | (?:FAIL|FAILED|ERROR|ERRORS!?|FAILURES!?)(?:\ \(.*|:\ \S++\ \([^\s()]++\).*|:\ \S++|:)?$
    | FAIL\t.*|FAIL\ \S++\ *+$|---\ (?:FAIL|PASS|SKIP):
    | test\ result:|failures:$|running\ \d++\ test
    | (?:Tests?|Test\ Suites|Test\ Files|Snapshots|Files|Suites)(?::|\ {2,})
    | \[(?:INFO|WARN|WARNING|DEBUG)\]|(?:INFO|DEBUG|WARN|WARNING|Warning|warning|W|N|I):\ |npm\ (?:warn|WARN|notice)[ ]
    | (?:note|help|hint|Hint|HINT|Note|Try|Tip):\ (?!test\ did\ not\ panic)
    | at\ .*:\d++:\d++\)?$|at\ [^\s(]++\(.*\)$|from\ [^\s:]++:\d++:in\ |in\ [^\s:]++:\d++$
    | File\ "[^"]*+",\ line\ \d++
    | goroutine\ \d++|exit\ status\ \d$|make(?:\[\d++\])?:\ (?:Entering|Leaving)[ ]
    | Traceback\ \(most\ recent
    | During\ handling\ of\ the\ above|The\ above\ exception\ was
    | (?:Failure|Error|Omission|Pending):\ test\w*+\([\w:]++\)$     # test-unit
    | (?:asyncio\.exceptions\.)?CancelledError$
    | (?:location|failureType|code|stack|duration_ms|type|name):\ |'?\d++\ subtests?\ failed   # YAML in TAP
    | (?:\#\ )?+(?:tests|suites|pass|fail|ok|skip|skipped|todo|cancelled|duration_ms)\ ++\d  # counts in TAP
    | \d++\ -\ .*\ \((?:Failed|Not\ Run|Disabled)\)$|The\ following\ tests\ FAILED   # CTest
    | \*\ What\ went\ wrong:                                         # Gradle
    | .*\):\ Executed\ \d++\ of\ \d++                                # karma
    | Failed!\ \ -\ Failed:|//\S*:\S++\ +FAILED\ in                  # dotnet, Bazel
    | \(?(?:in\ test\ file|from\ function)\ .*,(?:\ line\ \d++[,)])?    # bats
    | Failed\ \d++/\d++\ subtests|There\ (?:was|were)\ \d++\ (?:failure|error)
    | Ran\ \d++\ tests?\ in|\d++\ (?:passing|failing|pending)\b
    )""",
    re.VERBOSE,
)

# Counts: 1 failed, 3 passed; 20% tests passed, 4 tests failed out of 5; 4 runs, 2 assertions, 1 failures.
_COUNTS = re.compile(
    r"(?i)(?:(?:tests?|specs?|examples?|total)\b[^\d\n]{0,20})?+(?<![\w.])\d++ ?%?(?: \w++){0,2}?"
    r" (?:failed|failures?|failing|errors?|passed|passing|pass|runs|completed|problems?|warnings?)\b"
    r"|test result|no errors"
)

# Parts of lines that only say which step went wrong, or what to do about it.
_HINTS = (
    *("rerun-failed", "complete log of this run", "[Help ", "-e switch", "-X switch", "For more information about"),
    *("Please refer to", "--stacktrace", "to rerun pass", "could not compile", "aborting due to", "targets failed"),
    *("target failed", "ld returned", "linker command failed", "linking with `cc` failed", "Lifecycle script"),
    *("Errors while running CTest", "Output from these tests", "There are test failures", "There were failing tests"),
    *("Execution failed for task", "Build failed with an exception", "BUILD FAILED", "BUILD FAILURE"),
    *("metadata-generation-failed", "failed on line"),
    *("Failed to execute goal", "not a problem with pip", "likely not a problem", "take into account all the packages"),
    *("debconf: ", "delaying package configuration", "Full output truncated", "Skipping ", "use -v to"),
    *("Failed to import test module", "ImportError while importing test module", "test suites with failing"),
    *("error: subprocess-exited-with-error", "See above for output", "Interrupted: ", "stopping after", "no tests ran"),
    *(
        "(Wstat: ",
        "Looks like you failed",
        "Looks like your test",
        "Looks like you planned",
        "Dubious, test returned",
        "Non-zero exit status",
    ),
    *(
        "Failed test ",
        "Failed test: ",
        "Failed tests:",
        "Parse errors: ",
        "Failed (TODO)",
        "Test Summary Report",
        "skipped subtest",
        "Pending: (",
    ),
    *("compilation terminated", "backtrace", "RUST_BACKTRACE", "Some errors have detailed", "For more details"),
    *("Unable to find image", "See 'docker", "fetch failed", "does not provide an export", "Run with `--verbose`"),
    *("Build step", "setup command", "ELIFECYCLE", "This is probably not a problem", "npm test failed"),
    *(
        "Compilation failure",
        "compilation failed",
        "COMPILATION ERROR",
        "Retrying (Retry",
        "errno: -",
    ),
    *(
        "Test suite failed to run",
        "failed to execute command",
        "error: Recipe",
        "failing tests:",
        "Failed Tests",
        "Failed Suites",
    ),
    *(
        "executor failed running",
        "Some index files failed",
        "Failed to fetch",
    ),
)
# A step that failed in no special way.
_PLAIN_FAILURE = re.compile(r".*\b(?:exit(?:ed with)?|completed with exit)? ?(?:code|status):? [12]\.?$")
_CUT = ("...", "\N{HORIZONTAL ELLIPSIS}")
_STEP_FAILED = re.compile(
    r"(?:make|gmake|ninja)(?:\[\d++\])?: (?:\*\*\* \[|build stopped)"
    r"|npm (?:error|ERR!) ++(?:command|path|signal|code|errno|syscall|enoent This) "
)


@lru_cache(maxsize=REMEMBERED)
def is_noise(line: str) -> bool:
    """Whether a line, without blanks around it, tells no cause, whatever words are in it."""
    return (
        not line
        or _NOISE.match(line) is not None
        or _COUNTS.match(line) is not None
        or _PLAIN_FAILURE.match(line) is not None
        or any(hint in line for hint in _HINTS)
    )


def is_step(line: str) -> bool:
    """Whether it only says that a step failed, after the step's own error."""
    return _STEP_FAILED.match(line) is not None


def is_cut(message: str) -> bool:
    """Whether a message was cut to somebody's width: nobody knows what it would have said."""
    return message.endswith(_CUT)
