"""What holds for all tests: how made-up examples are drawn, and what started programs find."""

from __future__ import annotations

import os
import signal
import sys

from hypothesis import HealthCheck, settings

# Examples are made up anew at each run by hand, and are the same ones at each run of CI. Ten times as many:
# `make test ARGS='--hypothesis-profile thorough tests/property'`.
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", max_examples=1000)
if os.environ.get("CI"):
    settings.load_profile("ci")

# A program that was started to run on without its terminal (`nohup`) hands on to others that signals are ignored.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)

# Tests start hundreds of programs: each module is compiled once for all of them, as where the package is installed.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
