import pytest

from nemo_gym.rollout_compare.explain.triage import read_test_file, read_tests, signature
from tests.triage_support import SAMPLES, words

SIZE = 2_000_000


def test_the_text_decides_who_reads_it() -> None:
    texts = {
        "pytest": "a.py::b PASSED",
        "unittest": "test_a (m.T) ... ok",
        "go": "--- PASS: TestA (0.00s)",
        "go-json": '{"Action": "pass", "Test": "TestA"}',
        "cargo": "test a ... ok",
    }

    for naming, text in texts.items():
        results = read_tests(text)
        assert results is not None
        assert results.naming == naming


def test_what_a_failed_test_of_pytest_shows_is_not_read_in_its_place() -> None:
    text = "a.py::b FAILED\n---- Captured stdout call ----\n--- PASS: TestA (0.00s)\ntest a ... ok\n"

    assert words(read_tests(text)) == {"a.py::b": "failed"}


@pytest.mark.parametrize("text", ["", "\n", "all is well", "score: 0.5", "\x1b[31m", "FAILED", "ok"])
def test_text_without_tests(text: str) -> None:
    assert read_tests(text) is None


def test_what_is_known_to_be_cut_is_truncated() -> None:
    text = "running 1 test\ntest a ... ok\ntest result: ok. 1 passed;\n"

    for cut in (False, True):
        results = read_tests(text, cut=cut)
        assert results is not None
        assert results.truncated is cut
    assert read_tests("", cut=True) is None


def test_colours_may_be_anywhere() -> None:
    assert words(read_tests("a.py::\x1b[1mb \x1b[32mPAS\x1b[0mSED")) == {"a.py::b": "passed"}


def test_names_cannot_forge_lines() -> None:
    results = read_test_file(
        "ctrf.json", b'{"results":{"tests":[{"name":"a\\nb\\u001b[31m\\ud800","status":"failed"}]}}'
    )

    assert words(results) == {"a\\nb\\ud800": "failed"}


@pytest.mark.parametrize("name", ["ctrf.json", "report.json", "a/b/CTRF.json", "C:\\logs\\ctrf.json"])
def test_a_file_is_known_by_its_name(name: str) -> None:
    assert read_test_file(name, (SAMPLES / "ctrf/ctrf.json").read_bytes()) is not None


@pytest.mark.parametrize("name", ["ctrf.json.bak", "xml", "test-stdout.txt", ""])
def test_a_file_of_an_unknown_name_is_not_read(name: str) -> None:
    assert read_test_file(name, (SAMPLES / "ctrf/ctrf.json").read_bytes()) is None


# Nothing here asserts a time: a pattern that tried its text again and again would not come to an end at all.
@pytest.mark.slow
@pytest.mark.parametrize(
    "char", ["a", "E", "0", " ", "\n", "\r", "\x1b", "\x9b", "[", "(", "'", '"', "{", "<", "/", ":", "\ud800"]
)
def test_millions_of_one_character(char: str) -> None:
    text = char * SIZE

    assert read_tests(text) is None
    assert signature(text) is None


@pytest.mark.parametrize("char", [b"a", b"[", b"{", b"<", b'"', b"0", b" ", b"\x00", b"\xff"])
def test_millions_of_one_byte(char: bytes) -> None:
    assert read_test_file("ctrf.json", char * SIZE) is None
    assert read_test_file("junit.xml", char * SIZE) is None


HOSTILE = {
    "pytest prefixes": "[ 5%] " * 100_000 + "PASSED",
    "pytest names": "PASSED " + "a.py::t[" * 100_000,
    "pytest dashes": "FAILED a.py" + " - [" * 100_000,
    "pytest words": "a.py::t[" + " PASSED" * 100_000,
    "pytest progress": "a.py::t PASSED" + " [ 1%]" * 100_000,
    "pytest counts": "PASSED a.py\n" + "1 passed, " * 100_000 + "in 0",
    "unittest names": "a (a.b) ... " * 100_000,
    "unittest parentheses": ("(" * 1000 + " ... \n") * 1000,
    "go marks": "--- PASS: " * 100_000,
    "go events": '{"Action":' + "[" * 1_000_000,
    "cargo": "test " + " ... " * 200_000,
    "escape sequences": "\x1b[" + "1;" * 500_000 + "\x1b]" * 500_000,
    "quotes": "error: " + "'a \"" * 200_000,
    "dots": "A." * 500_000 + "\n",
    "wide lines": ("a" * 10_000 + "\n") * 100,
    "errors": "Error" * 200_000,
    "places": "a:1:" * 200_000,
    "times": "error: " + "1m" * 500_000,
    "numbers": "error: " + "1," * 500_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_harmless(text: str) -> None:
    results = read_tests(text)

    assert results is None or all(name.isprintable() for name in results.outcomes)
    assert len(signature(text) or "") < 200
