"""One run as columns: what its rows say, where they are, which of them are of one task.

* `table`: the table
* `columns`: its columns: a few bytes a row
* `named`: columns by name, as many as rows have names
* `places`: where each row can be read again
* `by_task`: its rows, gathered by task
"""

from nemo_gym.rollout_compare.table.by_task import RowsByTask, rows_by_task, tasks_of_both
from nemo_gym.rollout_compare.table.columns import Column, T
from nemo_gym.rollout_compare.table.table import Table

__all__ = ["Column", "RowsByTask", "T", "Table", "rows_by_task", "tasks_of_both"]
