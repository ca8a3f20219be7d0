"""The comment: what it says, that it renders as meant, and that nothing in the data can act or break out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from nemo_gym.rollout_compare import CompareResult, compare_rollouts, explain_flips
from nemo_gym.rollout_compare.compare.questions import Questions
from nemo_gym.rollout_compare.report.markdown import LIMIT, code, markdown_lines, plain
from nemo_gym.rollout_compare.schema import Cluster
from tests.support import compare, write_rows

GFM = MarkdownIt("gfm-like", {"linkify": False, "html": True})

HOSTILE = [
    "<script>alert(1)</script>",
    "</details></details><h1>big</h1>",
    "| cell | `break` ``two`` |",
    "```\n# heading\n```",
    "@everyone #1 GH-2 https://example.invalid [x](javascript:alert(1)) ![i](http://x.invalid/y.png)",
    "-->",
    "`",
    "``",
    " ",
    "\\`\\",
    "\u202eevil\n\n# heading",
    "lone \ud800",
]


def comment(result: CompareResult) -> str:
    return "\n".join(markdown_lines(result, "gym dev compare")) + "\n"


def flips(count: int, text: str = "", labels: list[str] | None = None, *, explained: bool = True) -> CompareResult:
    names = labels or [f"task-{i}" for i in range(count)]
    old = [
        {"task_id": f"{name}~{i}", "reward": 1.0, "test_output": f"PASSED t.py::{name}"} for i, name in enumerate(names)
    ]
    new = [
        {
            "task_id": f"{name}~{i}",
            "reward": 0.0,
            "error": text,
            "test_output": f"FAILED t.py::{name}\n{text}\nE   {name}",
        }
        for i, name in enumerate(names)
    ]
    result = compare_rollouts(old, new)
    return explain_flips(result, []) if explained else result


def test_it_says_the_decision_first_then_counts_then_folded_flips() -> None:
    html = GFM.render(comment(flips(3)))
    assert html.startswith("<h3>cannot tell: ")
    assert re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", html) == [
        "identical", "flipped", "with agent error", "masked", "missing", "0", "3 (lost 3, won 0)", "0", "0", "0",
    ]  # fmt: skip
    assert re.findall("<summary>(.*?)</summary>", html)[-2:] == ["Flips (3)", "What was compared"]
    assert html.count("<details>") == html.count("</details>")
    assert "<code>task-0~0</code></strong>: old 1.0, new 0.0, old wins" in html
    assert '<code class="language-text">FAILED t.py::task-0\n' in html


def tags_of(html: str) -> set[str]:
    return set(re.findall(r"<(\w+)", html))


def test_clusters_stand_as_in_the_report_the_one_sided_first_and_forms_as_forms() -> None:
    clusters = (
        Cluster("timed out", 3, 2, tuple("abcde")),
        Cluster("HTTP 502", 3, 0, tuple("fgh")),
        Cluster("assert <n> == <n>", 0, 2, tuple("ij")),
        Cluster("alone", 1, 0, ("k",)),
    )
    text = comment(replace(flips(1), clusters=clusters))
    assert re.findall(r"^\* (\d.*)<br>", text, re.MULTILINE) == [
        "3 lost: `HTTP 502`",
        "2 won, same form of error: `assert <n> == <n>`",
        "3 lost, 2 won: `timed out`",
    ]


def test_hostile_text_stands_in_code_and_nowhere_else() -> None:
    result = flips(0, "\n".join(HOSTILE), HOSTILE)
    html = GFM.render(comment(result))
    assert tags_of(html) <= {
        "h3", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "p", "strong", "code", "pre", "details",
        "summary", "br",
    }  # fmt: skip
    outside = re.sub(r"<code[^>]*>.*?</code>", "", html, flags=re.DOTALL)
    for word in ("everyone", "alert", "example.invalid", "heading", "evil", "cell", "GH-2"):
        assert word not in outside, word
    assert html.count("<details>") == html.count("</details>") == outside.count("<details>")
    assert "\u202e" not in html


@given(st.text(st.sampled_from("`ab <|\\*_[]()@#\n~&")))
def test_code_is_the_text_itself(text: str) -> None:
    """Inline: whatever the text, one code span with it, white space at its ends and line ends as they are shown."""
    shown = text.replace("\n", "\\n") or "''"
    tokens = GFM.parseInline(f"a {code(text)} b")[0].children or []
    assert [token.type for token in tokens] == ["text", "code_inline", "text"]
    assert tokens[1].content.strip(" ") == shown.strip(" ")


@given(st.text(st.sampled_from("ab *_`[]()<>#+-.!|~$:/\\1@&")))
def test_a_sentence_renders_as_itself(text: str) -> None:
    html = GFM.render(f"* x{plain(text)}y")
    assert tags_of(html) <= {"ul", "li"}
    from html import unescape

    shown = unescape(re.sub("<[^>]*>", "", html)).strip().replace("\u200b", "")
    assert " ".join(shown.split()) == " ".join(f"x{text}y".split())


@pytest.mark.parametrize("count", [1, 100, 10_000])
def test_it_never_grows_beyond_its_limit_and_says_what_it_left_out(count: int) -> None:
    text = comment(flips(count, "long " * 90, explained=count <= 100))
    assert len(text) <= LIMIT
    left_out = re.search(r"Left out, because a comment has an end: (.*)\. `--html` or", text)
    assert (left_out is not None) == (count > 1)
    if left_out:
        shown = text.count("old wins")
        assert f"{count - shown} flips" in left_out[1]
    html = GFM.render(text)
    assert html.count("<details>") == html.count("</details>")


def test_it_can_be_printed_instead_of_the_report(tmp_path: Path) -> None:
    old, new = (
        write_rows(tmp_path / f"{n}.jsonl", [{"task_id": "a", "reward": r}]) for n, r in (("o", 1.0), ("n", 0.0))
    )
    done = compare(old, new, "--markdown", "-", "--json", tmp_path / "s.json", "--fail-on", "lost")
    assert done.stdout.startswith("### cannot tell")
    assert "**Gate: broken**: `lost` (`1`)" in done.stdout
    assert done.stderr == f"wrote {tmp_path / 's.json'}\ngate: lost: 1 task\n"
    compare(old, new, "--markdown", tmp_path / "c.md", "--fail-on", "lost")
    assert (tmp_path / "c.md").read_text() == done.stdout


def test_subsets_stand_in_a_block() -> None:
    rows = [{"task_id": f"t{i}", "reward": float(i % 2), "kind": "ab"[i // 12]} for i in range(24)]
    text = "\n".join(_subset_comment(rows))
    assert "```text\nby kind" in text


def _subset_comment(rows: list[dict[str, object]]) -> list[str]:
    from tempfile import TemporaryDirectory

    from nemo_gym.rollout_compare import compare_files

    with TemporaryDirectory() as folder:
        path = write_rows(Path(folder) / "r.jsonl", rows)
        return list(markdown_lines(compare_files(path, path, by=["kind"]), "x"))


def test_tables_of_very_many_groups_have_an_end_and_the_decision_stays() -> None:
    rows = [{"task_id": f"t{i}", "reward": float(i % 2), "kind": "ab"[i // 12]} for i in range(24)]
    result = compare_rollouts(rows, rows, questions=Questions(by=("kind",)))
    assert result.statistics is not None
    assert result.statistics.subsets is not None
    (subsets,) = result.statistics.subsets
    many = replace(subsets, groups=subsets.groups * 1000)
    text = comment(replace(result, statistics=replace(result.statistics, subsets=(many,) * 6)))
    assert text.startswith("### ")
    assert len(text) < LIMIT
    # Of each of 6 fields 2 lines above 2,000 groups, of which 20 are shown and the others counted: 138 lines.
    assert text.count("\n  a ") + text.count("\n  b ") == 4 * 20 + 6
    assert text.count("... and 1,980 more groups\n") == 4
    assert "\n... and 38 more lines\n```\n" in text
    assert "Left out" not in text


def test_a_section_of_which_not_even_the_head_has_room_is_left_out_and_counted() -> None:
    old = [{"task_id": f"m{i:04}", "reward": 1.0} for i in range(2000)] + [{"task_id": f"x{i}"} for i in range(3)]
    new = [{"task_id": f"m{i:04}", "reward": None} for i in range(2000)]
    text = comment(compare_rollouts(old, new))
    shown = text.count("\n* `m")
    assert 0 < shown < 2000
    assert len(text) <= LIMIT
    assert "<summary>Missing" not in text
    assert text.splitlines()[-1].startswith(
        f"Left out, because a comment has an end: {2000 - shown} masked tasks, 3 missing tasks, "
    )


def test_a_flip_that_nobody_explained_has_no_word_on_output() -> None:
    old, new = ([{"task_id": "t", "reward": reward, "test_output": "1 failed"}] for reward in (1.0, 0.0))
    plain_result = compare_rollouts(old, new)
    assert "**`t`**: old 1.0, new 0.0, old wins" in comment(plain_result)
    assert "verifier output" not in comment(plain_result)
    assert "new verifier output, `row field" in comment(explain_flips(plain_result, []))
