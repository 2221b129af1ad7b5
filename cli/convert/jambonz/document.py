"""Reads an application of jambonz: an array of verbs in JSON, each with its line."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from cli.convert.result import MAX_BYTES, DocumentError

MAX_VERBS = 200
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODE = json.JSONDecoder().raw_decode


class Part(Struct, frozen=True):
    """A verb, or an object in it: how remarks name it, its line, and its fields."""

    label: str
    line: int
    fields: Mapping[str, Any]

    def part(self, name: str) -> "Part | None":
        """Return the object in a field; None without one."""
        value = self.fields.get(name)
        return Part(f"{self.label}.{name}", self.line, value) if isinstance(value, dict) else None


def read_document(content: bytes) -> tuple[Part, ...]:
    """Return the verbs of a document, an array or a single one; raises DocumentError."""
    if len(content) > MAX_BYTES:
        raise DocumentError(0, f"larger than {MAX_BYTES} bytes")
    try:
        text = content.decode(json.detect_encoding(content))
        values = [*_values(text)]
    except UnicodeDecodeError as error:
        raise DocumentError(0, f"not {error.encoding.upper()}") from None
    except json.JSONDecodeError as error:
        raise DocumentError(error.lineno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise DocumentError(0, "nested too deep") from None
    if len(values) > MAX_VERBS:
        raise DocumentError(0, f"more than {MAX_VERBS} verbs")
    return tuple(_verb(value, line) for value, line in values)


def _values(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the values of an array, or a single one, with their lines."""
    at = _after_space(text, 0)
    if not text.startswith("[", at):
        value, end = _DECODE(text, at)
        yield value, _line(text, at)
        _expect_end(text, end)
        return
    at = _after_space(text, at + 1)
    while not text.startswith("]", at):
        value, end = _DECODE(text, at)
        yield value, _line(text, at)
        at = _after_space(text, end)
        if text.startswith(",", at):
            at = _after_space(text, at + 1)
        elif not text.startswith("]", at):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
    _expect_end(text, at + 1)


def _expect_end(text: str, at: int) -> None:
    if (end := _after_space(text, at)) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _verb(value: Any, line: int) -> Part:
    name = value.get("verb") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name:
        raise DocumentError(line, 'a verb is expected, such as {"verb": "say", "text": "Hello."}')
    fields = {key: each for key, each in value.items() if key not in {"verb", "id"}}
    return Part(name, line, fields)
