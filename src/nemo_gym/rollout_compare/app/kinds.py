"""The kinds of options: what their words may be, and what is said where they are not."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from typing import Any

from nemo_gym.rollout_compare.app.option import COLORS, ORDERS, TABLES
from nemo_gym.rollout_compare.compare import RULE_NAMES, is_rule, rule_form
from nemo_gym.rollout_compare.text import bytes_of, did_you_mean

_MOST_DIGITS = 19
_AMOUNT = re.compile(r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-0+\.?0*")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS):
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is not a whole number, 0 or more")
    return int(text)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS and int(text)):
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is not a whole number, 1 or more")
    return int(text)


def _size(text: str) -> int:
    number = bytes_of(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is not a number of bytes, such as 500MB")
    return number


def _amount(text: str) -> float:
    amount = float(text) if _AMOUNT.fullmatch(text) else math.inf
    if amount == math.inf:
        raise argparse.ArgumentTypeError(f"{text[:_MOST_DIGITS]!r} is not a number, 0 or more")
    return amount


def _order(text: str) -> str:
    if text not in ORDERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not an order; orders are {', '.join(ORDERS)}")
    return text


def _color(text: str) -> str:
    if text not in COLORS:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(COLORS)}")
    return text


def _table(text: str) -> str:
    if not text.lower().endswith(TABLES):
        raise argparse.ArgumentTypeError(f"{text!r} ends in none of {', '.join(TABLES)}")
    return text


def _text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _rule(text: str) -> str:
    if not is_rule(text):
        name = text.replace("<", ">").partition(">")[0].strip(" ")
        hint = did_you_mean(name, RULE_NAMES) or f"; rules are {', '.join(RULE_NAMES)}"
        if name in RULE_NAMES:
            hint = f"; {rule_form(name)}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a rule{hint}")
    return text


def _category(text: str) -> str:
    from nemo_gym.rollout_compare.schema import Category

    known = [category.value for category in Category]
    if text not in known:
        meant = did_you_mean(text, known)
        hint = meant or "; categories are " + ", ".join(known)
        raise argparse.ArgumentTypeError(f"{text!r} is not a category{hint}")
    return text


#: By the kind of an option, what makes its value of a word.
TYPES: dict[str, Callable[[str], Any]] = {
    "text": _text,
    "count": _count,
    "number": _number,
    "size": _size,
    "amount": _amount,
    "order": _order,
    "color": _color,
    "table": _table,
    "rule": _rule,
    "category": _category,
}
