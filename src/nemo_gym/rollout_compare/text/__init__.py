"""Text from other machines, made plain and safe.

* `terminal`: text made safe to print
* `plain`: text made plain for readers and signatures
* `folding`: many names of tests in few words
"""
