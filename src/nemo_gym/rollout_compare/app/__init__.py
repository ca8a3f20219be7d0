"""The command: its options, what it compares, what it writes.

* `cli`: the command line
* `gym`: the `gym` that the command line is a part of
* `comparison`: two runs on disk to a finished result, for the command and for scripts
* `direction`: which of two rewards is the better one
* `job`: one comparison, from options to outputs
* `kinds`: what the words of an option may be
* `option`: what an option is
* `options`: the table of options
* `values`: the values of the options, checked
* `outputs`: the only writer: files whole or not at all, and standard output
* `progress`: how far the reading has got
* `provenance`: what a comparison says of itself
* `streams`: standard output and standard error
* `interrupts`: Ctrl-C before the work begins and after it is done
* `ending`: the end of the process, once all is written
"""
