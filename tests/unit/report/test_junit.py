"""JUnit XML: what fails, what is skipped, and that nothing in the data breaks it."""

from __future__ import annotations

from xml.etree.ElementTree import Element, fromstring

from nemo_gym.rollout_compare import CompareResult, compare_rollouts, explain_flips
from nemo_gym.rollout_compare.report.junit import junit_lines

HOSTILE = "</testcase>&<![CDATA[]]>\"'\x00\x1b[31m\ufffe\ud800\u202e"


def parsed(result: CompareResult) -> Element:
    lines = "\n".join(junit_lines(result, "gym dev compare"))
    return fromstring(lines.encode("utf-8", "backslashreplace"))  # noqa: S314  # our own


def test_lost_flips_fail_and_what_does_not_count_is_skipped() -> None:
    old = [
        {"task_id": task, "reward": reward}
        for task, reward in (("same", 1.0), ("won", 0.0), ("masked", 1.0), ("gone", 1.0))
    ]
    old.append({"task_id": "lost", "reward": 1.0, "test_output": "PASSED t.py::a"})
    new = [{"task_id": task, "reward": reward} for task, reward in (("same", 1.0), ("won", 1.0), ("masked", None))]
    new.append({"task_id": "lost", "reward": 0.0, "error": "Boom", "test_output": "FAILED t.py::a\nE   ValueError: x"})
    root = parsed(explain_flips(compare_rollouts(old, new), []))
    suite = root[0]
    assert suite.attrib == {"name": "gym dev compare", "tests": "5", "failures": "1", "errors": "0", "skipped": "2"}
    cases = {case.attrib["name"]: case for case in suite}
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "gone": ["skipped"],
        "lost": ["failure"],
        "masked": ["skipped"],
        "same": [],
        "won": [],
    }
    assert cases["masked"][0].attrib["message"] == "new no reward"
    assert cases["gone"][0].attrib["message"] == "only in the old run"
    failure = cases["lost"][0]
    assert failure.attrib == {"type": "flipped_agent_error", "message": "old=1.0 new=0.0; ValueError: x"}
    assert (failure.text or "").strip().splitlines() == [
        "agent error: error: Boom",
        "broken tests (1):",
        "t.py::a",
        "new verifier output: row field 'test_output'",
        "FAILED t.py::a",
        "E   ValueError: x",
    ]


def test_a_result_without_findings_is_told_all_the_same() -> None:
    result = compare_rollouts([{"task_id": "a", "reward": 1.0}], [{"task_id": "a", "reward": 0.0}])
    (case,) = parsed(result)[0]
    assert case[0].attrib["message"] == "old=1.0 new=0.0"


def test_hostile_text_stays_text() -> None:
    old = [{"task_id": HOSTILE, "reward": 1.0, "test_output": "ok"}]
    new = [{"task_id": HOSTILE, "reward": 0.0, "test_output": f"FAILED {HOSTILE}", "error": HOSTILE}]
    (case,) = parsed(explain_flips(compare_rollouts(old, new), []))[0]
    assert case.attrib["name"] == "</testcase>&<![CDATA[]]>\"'\\x00?\\ud800\\u202e"
    assert [child.tag for child in case] == ["failure"]
