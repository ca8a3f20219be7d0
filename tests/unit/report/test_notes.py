"""Every kind of note has words, and says what differs in it."""

from __future__ import annotations

import pytest

from nemo_gym.rollout_compare.report.notes import WORDS, note_message, note_names, note_text
from nemo_gym.rollout_compare.schema import Fault, KeyKind, Note, NoteKind, Side


def test_every_kind_has_words_and_nothing_else_has() -> None:
    assert set(WORDS) == set(NoteKind)


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note(NoteKind.SAME_FILE, path="a.jsonl"), "a.jsonl is read for both runs: it is compared with itself"),
        (Note(NoteKind.NO_ROWS, Side.NEW), "the new run has no rows"),
        (
            Note(NoteKind.UNRECORDED, Side.OLD, number=1),
            "1 planned attempt of the old run left no record: killed or never started",
        ),
        (
            Note(NoteKind.UNRECORDED, Side.OLD, number=2),
            "2 planned attempts of the old run left no record: killed or never started",
        ),
        (
            Note(NoteKind.KEY, field="id", key=KeyKind.PLANNED),
            (
                "both runs are joined by id of the rows planned in the materialized inputs "
                "(no field that usually names the task is on every row)"
            ),
        ),
        (Note(NoteKind.NOTHING_JOINED), "the runs have no task in common"),
        (
            Note(NoteKind.LINES_LEFT_OUT, path="f", number=2, lines=(Fault(3, "bad"),)),
            "f: 2 lines that are not rows were left out: line 3 (bad) and 1 more",
        ),
        (
            Note(NoteKind.TASKSETS_JOIN, Side.NEW, tasksets=(("a", "b", "c"), ("d", "e"))),
            "tasks join within their taskset; the new run names 2 tasksets: d, e",
        ),
        (
            Note(NoteKind.ALIKE, twins=((("A",), ("a", "a ")),)),
            "missing on both sides, but alike save for case, spaces or Unicode form: 'A' and 'a', 'a '",
        ),
        (
            Note(NoteKind.TESTS_DIFFER, tasks=("t",), total=500),
            "equal rewards, but single tests differ (of the first 500 such tasks): t",
        ),
    ],
    ids=lambda value: value.kind if isinstance(value, Note) else "",
)
def test_a_note_says_what_it_is_about(note: Note, text: str) -> None:
    assert note_text(note) == text
    assert text.startswith(note_message(note))


def test_a_note_in_full_names_every_task() -> None:
    tasks = tuple(f"t{i}" for i in range(30))
    note = Note(NoteKind.OTHER_INPUT, tasks=tasks)
    assert list(note_names(note)) == list(tasks)
    assert note_text(note).endswith(": " + ", ".join(tasks))
