"""JSON pointers (RFC 6901)."""

from typing import Any


def resolve_pointer(document: Any, pointer: str) -> Any:
    """Return the value at a pointer; None when it does not exist."""
    for step in pointer.split("/")[1:]:
        document = _child(document, step.replace("~1", "/").replace("~0", "~"))
    return document


def _child(document: Any, step: str) -> Any:
    match document:
        case dict():
            return document.get(step)
        case list() if step.isascii() and step.isdecimal() and step == str(int(step)):
            index = int(step)
            return document[index] if index < len(document) else None
        case _:
            return None
