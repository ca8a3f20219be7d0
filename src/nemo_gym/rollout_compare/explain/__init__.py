"""Why tasks flipped: the losing verifier's output, and what it says.

* `findings`: a result to one with findings
* `evidence`: a row to its verifier's output, safe to print
* `logs`: verifier logs on disk: found, judged safe, read from the end
* `triage`: single tests, signatures, clusters
"""

from nemo_gym.rollout_compare.explain.evidence import Roots, is_silent, source_text, tail_lines, verifier_output
from nemo_gym.rollout_compare.explain.findings import explain_flips, with_findings
from nemo_gym.rollout_compare.explain.logs import LogRoots

__all__ = [
    "LogRoots",
    "Roots",
    "explain_flips",
    "is_silent",
    "source_text",
    "tail_lines",
    "verifier_output",
    "with_findings",
]
