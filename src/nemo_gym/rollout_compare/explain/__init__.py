"""Why tasks flipped: the losing verifier's output, and what it says.

* `findings`: a result to one with findings
* `evidence`: a row to its verifier's output, safe to print
* `transcripts`: transcripts to where the agents parted
* `steps`: both transcripts of a flip, side by side
* `logs`: verifier logs on disk: found, judged safe, read from the end
* `forms`: signatures that tell no cause
* `triage`: single tests, signatures, clusters
"""

from nemo_gym.rollout_compare.explain.evidence import Roots, any_output, source_text, tail_lines, verifier_output
from nemo_gym.rollout_compare.explain.findings import explain_flips, with_findings
from nemo_gym.rollout_compare.explain.forms import is_mere_form
from nemo_gym.rollout_compare.explain.logs import LogRoots
from nemo_gym.rollout_compare.explain.steps import with_steps
from nemo_gym.rollout_compare.explain.transcripts import aligned, parted, transcript_of, with_transcripts

__all__ = [
    "LogRoots",
    "Roots",
    "aligned",
    "any_output",
    "explain_flips",
    "is_mere_form",
    "parted",
    "source_text",
    "tail_lines",
    "transcript_of",
    "verifier_output",
    "with_findings",
    "with_steps",
    "with_transcripts",
]
