"""Why tasks flipped: the losing verifier's output, and what it says.

* `findings`: a result to one with findings
* `evidence`: a row to its verifier's output, safe to print
* `transcripts`: what the agents did, side by side
* `parted`: transcripts to where the agents parted
* `logs`: verifier logs on disk: found, judged safe, read from the end
* `triage`: single tests, signatures, clusters
"""
