"""JSON pointers (RFC 6901): where in a document a value stands."""

from typing import Any


def resolve_pointer(document: Any, pointer: str) -> Any:
    """Give the value that a pointer leads to; None when it leads nowhere."""
    for step in pointer.split("/")[1:]:
        document = _child(document, step.replace("~1", "/").replace("~0", "~"))
    return document


def _child(document: Any, step: str) -> Any:
    match document:
        case dict():
            return document.get(step)
        case list() if step.isascii() and step.isdecimal() and step == str(int(step)):
            place = int(step)
            return document[place] if place < len(document) else None
        case _:
            return None
