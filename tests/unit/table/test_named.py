"""Columns by name: a name may occur late, and in some pieces only."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from nemo_gym.rollout_compare.table.named import Measures, Settings
from tests.properties import PROPERTY

BATCH = st.integers(1, 4).flatmap(
    lambda rows: st.tuples(
        st.just(rows),
        st.dictionaries(
            st.sampled_from("abc"), st.lists(st.none() | st.sampled_from("xy"), min_size=rows, max_size=rows)
        ),
    )
)


@PROPERTY
@given(st.lists(BATCH, max_size=5), st.integers(0, 5))
def test_pieces_put_together_are_the_whole(batches: list[tuple[int, dict[str, list[str | None]]]], cut: int) -> None:
    whole: list[dict[str, str]] = []
    pieces = [(Settings(), Measures()), (Settings(), Measures())]
    rows = [0, 0]
    for i, (count, values) in enumerate(batches):
        part = int(i >= cut)
        numbers = {name: [math.nan if one is None else float(len(whole) + j) for j, one in enumerate(column)]
                   for name, column in values.items()}  # fmt: skip
        pieces[part][0].append_all(values, rows[part], count)
        pieces[part][1].append_all(numbers, rows[part], count)
        rows[part] += count
        whole += [
            {name: one for name, column in values.items() if (one := column[j]) is not None} for j in range(count)
        ]
    settings, measures = pieces[0]
    settings.extend(pieces[1][0], rows[0], rows[1])
    measures.extend(pieces[1][1], rows[0], rows[1])
    for name, column in settings.columns.items():
        assert [column[row] for row in range(len(whole))] == [said.get(name) for said in whole]
    for name, column_of in measures.columns.items():
        assert [not math.isnan(value) for value in column_of] == [name in said for said in whole]
        assert all(math.isnan(value) or value == row for row, value in enumerate(column_of))
    assert {name for said in whole for name in said} <= set(settings.columns)
