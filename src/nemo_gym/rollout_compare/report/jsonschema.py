"""The JSON Schema of the summary, made from its types: shapes from their fields, descriptions from their docstrings."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import Any

from msgspec import Struct
from msgspec.json import schema_components

from nemo_gym.rollout_compare.report.shape import Summary

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n     +.+)*)", re.MULTILINE)


def summary_schema() -> dict[str, Any]:
    """The JSON Schema of the summary (draft 2020-12)."""
    _, parts = schema_components((Summary,), ref_template="#/$defs/{name}")
    types = _structs(Struct)
    for name, part in parts.items():
        if name in types:
            _describe(part, types[name])
            part["required"] = list(part["properties"])  # a default is written too
            part["additionalProperties"] = name == Summary.__name__
    whole = parts.pop(Summary.__name__)
    return {"$schema": _DIALECT, **whole, "$defs": parts}


def _structs(base: type[Struct]) -> dict[str, type[Struct]]:
    """The package's own types of values by their names, those of the summary's shape before others of a name."""
    package = __name__.split(".")[0]
    own = [kind for kind in base.__subclasses__() if kind.__module__.startswith(package)]
    own.sort(key=lambda kind: kind.__module__ == Summary.__module__)
    return {kind.__name__: kind for kind in own}


def _describe(part: dict[str, Any], kind: type[Struct]) -> None:
    """Give a part of a schema and its properties the descriptions of the type's docstring."""
    first, _, attributes = (getdoc(kind) or "").partition("\n\nAttributes:\n")
    part["description"] = " ".join(first.split())
    told = {name: _in_json(" ".join(text.split())) for name, text in _ATTRIBUTE.findall(attributes)}
    for name, described in part["properties"].items():
        described["description"] = told[name]


def _in_json(text: str) -> str:
    """A description of a value in the words of JSON."""
    return re.sub(r"\bNone\b", "null", text)
