"""What may be said of a difference, by which test and interval, and why a figure is null."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Verdict(StrEnum):
    """What may be said of the new side: at the 5% level or, where a margin was asked for, with regard to it."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    NOT_WORSE = "not worse"
    NO_SIGNIFICANT_CHANGE = "no significant change"
    CANNOT_TELL = "cannot tell"


class Conclusion(StrEnum):
    """What a 90% interval says of a margin."""

    SAME = "same"
    NOT_WORSE = "not worse"
    NOT_SHOWN = "not shown"


class SignificanceTest(StrEnum):
    """The test that gave a p-value."""

    MCNEMAR = "McNemar mid-p"
    SIGN_FLIP = "sign-flip permutation mid-p"
    STRATIFIED = "exact stratified mid-p"
    STRATIFIED_NORMAL = "stratified, normal approximation"


class IntervalKind(StrEnum):
    """The formula that gave an interval."""

    TANGO = "Tango score"
    PAIRED_T = "paired t"


class Why(StrEnum):
    """Why a figure is null."""

    NO_TASK = "no task was measured on both sides"
    ONE_TASK = "one task alone was measured on both sides"
    NO_CHANGE = "no task changed"
    NO_SPREAD = "every task changed by the same amount"
    NO_SPREAD_WITHIN = "no task's attempts disagree"
    TOO_LARGE = "a reward is too large to compute with"
    OUTSIDE = "a reward lies outside 0 to 1"
    NOT_BINARY = "not every attempt's reward is 0 or 1"
    NOT_BINARY_TASKS = "not every task's reward is 0 or 1"
    ONE_ATTEMPT = "it takes two measured attempts or more on both sides of a task"
    NOT_ASKED = "not asked for"
    NO_AGENT_ERROR = "no flip has an agent error"
    NO_LARGEST = "no single task changed more than every other"
    ONE_CHANGE = "one task alone changed"
    CARRIED_BY_NONE = "leaving out the largest change changes nothing"
    WINS_AGREE = "the wins alone say nothing else"
    DECIDED = "there is nothing left to decide"
    NOTHING_TO_FIND = "the difference to find is 0"
    ONE_GROUP = "all tasks are in one group"
    FEW_GROUPS = "it takes six groups or more"
    FEW_TASKS = "it takes ten tasks or more"


class Margin(Struct, frozen=True):
    """The question of a migration: is the new side the same, or at least not worse, but for a margin?

    Attributes:
        margin: The difference that would matter, in units of reward.
        low: Lower end of the 90% interval of delta.
        high: Its upper end.
        conclusion: `same` if the interval lies within the margin on both sides, `not worse` if its low end does.
    """

    margin: float
    low: float | None
    high: float | None
    conclusion: Conclusion
