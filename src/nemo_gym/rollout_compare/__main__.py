"""`python -m nemo_gym.rollout_compare OLD NEW`."""

import sys

from nemo_gym.rollout_compare.app.cli import compare_main

if __name__ == "__main__":
    sys.exit(compare_main(prog="python -m nemo_gym.rollout_compare"))
