"""The words for facts of a result, for the report and for JSON: notes, one row a kind, and repeats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nemo_gym.rollout_compare.schema import FaultKind, KeyFault, KeyKind, Note, NoteKind, Repeats, Side
from nemo_gym.rollout_compare.text import counted, first_of


def note_text(note: Note) -> str:
    """The note in full, with every task that it is about."""
    about = note_names(note)
    return f"{note_message(note)}: {', '.join(about)}" if about else note_message(note)


def note_message(note: Note) -> str:
    """What the note says, without the tasks that it is about."""
    return WORDS[note.kind](note)


def note_names(note: Note) -> Sequence[str]:
    """The tasks or tasksets that the note is about, as it names them."""
    if note.kind in (NoteKind.TASKSETS_JOIN, NoteKind.PLAIN_IDS_JOIN):
        return _own_tasksets(note)
    if note.kind is NoteKind.ALIKE:
        return [f"{_quoted(old)} and {_quoted(new)}" for old, new in note.twins]
    return note.tasks


def _own_tasksets(note: Note) -> tuple[str, ...]:
    old, new = note.tasksets
    return old if note.side is Side.OLD else new


def _quoted(labels: Sequence[str]) -> str:
    return ", ".join(map(repr, labels))


def _who(note: Note, one: str, both: str) -> str:
    """The run that a note is about, with its verb: `the old run is`, `both runs are`."""
    return f"the {note.side} run {one}" if note.side else f"both runs {both}"


def _left_out(note: Note) -> str:
    if note.field:
        lines = f"{counted(note.number, note.field)} that cannot be read {'was' if note.number == 1 else 'were'}"
    else:
        lines = "1 line that is not a row was" if note.number == 1 else f"{note.number} lines that are not rows were"
    named = first_of(list(map(str, note.lines)), len(note.lines), note.number)
    return f"{note.path}: {lines} left out: {named}"


def _key(note: Note) -> str:
    passed = "; ".join(f"{one.field}: {_passed_fault(one.fault)}" for one in note.passed)
    why = passed or "no field that usually names the task is on every row"
    return f"{_who(note, 'is', 'are')} joined by {_described(note)} ({why})"


def _no_reward(note: Note) -> str:
    lacking = note.field or "reward"
    said = f"no row of the {note.side} run has a {lacking!r}, which is a number: all of its tasks are masked"
    if not note.rewards:
        return said
    of = f" (rows of the first {note.total:,})" if note.total else ""
    fields = first_of([f"{field} ({counted(count, 'row')})" for field, count in note.rewards])
    return f"{said}; if another field is meant, name it with --reward{of}: {fields}"


def _doubtful_key(note: Note) -> str:
    assert note.fault
    who = _who(note, "is", "are")
    fault = _fault(note.fault)
    return f"{who} joined by {note.field}, which may be wrong: {fault}, and no other field tells its tasks apart"


def _described(note: Note) -> str:
    return {
        KeyKind.FIELD: "{}",
        KeyKind.PLANNED: "{} of the rows planned in the materialized inputs",
        KeyKind.INPUT: "the task input, what the system was asked",
        KeyKind.INDEX: "{}, the position in the input file, under which both runs were asked the same",
    }[note.key].format(note.field)


def _passed_fault(fault: KeyFault) -> str:
    if fault.kind is FaultKind.PASSED_OVER:
        return "passed over"
    if fault.kind is FaultKind.NOTHING_IN_COMMON:
        return "by it the runs share no task"
    return f"rejected, {_fault(fault)}"


def _fault(fault: KeyFault) -> str:
    if fault.kind is FaultKind.SHARED_INPUT:
        return f"rows with different {fault.by} share an input"
    if fault.kind is FaultKind.SEVERAL_INPUTS:
        return f"rows with one {fault.by} have different inputs"
    return f"{fault.rows} rows share {fault.value!r} with {fault.inputs} different inputs"


def _tasksets(how: str) -> Callable[[Note], str]:
    return lambda note: f"{how}; the {note.side} run names {len(_own_tasksets(note))} tasksets"


def _other_tasksets(note: Note) -> str:
    both = "; ".join(f"{side} {', '.join(names)}" for side, names in zip(Side, note.tasksets, strict=True))
    return f"the runs name different tasksets, and tasks join by their ids alone: {both}"


def _nothing_joined(note: Note) -> str:
    hint = f"; if both read the same inputs file, --key {note.field} joins them by the position there"
    return "the runs have no task in common" + (hint if note.field else "")


def _repeated_attempts(note: Note) -> str:
    stand = "stands" if note.number == 1 else "stand"
    where = "in several files" if note.field else "more than once in one file"
    return f"{counted(note.number, 'attempt')} of the {note.side} run {stand} {where}; every row counts"


def _several_rows(note: Note) -> str:
    attempts = f"{note.fewest}" if note.fewest == note.most else f"{note.fewest} to {note.most}"
    shape = f"{counted(len(note.tasks), 'task')} x {attempts} attempts"
    return f"{_who(note, 'has', 'have')} several rows a task ({shape}), compared by their mean reward"


def _other_attempts(note: Note) -> str:
    have = "has" if note.number == 1 else "have"
    tasks = counted(note.total, "joined task")
    return f"{note.number} of {tasks} {have} different numbers of attempts on the two sides"


def _unrecorded(note: Note) -> str:
    attempts = counted(note.number, "planned attempt")
    where = f"{note.path}: {attempts}" if note.path else f"{attempts} of the {note.side} run"
    return f"{where} left no record: killed or never started"


def _tests_differ(note: Note) -> str:
    limit = f" (of the first {note.total} such tasks)" if note.total else ""
    return f"equal rewards, but single tests differ{limit}"


#: What each kind of note says. Its tasks come after a colon.
WORDS: dict[NoteKind, Callable[[Note], str]] = {
    NoteKind.SAME_FILE: lambda note: f"{note.path} is read for both runs: it is compared with itself",
    NoteKind.CHANGED_WHILE_READ: lambda note: f"{note.path} changed while it was read: the run may still be writing",
    NoteKind.LINES_LEFT_OUT: _left_out,
    NoteKind.NO_ROWS: lambda note: f"the {note.side} run has no rows",
    NoteKind.NO_REWARD: _no_reward,
    NoteKind.KEY: _key,
    NoteKind.DOUBTFUL_KEY: _doubtful_key,
    NoteKind.TASKSETS_JOIN: _tasksets("tasks join within their taskset"),
    NoteKind.PLAIN_IDS_JOIN: _tasksets("plain ids join where they can mean one task only"),
    NoteKind.OTHER_TASKSETS: _other_tasksets,
    NoteKind.AMBIGUOUS_IDS: lambda _: "ids that several tasksets share stay under TASKSET/ID and join no plain id",
    NoteKind.OTHER_INPUT: lambda note: f"same id, different task {note.field or 'input'}",
    NoteKind.NOTHING_JOINED: _nothing_joined,
    NoteKind.FIRST_TASKS: lambda note: f"first {note.side} tasks by {note.field}",
    NoteKind.ALIKE: lambda _: "missing on both sides, but alike save for case, spaces or Unicode form",
    NoteKind.REPEATED_ATTEMPTS: _repeated_attempts,
    NoteKind.ONE_TASK: lambda note: f"every row of the {note.side} run has one task by {note.field}",
    NoteKind.UNRECORDED: _unrecorded,
    NoteKind.READER: lambda note: f"{note.path}: {note.field}",
    NoteKind.SEVERAL_ROWS: _several_rows,
    NoteKind.OTHER_ATTEMPTS: _other_attempts,
    NoteKind.TESTS_DIFFER: _tests_differ,
    NoteKind.NO_OUTPUT: lambda _: "no flip has verifier output on either side, so why they flipped is not known",
    NoteKind.NO_LONGER_FLIPS: lambda _: "allowed, but does not flip any more",
}

#: Notes of which the report leaves the tasks to the JSON: they may be all tasks.
TASKS_IN_JSON_ONLY = frozenset({NoteKind.SEVERAL_ROWS})


def solved_text(repeats: Repeats) -> tuple[str, str]:
    """How many of its attempts each side solved: `3/4`."""
    return f"{repeats.old_solved}/{repeats.old_attempts}", f"{repeats.new_solved}/{repeats.new_attempts}"
