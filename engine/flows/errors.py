"""Collects all shape faults of a document; a decoder reports only the first one.

A faulty field is recorded and removed, and the rest is read again. A template in a field with a
pattern, such as a number, is replaced by a sample of that pattern.
"""

import copy
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from engine.calls.flows.templates import is_template
from wire import patterns
from wire.errors import BadInput, from_decoder

MAX_FAULTS = 20  # of one node
BRANCHES = frozenset({"noInput", "invalid", "else", "success", "failure"})
_AT = re.compile(r" - at `(?:key` in `)?\$(?P<path>.*)`$")
_MISSING = re.compile(r"required field `(?P<field>[^`]*)`")
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+)\]")
_SAMPLES = {
    patterns.URL: "https://example.com/",
    patterns.NUMBER: "+4721930000",
    patterns.PARTY: "+4721930000",
    patterns.CALLER_ID: "+4721930000",
    patterns.NAME: "name",
    patterns.LANGUAGE: "en",
    patterns.DTMF_KEY: "1",
    patterns.TERMINATOR: "#",
}


def explain(document: Any, shape: Any, path: str) -> tuple[Any, list[BadInput]]:
    """Convert a document and return it with its faults; None when it can't be converted."""
    left, faults = copy.deepcopy(document), list[BadInput]()
    for _ in range(2 * MAX_FAULTS):
        try:
            return msgspec.convert(left, shape), faults
        except msgspec.ValidationError as error:
            steps = _steps(str(error))
            sample = _sample(str(error), left, steps)
            if sample is not None:
                _set_at(left, steps, sample)
                continue
            fault = _fault(from_decoder(error, path, shape, left), str(error))
            if fault.path in {each.path for each in faults}:
                return None, faults  # the removed field is now reported as missing
            faults.append(fault)
            if len(faults) >= MAX_FAULTS or not _remove_field(left, steps, str(error)):
                return None, faults
    return None, faults


def _fault(fault: BadInput, error: str) -> BadInput:
    missing = _MISSING.search(error)
    if missing and missing["field"] in BRANCHES:
        return BadInput(fault.path, "a next node is required", "missing_branch")
    if fault.path.endswith(".type") and fault.message.startswith("invalid value"):
        return BadInput(fault.path, fault.message, "unknown_node_type")
    return fault


def _sample(error: str, document: Any, steps: list[str | int]) -> str | None:
    """Return a sample value for a template; edges of nodes may not be templates."""
    if not steps or steps[0] != "data" or not is_template(_at(document, steps)):
        return None
    return next((each for pattern, each in _SAMPLES.items() if f"{pattern!r}" in error), None)


def _remove_field(document: Any, steps: list[str | int], error: str) -> bool:
    """Remove a faulty field; return False when that is impossible."""
    if unknown := re.search(r"unknown field `(?P<field>[^`]*)`", error):
        steps = [*steps, unknown["field"]]
    parent = _at(document, steps[:-1]) if steps else None
    if _MISSING.search(error) or not isinstance(parent, dict) or steps[-1] not in parent:
        return False
    del parent[steps[-1]]
    return True


def _steps(error: str) -> list[str | int]:
    found = _AT.search(error)
    return list(_split(found["path"])) if found else []


def _split(path: str) -> Iterator[str | int]:
    for step in _STEP.finditer(path):
        yield step["key"] if step["key"] is not None else int(step["index"])


def _at(document: Any, steps: list[str | int]) -> Any:
    for step in steps:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _set_at(document: Any, steps: list[str | int], value: str) -> None:
    _at(document, steps[:-1])[steps[-1]] = value
