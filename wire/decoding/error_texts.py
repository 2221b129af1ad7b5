"""Texts of errors in input: the decoder's messages in plain words, the same for all interfaces."""

import re

from wire.decoding.patterns import PATTERNS

REQUIRED = "required, but missing"
UNKNOWN_FIELD = "unknown field"
INVALID_VALUE = "invalid value"
NUMBER_TOO_LARGE = "a number in the JSON is too large"

_TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_GIVEN = {**_TYPES, "float": "a decimal number"}
_UNITS = {
    "str": ("character", "characters"),
    "array": ("item", "items"),
    "object": ("field", "fields"),
}
_BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
_TYPE = re.compile(r"Expected `(?P<expected>[^`]+)`(?:, got `(?P<given>[^`]+)`)?")
_BOUND = re.compile(r"Expected `(?P<type>int|float)` (?P<sign>[<>]=?) (?P<bound>[\d.e+-]+)")
_LENGTH = re.compile(
    r"Expected `(?P<type>str|array|object)` of (?:at least )?length "
    r"(?:(?P<sign>[<>]=) )?(?P<bound>\d+)(?:, got 0)?"
)
_VALUE = re.compile(r"Invalid (?:enum )?value (?P<value>.+)", re.DOTALL)
_POSITION = re.compile(r" \(byte \d+\)$")
_REGEX = "matching regex "
_MEANINGS = [(f"{_REGEX}{each!r}", f"expected {meaning}") for each, meaning in PATTERNS.items()]
_FIXED = {
    "Input data was truncated": "the JSON is truncated",
    "Integer value out of range": "the number is too large",
    "Number out of range": "the number is too large",
}


def plain_text(message: str) -> str:
    """Return a message of the decoder (without its path) in plain words; others are unchanged."""
    if _REGEX in message:
        for pattern, meaning in _MEANINGS:
            if pattern in message:
                return meaning
    if message.startswith("Object missing required field"):
        return REQUIRED
    if message.startswith("Object contains unknown field"):
        return UNKNOWN_FIELD
    if found := _BOUND.fullmatch(message):
        return expected_range(found["type"], (found["sign"], found["bound"]))
    if found := _LENGTH.fullmatch(message):
        return expected_size(found["type"], found["sign"] or ">=", int(found["bound"]))
    if found := _TYPE.fullmatch(message):
        return expected_types(found["expected"], found["given"] or "")
    if found := _VALUE.fullmatch(message):
        return f"{INVALID_VALUE} {found['value']}"
    return _FIXED.get(_POSITION.sub("", message), message)


def expected_range(kind: str, *bounds: tuple[str, object]) -> str:
    """Return the error of a number: `expected a number, more than 0 and at most 600`."""
    texts = (f"{_BOUNDS[sign]} {str(bound).removesuffix('.0')}" for sign, bound in bounds)
    return f"expected {_TYPES[kind]}, {' and '.join(texts)}"


def expected_size(kind: str, sign: str, bound: int) -> str:
    """Return the error of a text, list or object that is too long or too short."""
    unit = _UNITS[kind][0 if bound == 1 else 1]
    return f"expected {_TYPES[kind]} of {_BOUNDS[sign]} {bound} {unit}"


def expected_types(types: str, given: str = "") -> str:
    """Return the error of a value of another type: `expected text or null, got a list`."""
    return f"expected {_words(types, _TYPES)}{f', got {_words(given, _GIVEN)}' if given else ''}"


def _words(types: str, names: dict[str, str]) -> str:
    words = [names.get(each, each) for each in types.split(" | ")]
    if "a number" in words and "a whole number" in words:
        words.remove("a whole number")
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
