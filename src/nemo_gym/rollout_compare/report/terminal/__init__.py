"""The report that people read.

* `text`: the whole of it, section by section
* `difference`: whether the difference is real
* `flips`: flips: what they have in common, then one by one
* `words`: words and forms that the sections share
"""
