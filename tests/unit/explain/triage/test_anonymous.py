import pytest

from nemo_gym.rollout_compare.explain.triage.anonymous import anonymous

EXAMPLES = {
    "row 5 of -12 is 3.14e-5, not 1,234": "row <n> of <n> is <n>, not <n>",
    "x-5 row_8271 int64 utf-8": "x-<n> row_<n> int<n> utf-<n>",
    "error E0308 TS2304 C2065 E5 X123456": "error E0308 TS2304 C2065 E<n> X<n>",
    "exit code 137, exit status 1, Errno 2, HTTP/1.1": "exit code 137, exit status 1, Errno 2, HTTP/1.1",
    "status code: 404 status=500 signal 9 HTTP 200": "status code: 404 status=500 signal 9 HTTP 200",
    "exit code 13755": "exit code <n>",
    "at /app/a.py:12:5 and ./b and ../c/d and ~/e": "at <path> and <path> and <path> and <path>",
    "in src/a.py:3 and a/b/c and C:\\a\\b.c": "in <path> and <path> and <path>",
    "and/or @scope/lib example.com/lib/x n/a": "and/or @scope/lib example.com/lib/x n/a",
    "main.c and data.csv": "main.c and data.csv",
    "http://localhost:8080/x?y=1 and s3://a/b": "<url> and <url>",
    "at 0x7f3c5d <a.B object at 0xFF>": "at <hex> <a.B object at <hex>>",
    "commit 3f9c2d1e of deadbeef and 1234567": "commit <hex> of deadbeef and <n>",
    "job a81bc81b-dead-4e5d-abff-90865d1e13b1": "job <id>",
    "abcdefghijk12": "abcdefghijk<n>",
    "pod Xk29dLq0Pz7w": "pod <id>",
    "2026-01-02T03:04:05.678Z 2026-01-02 03:04 2026-01-02": "<time> <time> <time>",
    "at 12:34:56,789 for 0.35s or 1m30s or 15ms": "at <time> for <time> or <time> or <time>",
    "to 127.0.0.1:8080 or 10.0.0.1": "to <addr> or <addr>",
    "localhost:8080": "localhost:<n>",
    "version 1.2.3.4.5": "version <n>",
    "dir tmpab12cd_4 file tmp.Xy12abCD tmpfile": "dir <tmp> file <tmp> tmpfile",
    "No module named 'numpy.linalg'": "No module named 'numpy.linalg'",
    "key 'user_8271' and \"user_5\"": "key 'user_<n>' and 'user_<n>'",
    "got 'two words' and \u2018one\u2019": "got '<value>' and 'one'",
    "at \"/a b/c\" and 'C:\\a b'": "at '<path>' and '<path>'",
    "b'/app/x' u'a'": "'<path>' 'a'",
    "can't and don't": "can't and don't",
    "assert 'a' == \"b\"": "assert '<value>' == '<value>'",
    "AssertionError: 'a' != 'b'": "AssertionError: '<value>' != '<value>'",
    "AssertionError: assert 1 == 2": "assert <n> == <n>",
    "[1, 2, 3] ['a', 'b c', 'd e']": "[<n>] ['a', '<value>']",
    "`left == 5` failed": "`left == <n>` failed",
    "  a \t b  ": "a b",
    "512MiB of 3rd": "<n>MiB of <n>rd",
    "": "",
}


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.items())
def test_what_varies_is_replaced(text: str, expected: str) -> None:
    assert anonymous(text) == expected


@pytest.mark.parametrize("text", EXAMPLES.values())
def test_twice_is_the_same_as_once(text: str) -> None:
    assert anonymous(text) == text
