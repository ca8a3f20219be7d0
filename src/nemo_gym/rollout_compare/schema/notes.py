"""What a reader must know to trust the numbers, as facts: `report/notes.py` has the words for each kind."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from nemo_gym.rollout_compare.schema.errors import Fault
from nemo_gym.rollout_compare.schema.side import Side


class NoteKind(StrEnum):
    """What a note says. Each kind has one row in the table of words, and one in the documents."""

    SAME_FILE = "same_file"
    CHANGED_WHILE_READ = "changed_while_read"
    LINES_LEFT_OUT = "lines_left_out"
    NO_ROWS = "no_rows"
    NO_REWARD = "no_reward"
    KEY = "key"
    DOUBTFUL_KEY = "doubtful_key"
    TASKSETS_JOIN = "tasksets_join"
    PLAIN_IDS_JOIN = "plain_ids_join"
    OTHER_TASKSETS = "other_tasksets"
    AMBIGUOUS_IDS = "ambiguous_ids"
    OTHER_INPUT = "other_input"
    NOTHING_JOINED = "nothing_joined"
    FIRST_TASKS = "first_tasks"
    ALIKE = "alike"
    REPEATED_ATTEMPTS = "repeated_attempts"
    ONE_TASK = "one_task"
    UNRECORDED = "unrecorded"
    READER = "reader"
    SEVERAL_ROWS = "several_rows"
    OTHER_ATTEMPTS = "other_attempts"
    TESTS_DIFFER = "tests_differ"
    NO_OUTPUT = "no_output"
    NO_LONGER_FLIPS = "no_longer_flips"


class KeyKind(StrEnum):
    """What sort of identity a key gives."""

    FIELD = "field"
    PLANNED = "planned"
    INPUT = "input"
    INDEX = "index"


class FaultKind(StrEnum):
    """What is wrong with a field that might have been the key."""

    MERGES = "merges"
    SHARED_INPUT = "shared_input"
    SEVERAL_INPUTS = "several_inputs"
    NOTHING_IN_COMMON = "nothing_in_common"
    PASSED_OVER = "passed_over"


class KeyFault(Struct, frozen=True):
    """Why a field is not the key, or should not be.

    Attributes:
        kind: What is wrong.
        value: MERGES: the value that most inputs share, as it is called.
        rows: MERGES: how many rows share it.
        inputs: MERGES: how many different inputs these rows have.
        by: SHARED_INPUT and SEVERAL_INPUTS: the field that says so.
    """

    kind: FaultKind
    value: str = ""
    rows: int = 0
    inputs: int = 0
    by: str = ""


class PassedKey(Struct, frozen=True):
    """A field that was asked before the key, and why it is not the key.

    Attributes:
        field: The field.
        fault: Why it is not the key.
    """

    field: str
    fault: KeyFault


Twins: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""Labels of the old run, and those of the new run that look like them."""


class Note(Struct, frozen=True):
    """Something a reader must know to trust the numbers. Which fields a kind fills in is said by its words.

    Attributes:
        kind: What it says.
        side: The run that it is about; None where that is both.
        tasks: The tasks that it is about.
        path: The file that it is about.
        field: The field that it is about, a dotted path; NO_REWARD: the one that the user named, if any; READER:
            what the producer's reader says of the run.
        number: How many there are of what it counts.
        total: How many there could have been.
        fewest: The smallest number of attempts at a task.
        most: The largest.
        tasksets: The old run's and the new run's tasksets, empty where they do not matter.
        key: What sort of key the field is.
        passed: The fields that were asked before it.
        fault: What is wrong with it.
        lines: The first of the lines that were left out.
        twins: Labels that look alike.
        rewards: Fields that could be meant as the reward, each with how many of the first rows carry it.
    """

    kind: NoteKind
    side: Side | None = None
    tasks: tuple[str, ...] = ()
    path: str = ""
    field: str = ""
    number: int = 0
    total: int = 0
    fewest: int = 0
    most: int = 0
    tasksets: Twins = ((), ())
    key: KeyKind = KeyKind.FIELD
    passed: tuple[PassedKey, ...] = ()
    fault: KeyFault | None = None
    lines: tuple[Fault, ...] = ()
    twins: tuple[Twins, ...] = ()
    rewards: tuple[tuple[str, int], ...] = ()
