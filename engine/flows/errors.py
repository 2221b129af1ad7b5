"""Collects all shape faults of a flow's parts, and reads what is left without the faulty fields.

So one faulty field hides no faults of the graph around it.
"""

import copy
import re
from typing import Any

from wire.decoding import lenient
from wire.decoding.errors import BadInput, errors_in

MAX_FAULTS = 20  # of one node
_STEP = re.compile(r"(?:^|\.)(?P<key>[^.\[]+)|\[(?P<index>\d+)\]")


def explain(document: Any, shape: Any, path: str) -> tuple[Any, list[BadInput]]:
    """Convert a document and return it with its faults; None when it can't be converted."""
    try:
        return lenient.convert(document, shape, path), []
    except BadInput as error:
        faults = list(errors_in(error)[:MAX_FAULTS])
    try:
        return lenient.convert(_without(document, faults, path), shape, path), faults
    except BadInput:
        return None, faults  # a removed field is required


def _without(document: Any, faults: list[BadInput], path: str) -> Any:
    """Return a copy of a document without its faulty fields."""
    try:
        left = copy.deepcopy(document)
    except RecursionError:
        return document
    for fault in faults:
        *parents, last = _steps(fault.path.removeprefix(path).removeprefix(".")) or [""]
        parent = _at(left, parents)
        if isinstance(parent, dict):
            parent.pop(last, None)
    return left


def _steps(path: str) -> list[str | int]:
    found = _STEP.finditer(path)
    return [each["key"] if each["key"] is not None else int(each["index"]) for each in found]


def _at(document: Any, steps: list[str | int]) -> Any:
    for step in steps:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document
