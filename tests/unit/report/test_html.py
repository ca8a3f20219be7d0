"""The page as a file: its policy, its data, its size. What it does is tried in tests/browser."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from nemo_gym.rollout_compare import CompareResult, compare_files, compare_rollouts, explain_flips
from nemo_gym.rollout_compare.compare import Questions
from nemo_gym.rollout_compare.explain import with_transcripts
from nemo_gym.rollout_compare.report.html import safe
from nemo_gym.rollout_compare.report.html.contents import contents
from nemo_gym.rollout_compare.report.html.page import page
from nemo_gym.rollout_compare.schema import Cluster, Step, Transcripts
from tests.support import write_rows

MB = 1_000_000


def flips(count: int, label: str = "task") -> CompareResult:
    old, new = (
        [{"task_id": f"{label}-{i}", "reward": reward, "test_output": f"{word} t.py::a"} for i in range(count)]
        for reward, word in ((1.0, "PASSED"), (0.0, "FAILED"))
    )
    return explain_flips(compare_rollouts(old, new), [])


def data_of(text: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data: dict[str, Any] = json.loads(found)
    return data


def test_the_policy_allows_the_page_s_own_script_and_style_alone() -> None:
    text = page(flips(2), "x", MB).decode()
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', text)
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    *_, script = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    hashes = [b64encode(sha256(part.encode()).digest()).decode() for part in (script, style)]
    assert policy.split("; ")[:3] == [
        "default-src 'none'",
        *(f"{kind}-src 'sha256-{one}'" for kind, one in zip(("script", "style"), hashes, strict=True)),
    ]
    assert "unsafe" not in policy
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"):
        assert word not in script


def test_no_text_of_a_run_stands_outside_the_data() -> None:
    hostile = "</script><img src=x>{{script}}\u2028\ud800"
    text = page(flips(1, hostile), hostile, MB).decode()
    assert "<img" not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert data_of(text)["tasks"][0][0] == "</script><img src=x>{{script}}\\u2028\\ud800-0"


def test_clusters_stand_as_in_the_report_the_one_sided_first_and_forms_as_forms() -> None:
    clusters = (
        Cluster("timed out", 2, 1, ("task-0", "task-1", "task-2")),
        Cluster("HTTP 502", 2, 0, ("task-3", "task-4")),
        Cluster("assert <n> == <n>", 1, 1, ("task-5", "task-6")),
    )
    result = replace(flips(7), clusters=clusters)
    assert contents(result, "x")["clusters"] == [
        ["HTTP 502", [3, 4], False],
        ["timed out", [0, 1, 2], False],
        ["assert <n> == <n>", [5, 6], True],
    ]


def test_transcripts_are_left_out_before_verifier_output() -> None:
    result = flips(3)
    steps = (Step("assistant", "y" * 30_000, "bash", '{"a": 1}', "z"),)
    result = replace(result, transcripts={f"task-{i}": Transcripts(steps, steps, ((0, 0),)) for i in range(3)})
    whole = data_of(page(result, "x", MB).decode())
    assert sorted(whole["transcripts"]) == ["0", "1", "2"]
    assert whole["left_out"] == []
    assert whole["transcripts"]["0"]["old"][0][1] == "y" * 30_000
    some = data_of(page(result, "x", 80_000).decode())
    assert sorted(some["transcripts"]) == ["0"]
    assert some["left_out"] == [
        "The transcripts of 2 flips were left out to keep the page small; --html-limit keeps more."
    ]
    assert some["flips"]["2"]["new"]["lines"] == ["FAILED t.py::a"]
    least = data_of(page(result, "x", 10).decode())
    assert least["transcripts"] == {}
    assert least["left_out"][0] == "The verifier output of 3 flips was left out to keep the page small."
    assert [least["flips"][i]["new"]["lines"] for i in "012"] == [[], [], []]


def test_verifier_output_is_left_out_from_the_last_flip_on_until_there_is_room() -> None:
    old, new = ([{"task_id": f"t{i}", "reward": reward} for i in range(4)] for reward in (1.0, 0.0))
    for row in new[:3]:
        row["test_output"] = "1 failed"
    result = explain_flips(compare_rollouts(old, new), [])
    size = len(safe.as_json(contents(result, "x")).encode())
    whole, some, less = (data_of(page(result, "x", limit).decode()) for limit in (size, size - 1, size - 13))
    lines = [[told["flips"][str(i)]["new"]["lines"] for i in range(4)] for told in (whole, some, less)]
    kept = ["1 failed"]  # 12 bytes as JSON, so that leaving one out makes room for 12
    assert lines == [[kept, kept, kept, []], [kept, kept, [], []], [kept, [], [], []]]
    assert [told["left_out"] for told in (whole, some, less)] == [
        [],
        ["The verifier output of 1 flip was left out to keep the page small."],
        ["The verifier output of 2 flips was left out to keep the page small."],
    ]


def test_a_result_without_figures_has_a_page() -> None:
    result = replace(flips(1), statistics=None)
    assert data_of(page(result, "x", MB).decode())["head"]["verdict"] == "1 task"


def test_data_can_end_no_block() -> None:
    assert safe.as_json(["</script>&"]) == '["\\u003c/script\\u003e\\u0026"]'


def test_what_inputs_say_is_not_taken_apart() -> None:
    """An arrow or a colon in a setting, a group or an act is theirs; the page's own word between values is `to`."""

    def row(reward: float, text: str) -> dict[str, Any]:
        call = {"type": "function_call", "name": "a: b -> c", "arguments": f'{{"x": "{text}"}}'}
        asked = {"input": "x", "tool_choice": f"{text}: {text} -> {text}"}
        told = {"responses_create_params": asked, "response": {"output": [call]}, "kind": "k: a -> b"}
        return {"task_id": "t: 1 -> 2", "reward": reward, **told}

    result = compare_rollouts([row(1, "one")], [row(0, "two")], questions=Questions(by=("kind",)))
    told = contents(with_transcripts(explain_flips(result, [])), "x")
    assert told["changes"] == [["tool_choice", "one: one -> one to two: two -> two"]]
    assert told["settings"] == told["changes"]
    assert told["groups"] == [["kind", ["k: a -> b"], [0]]]
    assert told["flips"]["0"]["settings"] == [0]
    assert told["flips"]["0"]["parted"] == [
        "parted at step 1 of 1 and 1",
        'old a: b -> c "one"',
        'new a: b -> c "two"',
    ]
    assert told["head"]["means"] == "100% to 0% (-100 points)"
    assert told["about"] == [
        ["old", "1 row"],
        ["new", "1 row"],
        ["join key", "old=task_id, new=task_id"],
        ["join check", "1 of 1 input agrees"],
    ]


def test_options_that_were_given_several_times_are_named_as_often(tmp_path: Path) -> None:
    sides = [
        write_rows(tmp_path / f"{side}.jsonl", [{"task_id": "a", "reward": 1, "x": "1"}]) for side in ("old", "new")
    ]
    told = contents(compare_files(*sides, by=["x", "task_id"], tolerance=0.5), "x")
    assert ["options", "tolerance=0.5, by=x, by=task_id"] in told["about"]


def test_a_setting_that_many_flips_share_is_kept_once() -> None:
    old, new = (
        [
            {"task_id": str(i), "reward": reward, "responses_create_params": {"input": "x", "temperature": value}}
            for i in range(50)
        ]
        for reward, value in ((1, 1.0), (0, 0.5))
    )
    told = contents(compare_rollouts(old, new), "x")
    assert told["settings"] == [["temperature", "1.0 to 0.5"]]
    assert all(flip["settings"] == [0] for flip in told["flips"].values())
