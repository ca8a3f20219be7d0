"""Which field is the key depends on neither the order of rows nor the sides, and a sound key is never left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import assume, given
from hypothesis import strategies as st

from nemo_gym.rollout_compare import Category, CompareInputError, compare_rollouts
from nemo_gym.rollout_compare.schema import Side, input_numbers, task_input
from tests.properties import PROPERTY
from tests.support import attempt, join_rows, rows_by_task

Row = dict[str, Any]
Rows = list[Row]

#: Section 4's candidates that the runs below carry, in their order, and further ones in theirs.
FIRST = ("_ng_task_id", "task_name", "verifier_metadata.id")
FIELDS = (*FIRST, "instance_id", "id", "responses_create_params.metadata.task_name")
INPUT = "responses_create_params.input"

NAMES = st.sampled_from(["a", "b", "c", 1, "1", {"taskset": "S", "task_id": "a"}])
INPUTS = st.sampled_from([None, "", "A?", "B?", "C?"])


@st.composite
def runs(draw: st.DrawFn, *, named: bool = False) -> Rows:
    """A few rows with any fields, inputs and indexes; most fields are on every row or on none.

    If the run is to be named, one of section 4's candidates is on every row, none before it is on any, and it goes
    with the inputs.
    """
    size = draw(st.integers(1, 6))
    fields: dict[str, list[Any]] = {}
    naming = draw(st.sampled_from(FIRST)) if named else None
    for path in FIELDS:
        if naming in FIELDS[FIELDS.index(path) + 1 :]:
            fields[path] = [None] * size
            continue
        kinds = ["every"] if path == naming else ["absent", "absent", "any", "every", "one", "own"]
        kind = draw(st.sampled_from(kinds))
        values = {
            "absent": st.none(),
            "any": st.none() | NAMES,
            "every": NAMES,
            "one": st.just(draw(st.sampled_from("ab"))),
            "own": st.nothing(),
        }[kind]
        own = list(range(size))
        fields[path] = own if kind == "own" else [draw(values) for _ in own]
    inputs = draw(st.lists(INPUTS, min_size=size, max_size=size) | st.just([f"{i}?" for i in range(size)]))
    if naming:
        inputs = [draw(st.sampled_from([None, plain_label(value)])) for value in fields[naming]]
    indexes = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size) | st.just([None] * size))
    return [
        attempt(inputs[i], indexes[i], draw(st.integers(0, 1)), {path: fields[path][i] for path in FIELDS}, number=i)
        for i in range(size)
    ]


class Outcome(NamedTuple):
    """The keys, and the numbers of each task's rows; nothing of either where the join is refused."""

    keys: tuple[str, ...] = ()
    tasks: Mapping[str, tuple[list[int], list[int]]] = {}


def outcome(old: Sequence[Row], new: Sequence[Row], **given: Any) -> Outcome:
    try:
        made = join_rows(old, new, **given)
    except CompareInputError:
        return Outcome()
    tasks = {
        label: (sorted(old[row]["number"] for row in pair[0]), sorted(new[row]["number"] for row in pair[1]))
        for label, pair in rows_by_task(made).items()
    }
    return Outcome(tuple(made.keys.values()), tasks)


@PROPERTY
@given(runs(), runs(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(old: Rows, new: Rows, shuffler: Any) -> None:
    assert outcome(shuffler.sample(old, len(old)), shuffler.sample(new, len(new))) == outcome(old, new)


@PROPERTY
@given(runs(), runs())
def test_it_does_not_matter_which_run_is_called_old(old: Rows, new: Rows) -> None:
    one, other = outcome(old, new), outcome(new, old)
    assert one.keys == other.keys[::-1]
    assert one.tasks == {label: pair[::-1] for label, pair in other.tasks.items()}


@PROPERTY
@given(runs(), runs(), st.data())
def test_a_field_that_names_no_task_changes_nothing(old: Rows, new: Rows, data: st.DataObject) -> None:
    more = st.dictionaries(
        st.sampled_from(
            ["name", "ID", "task", "verifier_metadata.task", "responses_create_params.temperature", "response.id"]
        ),
        st.sampled_from([0, 1.5, "a", None]),
    )
    changed = [[attempt(at=data.draw(more)) for _ in run] for run in (old, new)]
    merged = [
        [_merged(row, extra) for row, extra in zip(run, extras, strict=True)]
        for run, extras in zip((old, new), changed, strict=True)
    ]
    assert outcome(*merged) == outcome(old, new)


def _merged(row: Row, more: Row) -> Row:
    made = dict(row)
    for name, value in more.items():
        made[name] = _merged(made.get(name, {}), value) if isinstance(value, dict) else value
    return made


MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "system", None])}, optional={"content": st.text("ab \n")}),
    max_size=3,
)


@PROPERTY
@given(st.lists(st.text("ab =#", max_size=3) | MESSAGES | st.none(), max_size=6))
def test_inputs_have_equal_numbers_exactly_where_their_identities_are_equal(asked: list[Any]) -> None:
    numbers, identities = list(input_numbers(asked)), list(map(task_input, asked))
    assert list(map(bool, numbers)) == [identity is not None for identity in identities]
    assert [numbers.index(number) for number in numbers] == [identities.index(identity) for identity in identities]


@PROPERTY
@given(runs(), runs(), st.sampled_from(["number", "task_name", "id", "_ng_task_index"]))
def test_a_given_key_always_wins(old: Rows, new: Rows, key: str) -> None:
    if all(key in row for row in (*old, *new)):
        made = outcome(old, new, old_key=key)
        assert made.keys == (key, key)
        if key == "number":
            assert made.tasks == {
                str(i): ([i] * (i < len(old)), [i] * (i < len(new))) for i in range(max(len(old), len(new)))
            }
    else:
        assert outcome(old, new, old_key=key) == Outcome()


@PROPERTY
@given(runs(), runs(), st.sampled_from(list(Side)))
def test_one_sides_given_key_always_wins(old: Rows, new: Rows, side: Side) -> None:
    keys = {"old_key": "number"} if side is Side.OLD else {"new_key": "number"}
    made = outcome(old, new, **keys)
    assume(made.keys)
    assert made.keys[side is Side.NEW] == "number"


def value_at(row: Row, path: str) -> Any:
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def plain_label(value: Any) -> str:
    return str(value["task_id"]) if isinstance(value, dict) else str(value)


def sound_key(rows: Rows) -> str | None:
    """The field that section 4 names, unless it merges tasks that have different inputs."""
    key = next((path for path in FIRST if all(value_at(row, path) is not None for row in rows)), None)
    if key is None or key == "_ng_task_id":
        return key
    inputs: dict[str, set[str]] = {}
    for row in rows:
        asked = task_input(value_at(row, INPUT))
        inputs.setdefault(plain_label(value_at(row, key)), set()).update([asked] if asked else [])
    return None if any(len(asked) > 1 for asked in inputs.values()) else key


@PROPERTY
@given(runs(named=True), runs(named=True))
def test_a_sound_answer_of_section_4_stands(old: Rows, new: Rows) -> None:
    sound = sound_key(old), sound_key(new)
    labels = [
        {plain_label(value_at(row, key)) for row in run} for run, key in zip((old, new), sound, strict=True) if key
    ]
    assume(len(labels) == 2 and labels[0] & labels[1])
    made = outcome(old, new)
    assert made.keys == sound
    assert set(made.tasks) == labels[0] | labels[1]


@st.composite
def honest_runs(draw: st.DrawFn) -> tuple[Rows, int]:
    """A run whose tasks can be told apart, and how many it has."""
    tasks = draw(st.integers(1, 5))
    how = draw(st.sampled_from(["field", "input", "index", "prompts"]))
    field = draw(st.sampled_from(FIELDS))
    decoy = draw(st.booleans()) and how == "input"
    rows = []
    for task in range(tasks):
        for repeat in range(draw(st.integers(1, 3))):
            asked = {
                "field": draw(st.sampled_from([None, f"{task}?"])),
                "input": [{"role": "user", "content": f"{task}?"}],
                "index": "Go." if task or repeat else "Go!",
                "prompts": f"{task}, {repeat}?",
            }[how]
            named = {field: f"t{task}"} if how == "field" else {"task_name": "sums"} if decoy and tasks > 1 else {}
            index = None if how == "field" and draw(st.booleans()) else task
            row = attempt(asked, index, repeat, named, reward=draw(st.sampled_from([0, 0.5])))
            rows.append(row)
    return rows, tasks


@PROPERTY
@given(honest_runs(), st.randoms(use_true_random=False))
def test_a_shuffled_copy_at_another_temperature_is_identical(made: tuple[Rows, int], shuffler: Any) -> None:
    rows, tasks = made
    warmer = [_merged(row, {"responses_create_params": {"temperature": 1.0}}) for row in rows]
    result = compare_rollouts(rows, shuffler.sample(warmer, len(warmer)))
    assert len(result.tasks) == len(result.by_category(Category.IDENTICAL)) == tasks
    assert result.join_check.inputs_differ == 0
