"""The programs: `gym`, `rollout-compare` and `python -m nemo_gym.rollout_compare`.

Nothing is imported before an interrupt is provided for.
"""

import os
import sys
from contextlib import suppress

ERROR, INTERRUPTED = 1, 130  # said here too: the modules that say it may be those that cannot be loaded


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
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, MemoryError, RecursionError, ImportError) as error:
        return _cannot_start(error)
    return main(sys.argv[1:], prog=prog)


def _cannot_start(error: Exception) -> int:
    """Say that the surroundings have too little of something for the program to be loaded."""
    reason = " ".join(str(error).split()) or type(error).__name__
    with suppress(OSError):  # where nobody reads it, the exit status says the same
        os.write(2, f"error: cannot start: {reason}\n".encode("utf-8", "backslashreplace"))
    return ERROR


if __name__ == "__main__":
    sys.exit(module_main())
