"""Batches of rows."""

from __future__ import annotations

from array import array

import pytest

from nemo_gym.rollout_compare.schema import Batch, Fault, Mark, Mask, MaskKind, no_rows

BATCH = Batch(
    rewards=[0.0, 1.0, 2.0],
    masked=[None, Mask(MaskKind.SAID, "m"), None],
    agent_errors=[None, None, Mark("f", "e")],
    failure_kinds=["a", "b", "c"],
    task_indexes=[0, 1, 2],
    rollout_indexes=["x", "y", "z"],
    inputs=array("Q", [5, 6, 7]),
    has_output=b"\x00\x01\x02",
    identities={"id": ["a", "b", "c"], "other": [None, "b", None]},
    lines=[1, 2, 3],
    offsets=[0, 10, 20],
    settings={"model": ["m", None, "n"]},
    measures={"dollars": [0.1, 0.2, 0.3]},
    has_transcript=b"\x01\x00\x01",
    has_a_say=[True, False, True],
    faults=[Fault(9, "odd")],
    last_line=9,
)


@pytest.mark.parametrize("name", [name for name in Batch.__struct_fields__ if name not in ("faults", "last_line")])
def test_some_rows_of_a_batch_have_every_column_of_theirs(name: str) -> None:
    def taken(column: object) -> object:
        if isinstance(column, dict):
            return {field: [values[2], values[0]] for field, values in column.items()}
        assert isinstance(column, list | bytes | array)
        return [column[2], column[0]]

    found = getattr(BATCH.rows([2, 0]), name)
    assert (found if isinstance(found, dict) else list(found)) == taken(getattr(BATCH, name))
    assert type(found) is type(getattr(BATCH, name))


def test_some_rows_of_a_batch_keep_what_is_said_of_its_lines() -> None:
    none = BATCH.rows([])
    assert (len(none), none.faults, none.last_line) == (0, [Fault(9, "odd")], 9)
    assert no_rows((), 3).rows([]) == no_rows((), 3)
