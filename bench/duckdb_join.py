#!/usr/bin/env python3
"""The same join and categories in SQL, by DuckDB on all processors that may be used.

    duckdb_join.py OLD NEW

It reads the needed columns only, and knows the name of the one field of the metadata that tells of an agent error.
Prints the counts as JSON: of tasks, under the names that the command's JSON summary gives them, and of rows.
"""

from __future__ import annotations

import json
import os
import sys

import duckdb

SIDE = """
    SELECT
        _ng_task_id AS task,
        avg(reward) AS reward,
        count(*) AS rows,
        count(*) FILTER (
            coalesce(mask_sample, instance_config.mask_sample, false) OR reward IS NULL OR NOT isfinite(reward)
        ) AS masked_rows,
        bool_or(coalesce(error, '') <> '' OR coalesce(response.metadata.terminus2_error_type, '') <> '') AS doubtful
    FROM read_json(
        ?,
        format = 'newline_delimited',
        columns = {
            _ng_task_id: 'VARCHAR',
            reward: 'DOUBLE',
            mask_sample: 'BOOLEAN',
            instance_config: 'STRUCT(mask_sample BOOLEAN)',
            error: 'VARCHAR',
            response: 'STRUCT(metadata STRUCT(terminus2_error_type VARCHAR))'
        }
    )
    GROUP BY task
"""

COUNTS = f"""
WITH old AS ({SIDE}), new AS ({SIDE}),
joined AS (
    SELECT
        old.rows AS old_rows,
        new.rows AS new_rows,
        old.masked_rows AS old_masked_rows,
        new.masked_rows AS new_masked_rows,
        old.reward - new.reward AS difference,
        CASE
            WHEN new.task IS NULL OR old.task IS NULL THEN 'missing'
            WHEN old.masked_rows + new.masked_rows > 0 THEN 'masked'
            WHEN abs(old.reward - new.reward) <= 1e-9 THEN 'identical'
            WHEN old.doubtful OR new.doubtful THEN 'flipped_agent_error'
            ELSE 'flipped'
        END AS category
    FROM old FULL JOIN new ON old.task = new.task
)
SELECT
    count(*) AS tasks,
    count(*) FILTER (category = 'identical') AS identical,
    count(*) FILTER (category = 'flipped') AS flipped,
    count(*) FILTER (category = 'flipped' AND difference > 0) AS flipped_old_win,
    count(*) FILTER (category = 'flipped' AND difference < 0) AS flipped_new_win,
    count(*) FILTER (category = 'flipped_agent_error') AS flipped_agent_error,
    count(*) FILTER (category = 'masked') AS masked,
    count(*) FILTER (category = 'masked' AND old_masked_rows > 0) AS masked_old,
    count(*) FILTER (category = 'masked' AND new_masked_rows > 0) AS masked_new,
    count(*) FILTER (category = 'missing') AS missing,
    count(*) FILTER (category = 'missing' AND new_rows IS NULL) AS missing_old_only,
    count(*) FILTER (category = 'missing' AND old_rows IS NULL) AS missing_new_only,
    sum(old_rows)::BIGINT AS old_rows,
    sum(new_rows)::BIGINT AS new_rows,
    sum(old_masked_rows)::BIGINT AS old_masked_rows,
    sum(new_masked_rows)::BIGINT AS new_masked_rows
FROM joined
"""  # noqa: S608  # nothing but this file goes into it


def compare(old_path: str, new_path: str) -> dict[str, int]:
    """How many tasks of each category two files have, and how many rows."""
    with duckdb.connect(config={"threads": len(os.sched_getaffinity(0))}) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(COUNTS, [old_path, new_path])
        names = [column[0] for column in connection.description]
        (values,) = connection.fetchall()
    return dict(zip(names, values, strict=True))


if __name__ == "__main__":
    print(json.dumps(compare(*sys.argv[1:])))
