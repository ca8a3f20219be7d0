"""What `make golden` writes is what the tests then find right; what it cannot mend it names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import documents, rewrite, stories
from tests.documents import shows

STORY = "why-it-flipped"


@pytest.mark.parametrize(
    ("shown", "real", "made"),
    [
        ("a b", "a c d", "a c d"),
        ("a b ...", "a x b c d", "a x b ..."),
        ("... c d", "a b c d e", "... c d e"),
        ("... b c ...", "a b x c d", "... b x c ..."),
        ("a ... c d ... f", "a b c x d e f", "a ... c x d ... f"),
        ("a ... f g h", "a b b b f x h", "a ... f x h"),
        ("... b c d ...", "a b y d b c d x", "... b c d ..."),  # of two places the one that is more alike
        ("... b c ...", "a b x d", None),
        ("... b c ...", "a b", None),
        ("... b c", "b c", None),  # nothing is left out any more
        ("... b c d e ...", "a b 1 2 3 4 5 6 7 e f", None),  # hardly the same lines
    ],
)
def test_lines_that_were_left_out_stay_left_out(shown: str, real: str, made: str | None) -> None:
    found = rewrite.elided(shown.split(), real.split())
    assert found == (made.split() if made else None)
    assert found is None or shows(found, real.split())


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the golden stories, and a place for documents."""
    golden = tmp_path / "golden"
    shutil.copytree(stories.GOLDEN / STORY, golden / STORY)
    for module in (stories, rewrite):
        monkeypatch.setattr(module, "GOLDEN", golden)
    for module in (documents, rewrite):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path


def test_a_story_is_written_as_it_should_be(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = root / "golden" / STORY
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    (folder / "stdout").write_text("wrong")
    (folder / "code").write_text("7\n")
    (folder / "summary.json").unlink()
    assert rewrite.main(["golden", STORY]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"wrote golden/{STORY}/{name}" for name in ("stdout", "code", "summary.json")
    ]
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert rewrite.main(["golden"]) == 0
    assert capsys.readouterr().out == ""


DOCUMENT = """\
Text.

```console
$ rollout-compare old.jsonl none.jsonl
WHAT
$ echo $?
0
```

```jsonl old.jsonl
{"task_id": "a", "reward": 1}
```

```console
$ rollout-compare old.jsonl old.jsonl --quiet
rollout-compare: 1 task
...
missing 0
LAST
```
"""


def test_a_document_is_rewritten_but_for_what_a_person_must_choose(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_text(DOCUMENT)
    assert rewrite.main(["docs", "a.md"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "mend by hand: a.md:15: rollout-compare old.jsonl old.jsonl --quiet",
        "rewrote a.md:6: echo $?",
        "rewrote a.md:4: rollout-compare old.jsonl none.jsonl",
    ]
    error = "error: cannot read old.jsonl: No such file or directory"
    assert (root / "a.md").read_text() == DOCUMENT.replace("WHAT", error).replace("\n0\n", "\n1\n")
