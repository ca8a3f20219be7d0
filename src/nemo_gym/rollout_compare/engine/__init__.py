"""Runs to tables: in pieces, by as many processes as are worth starting.

* `runs`: whole runs: their shards, failed attempts and planned rows
* `reading`: sources to tables, piece by piece
* `pieces`: one piece to a table: the work of one process at a time
* `workers`: the processes
* `rows_at_hand`: rows that a script has at hand to a table
"""
