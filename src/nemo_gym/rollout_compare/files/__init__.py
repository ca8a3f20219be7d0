"""What the user named to files, and files to lines.

* `locate`: the files of a run: one file, a folder, a pattern of shards, standard input
* `inputs`: the only place that opens inputs, compressed or not
* `lines`: pieces of a file, and the lines in them
* `signals`: how a signal ends the program and leaves nothing behind
"""
