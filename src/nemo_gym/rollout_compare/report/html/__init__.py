"""The page: one HTML file that needs nothing else.

* `page`: the file, put together from the parts beside this module
* `contents`: what a result has to say there, as plain values
* `safe`: text that may stand in a page
"""
