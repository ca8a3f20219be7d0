import pytest

from nemo_gym.rollout_compare.explain.triage.errors import Weight, error_line

TELLING = {
    "ValueError: x": "ValueError: x",
    "json.decoder.JSONDecodeError: x": "json.decoder.JSONDecodeError: x",
    "subprocess.TimeoutExpired: Command 'a' timed out after 5 seconds": None,
    "KeyboardInterrupt": None,
    "AssertionError [ERR_ASSERTION]: a": None,
    'Exception in thread "main" java.lang.NullPointerException: x': "java.lang.NullPointerException: x",
    "Caused by: com.example.ShopException: x": "com.example.ShopException: x",
    "Uncaught TypeError: x is not a function": "TypeError: x is not a function",
    "a.py:3: ValueError: x": "ValueError: x",
    "error[E0308]: mismatched types": None,
    "error: no such option": "no such option",
    "ERROR: No matching distribution found for x": "No matching distribution found for x",
    "fatal: not a git repository": "not a git repository",
    "a.c:3:5: fatal error: a.h: No such file or directory": "a.h: No such file or directory",
    "src/a.ts(3,5): error TS2304: Cannot find name": "error TS2304: Cannot find name",
    "a.cs(1): error CS0103: x": "error CS0103: x",
    "C:\\a\\b.c:3: error: x": "x",
    "./main.go:5:2: undefined: foo": "undefined: foo",
    "main.c:(.text+0x5): undefined reference to `foo'": "undefined reference to `foo'",
    "a.out: a.c:3: main: Assertion `x == 3' failed.": "Assertion `x == 3' failed.",
    "panic: no": None,
    "note: test did not panic as expected at a.rs:1:1": "note: test did not panic as expected",
    "terminate called after throwing an instance of 'std::runtime_error'": None,
    "==123==ERROR: AddressSanitizer: heap-use-after-free": "AddressSanitizer: heap-use-after-free",
    "cat: /a/b: No such file or directory": None,
    "bash: line 3: ./a: Permission denied": "./a: Permission denied",
    "run.sh: line 3: ./a: Is a directory": "./a: Is a directory",
    "Connection timed out": None,
    "ssh: connect to host a port 22: Connection timed out": None,
    "bash: line 1: pytest: command not found": "command not found: pytest",
    "pytest: command not found": "command not found: pytest",
    "/bin/sh: 1: pytest: not found": "command not found: pytest",
    "sh: pytest: not found": "command not found: pytest",
    "/app/run.sh: 31: /usr/bin/pytest: not found": "command not found: pytest",
    "zsh: command not found: pytest": "command not found: pytest",
    "make: pytest: No such file or directory": "command not found: pytest",
    'exec: "pytest": executable file not found in $PATH': "command not found: pytest",
    "/usr/bin/env: \u2018node\u2019: No such file or directory": "command not found: node",
    "Out of memory: Killed process 5 (a)": "out of memory",
    "MemoryError": "out of memory",
    "x: Cannot allocate memory": "out of memory",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate": "CUDA out of memory",
    "Failed: Timeout (>10.0s) from pytest-timeout.": "timed out",
    "Test timed out after 900 seconds": "timed out",
    "timeout: sending signal TERM to command": "timed out",
    "Timeout: a": "timed out",
    "Killed": "killed",
    "bash: line 3:  123 Killed                  python a.py": "killed",
    "exit: signal: killed": "killed",
    "Segmentation fault (core dumped)": "segmentation fault",
    "signal arrived: SIGSEGV": "segmentation fault",
}

SECOND_HAND = {
    "FAILED a.py::b - KeyError: 'a' - b": "KeyError: 'a' - b",
    "ERROR a.py - ImportError: x": "ImportError: x",
    "a_test.go:19: got 4, want 5": "got 4, want 5",
    "tests/a.py:78: AssertionError": "AssertionError",
}

VAGUE = [
    "error: could not compile `a` (lib) due to 1 previous error",
    "collect2: error: ld returned 1 exit status",
    "error: test failed, to rerun pass `--lib`",
    "the answer is wrong",
    "page: not found",
    "make: *** [Makefile:3: test] Error 1",
    "curl: (22) The requested URL returned error: 404",
]

NOTHING = [
    "all is well",
    "1 failed, 3 passed in 0.1s",
    "3 tests passed",
    "FAILED (failures=1)",
    "FAILED",
    "FAIL: test_a (m.T)",
    "test result: FAILED. 1 passed; 3 failed",
    "test a ... FAILED",
    "--- FAIL: TestA (0.00s)",
    "=== FAILURES with an error ===",
    "no errors",
    "terrors",
]


@pytest.mark.parametrize(("line", "message"), TELLING.items())
def test_a_line_that_tells_the_cause(line: str, message: str | None) -> None:
    assert error_line(line) == (Weight.TELLING, message or line)


@pytest.mark.parametrize(("line", "message"), SECOND_HAND.items())
def test_a_line_that_repeats_the_cause(line: str, message: str) -> None:
    assert error_line(line) == (Weight.SECOND_HAND, message)


@pytest.mark.parametrize("line", VAGUE)
def test_a_line_that_says_that_something_went_wrong(line: str) -> None:
    assert error_line(line) == (Weight.VAGUE, line)


@pytest.mark.parametrize("line", NOTHING)
def test_a_line_that_says_nothing_of_the_kind(line: str) -> None:
    assert error_line(line) is None
