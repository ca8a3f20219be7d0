"""The command: its options, what it compares, what it writes.

* `cli`: the command line, and the `gym` that it is a part of
* `comparison`: two runs on disk to a finished result, for the command and for scripts
* `job`: one comparison, from options to outputs
* `options`: the table of options
* `outputs`: the only writer: files whole or not at all, and standard output
* `progress`: how far the reading has got
"""
