import os
import subprocess
import sys

import pytest

from nemo_gym.rollout_compare.explain.triage import read_test_file, read_tests
from nemo_gym.rollout_compare.explain.triage.junit import read_junit
from tests.triage_support import SAMPLES, sample, words

DATA = (SAMPLES / "junit/pytest.xml").read_bytes()


def test_a_report() -> None:
    results = read_test_file("/logs/Report.XML", DATA)

    assert results is not None
    by_text = words(read_tests(sample("pytest/verbose.txt")))
    assert words(results) == {
        name.replace("/", ".").replace(".py::", ".").replace("::", "."): outcome for name, outcome in by_text.items()
    }
    assert results.naming == "junit"
    assert not results.truncated


@pytest.mark.parametrize("size", range(600, len(DATA), 500))
def test_a_report_that_is_cut_off_gives_the_tests_before_the_cut(size: int) -> None:
    results = read_junit(DATA[:size])

    assert results is not None
    assert words(results).items() <= words(read_junit(DATA)).items()
    assert results.truncated


@pytest.mark.parametrize(
    ("case", "name", "outcome"),
    [
        ('<testcase name="a"/>', "a", "passed"),
        ('<testcase classname="T" name="a"><system-out>failure</system-out></testcase>', "T.a", "passed"),
        ('<testcase classname="a" name="a"/>', "a", "passed"),
        ('<testcase classname="T"/>', "T", "passed"),
        ('<testcase name="a"><failure/></testcase>', "a", "failed"),
        ('<testcase name="a"><failure/><error/></testcase>', "a", "error"),
        ('<testcase name="a"><skipped/></testcase>', "a", "skipped"),
        ('<testcase name="a"><skipped/><failure/></testcase>', "a", "failed"),
        ('<testcase name="a" status="notrun"/>', "a", "skipped"),
        ('<testcase name="a" status="run"/>', "a", "passed"),
        ('<testcase name="a"><flakyFailure><failure/></flakyFailure></testcase>', "a", "passed"),
        ('<testcase name="a"><x><testcase name="b"/></x></testcase>', "a", "passed"),
        ('<testcase name="a&#10;&#8238;b&#x9;"/>', "a\\n\\u202eb", "passed"),
        ('<testsuite><testsuite><testcase name="a"/></testsuite></testsuite>', "a", "passed"),
    ],
)
def test_a_case(case: str, name: str, outcome: str) -> None:
    for start, end in [("<testsuite>", "</testsuite>"), ('<testsuites xmlns="urn:x">', "</testsuites>")]:
        results = read_junit(f"{start}{case}{end}".encode())

        assert results is not None
        assert words(results) == {name: outcome}
        assert not results.truncated


BOMB = """<?xml version="1.0"?>
<!DOCTYPE testsuite [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<testsuite><testcase name="&c;"/></testsuite>"""
OUTSIDE = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="a"/>&e;</testsuite>'
DTD = '<!DOCTYPE testsuite SYSTEM "http://localhost/x.dtd"><testsuite><testcase name="a"/></testsuite>'


@pytest.mark.parametrize("document", [BOMB, OUTSIDE, DTD], ids=["entity bomb", "outside entity", "outside DTD"])
def test_a_document_type_is_refused(document: str) -> None:
    assert read_junit(document.encode()) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff",
        b"<html><testcase name='a'/></html>",
        b"<testsuite/>",
        b"<testsuite><testcase/></testsuite>",
        b"<testsuite><testcase name='a'>",
        b"<?xml version='1.0' encoding='nobody-knows'?><testsuite><testcase name='a'/></testsuite>",
        b"<?xml version='1.0' encoding='shift_jis'?><testsuite><testcase name='a'/></testsuite>",
        b"<testsuite>" * 100 + b"<testcase name='a'/>",
    ],
)
def test_a_file_without_tests(data: bytes) -> None:
    assert read_junit(data) is None


def test_depth_has_an_end() -> None:
    data = b"<testsuite>" + b"<testcase name='a'/>" + b"<a>" * 1000

    results = read_junit(data)

    assert results is not None
    assert results.truncated


def test_the_xml_library_is_imported_late() -> None:
    code = "import sys, nemo_gym.rollout_compare.explain.triage; sys.exit('defusedxml' in sys.modules)"

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    assert subprocess.run([sys.executable, "-c", code], check=False, env=environment).returncode == 0
