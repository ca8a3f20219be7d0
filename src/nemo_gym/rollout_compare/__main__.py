"""The programs: `gym`, `rollout-compare` and `python -m nemo_gym.rollout_compare`.

Nothing is imported before an interrupt is provided for.
"""

import sys

INTERRUPTED = 130  # said here too: the module that says it may be the one that is interrupted


def gym_main() -> int:
    """The `gym` program."""
    return _program("gym")


def compare_main() -> int:
    """The `rollout-compare` program."""
    return _program("rollout-compare")


def module_main() -> int:
    """The program of `python -m`."""
    return _program("python -m nemo_gym.rollout_compare")


def _program(prog: str) -> int:
    try:
        from nemo_gym.rollout_compare.app.interrupts import end_on_interrupt

        end_on_interrupt()
        from nemo_gym.rollout_compare.app.cli import main

        status = main(sys.argv[1:], prog=prog)
        end_on_interrupt()  # all is written: what is left is the interpreter's own end
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(module_main())
