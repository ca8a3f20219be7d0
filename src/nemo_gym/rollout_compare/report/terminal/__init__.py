"""The report that people read.

* `text`: the whole of it, section by section
* `decision`: the decision in one line, first and last
* `difference`: whether the difference is real
* `changes`: what else changed, and what it cost
* `groups`: groups of tasks
* `masked`: masked tasks
* `provenance`: where each run's rows are from
* `flips`: flips: what they have in common, then one by one
* `color`: the same lines in colours
* `wrapped`: the same lines, none wider than the terminal
* `words`: words and forms that the sections share
"""
