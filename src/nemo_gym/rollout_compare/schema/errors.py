"""The one error that a user sees."""


class CompareInputError(ValueError):
    """An input cannot be read or is not rollouts, or an output cannot be written.

    Its text is one line: what is wrong, where, and what to do. It never holds a line break.
    """
