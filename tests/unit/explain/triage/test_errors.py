import pytest

from nemo_gym.rollout_compare.explain.triage.anonymous import anonymous
from nemo_gym.rollout_compare.explain.triage.errors import Weight, error_line
from nemo_gym.rollout_compare.explain.triage.messages import shown

TELLING = {
    "ValueError: x": "ValueError: x",
    "json.decoder.JSONDecodeError: x": "JSONDecodeError: x",
    "subprocess.TimeoutExpired: Command 'a' timed out after 5 seconds": "timed out",
    "KeyboardInterrupt": None,
    "AssertionError [ERR_ASSERTION]: a": "AssertionError: a",
    'Exception in thread "main" java.lang.NullPointerException: x': "NullPointerException: x",
    "Caused by: com.example.ShopException: x": "ShopException: x",
    "Uncaught TypeError: x is not a function": "TypeError: x is not a function",
    "a.py:3: ValueError: x": "ValueError: x",
    "error[E0308]: mismatched types": None,
    "error: no such option": "no such option",
    "ERROR: No matching distribution found for x": "No matching distribution found for x",
    "fatal: not a git repository": "not a git repository",
    "a.c:3:5: fatal error: a.h: No such file or directory": "a.h: No such file or directory",
    "src/a.ts(3,5): error TS2304: Cannot find name": "error TS2304: Cannot find name",
    "a.cs(1): error CS0103: x": "error CS0103: x",
    "C:\\a\\b.c:3: error: no way": "no way",
    "./main.go:5:2: undefined: foo": "undefined: foo",
    "main.c:(.text+0x5): undefined reference to `foo'": "undefined reference to `foo'",
    "a.out: a.c:3: main: Assertion `x == 3' failed.": "Assertion `x == <n>' failed.",
    "panic: no way": "panic: no way",
    "note: test did not panic as expected at a.rs:1:1": "note: test did not panic as expected",
    "terminate called after throwing an instance of 'std::runtime_error'": None,
    "==123==ERROR: AddressSanitizer: heap-use-after-free": "AddressSanitizer: heap-use-after-free",
    "cat: /a/b: No such file or directory": "no such file or directory",
    "bash: line 3: ./a: Permission denied": "permission denied",
    "run.sh: line 3: ./a: Is a directory": "is a directory",
    "Connection timed out": "connection timed out",
    "ssh: connect to host a port 22: Connection timed out": "connection timed out",
    "bash: line 1: pytest: command not found": "command not found: pytest",
    "pytest: command not found": "command not found: pytest",
    "/bin/sh: 1: pytest: not found": "command not found: pytest",
    "sh: pytest: not found": "command not found: pytest",
    "/app/run.sh: 31: /usr/bin/pytest: not found": "command not found: pytest",
    "zsh: command not found: pytest": "command not found: pytest",
    "make: pytest: No such file or directory": "command not found: pytest",
    'exec: "pytest": executable file not found in $PATH': "command not found: pytest",
    "/usr/bin/env: \u2018node\u2019: No such file or directory": "command not found: node",
    "Out of memory: Killed process 5 (a)": "out of memory or killed",
    "MemoryError": "out of memory or killed",
    "x: Cannot allocate memory": "out of memory or killed",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate": "CUDA out of memory",
    "Failed: Timeout (>10.0s) from pytest-timeout.": "timed out",
    "Test timed out after 900 seconds": "timed out",
    "timeout: sending signal TERM to command": "timed out",
    "Timeout: a": "timed out",
    "Killed": "out of memory or killed",
    "bash: line 3:  123 Killed                  python a.py": "out of memory or killed",
    "Segmentation fault (core dumped)": "segmentation fault (SIGSEGV)",
}

SECOND_HAND = {
    "FAILED a.py::b - KeyError: 'a' - b": "KeyError: 'a' - b",
    "ERROR a.py - ImportError: x": "ImportError: x",
    "a_test.go:19: got 4, want 5": "got 4, want 5",
    "tests/a.py:78: AssertionError": "AssertionError",
    "exit: signal: killed": "out of memory or killed",
    "signal arrived: SIGSEGV": "segmentation fault (SIGSEGV)",
    "program exited with code 139": "segmentation fault (SIGSEGV)",
    "make: *** [Makefile:2: check] Error 124": "timed out",
    "FAILED a.py::b - AssertionError: assert ...": "AssertionError",
    "FAILED a.py::b - Assertion...": "AssertionError",
}

VAGUE = [
    "the answer is wrong",
    "page: not found",
]

NOTHING = [
    "all is well",
    "1 failed, 3 passed in 0.1s",
    "3 tests passed",
    "20% tests passed, 4 tests failed out of 5",
    "Tests:       2 failed, 1 skipped, 3 passed, 6 total",
    "FAILED (failures=1)",
    "FAILED",
    "FAIL: test_a (m.T)",
    "test result: FAILED. 1 passed; 3 failed",
    "test a ... FAILED",
    "--- FAIL: TestA (0.00s)",
    "=== FAILURES with an error ===",
    "no errors",
    "terrors",
    "error: could not compile `a` (lib) due to 1 previous error",
    "collect2: error: ld returned 1 exit status",
    "error: test failed, to rerun pass `--lib`",
    'Use "--rerun-failed --output-on-failure" to re-run the failed cases verbosely.',
    "npm error A complete log of this run can be found in: /root/.npm/x.log",
    "[ERROR] For more information about the errors and possible solutions, please read the following articles:",
    "ok 3 exits with an error when the file is missing",
    "\u2713 throws an error when the key is missing (2 ms)",
    "+ echo failed",
    "subprocess.CalledProcessError: it returned non-zero exit status 1.",
    "##[error]Process completed with exit code 1.",
    "E         ...Full output truncated (3 lines hidden), use '-vv' to show",
    "WARNING: Running pip as the 'root' user can result in broken permissions",
    "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
]


def said(line: str) -> tuple[Weight, str | None] | None:
    """What a line tells, as a signature says it."""
    found = error_line(line)
    return (found.weight, shown(found.message)) if found else None


@pytest.mark.parametrize(("line", "message"), TELLING.items())
def test_a_line_that_tells_the_cause(line: str, message: str | None) -> None:
    assert said(line) == (Weight.TELLING, message or anonymous(line))


@pytest.mark.parametrize(("line", "message"), SECOND_HAND.items())
def test_a_line_that_repeats_the_cause(line: str, message: str) -> None:
    assert said(line) == (Weight.SECOND_HAND, anonymous(message))


@pytest.mark.parametrize("line", VAGUE)
def test_a_line_that_says_that_something_went_wrong(line: str) -> None:
    assert said(line) == (Weight.VAGUE, line)


@pytest.mark.parametrize("line", NOTHING)
def test_a_line_that_says_nothing_of_the_kind(line: str) -> None:
    assert error_line(line) is None


@pytest.mark.parametrize(
    "line", ["make: *** [Makefile:3: test] Error 1", "npm error command sh -c x", "FAILED a.py::b - At..."]
)
def test_a_line_that_hides_what_it_stands_for(line: str) -> None:
    assert said(line) == (Weight.VAGUE, None)
