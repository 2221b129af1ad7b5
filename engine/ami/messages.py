"""The text of the manager interface: actions to write, and messages to read.

Asterisk writes what phones send into its messages as it is, also line breaks (docs/asterisk.md).
So a message may be cut, may have fields that somebody else wrote, or may be forged as a whole. Here
what is damaged is dropped; what a whole message proves is said in `monitor`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

END_OF_LINE = "\r\n"
END_OF_MESSAGE = b"\r\n\r\n"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # also every kind of line break
_FIELD = re.compile(r"(?P<name>[A-Za-z0-9-]+): ?(?P<value>.*)")
_FIRST = ("Event", "Response")


def has_control_character(text: str) -> bool:
    """Return whether a text has a line break of any kind, or another control character."""
    return _CONTROL.search(text) is not None


def check_fields(action: str, fields: Mapping[str, str]) -> None:
    """Raise ValueError if a field could begin another field or action."""
    for name, value in ("Action", action), *fields.items():
        if has_control_character(name) or has_control_character(value):
            raise ValueError(f"a field of {action!r} has more than one line: {name!r}")


def write_action(action: str, fields: Mapping[str, str]) -> bytes:
    """Write an action; raises ValueError as `check_fields`."""
    check_fields(action, fields)
    lines = (f"{name}: {value}" for name, value in (("Action", action), *fields.items()))
    return (END_OF_LINE.join(lines) + END_OF_LINE * 2).encode()


class Message(Struct, frozen=True):
    """An event or a response; its fields by lower-case name, in their order.

    A line of a list that was damaged has no fields, but the bytes that came.
    """

    fields: dict[str, str]
    damaged: bytes = b""

    def __getitem__(self, name: str) -> str:
        """Return a field; empty if it is absent."""
        return self.fields.get(name.lower(), "")

    @property
    def event(self) -> str:
        return self["Event"]

    def has_in_order(self, names: Sequence[str]) -> bool:
        """Return whether the fields are there, in this order, and the last one is the last."""
        present: Iterator[str] = iter(self.fields)
        is_ordered = all(name.lower() in present for name in names)  # consumes up to each
        return is_ordered and next(present, None) is None


def read_message(data: bytes) -> Message | None:
    """Read one message without its end; None if its structure is not Asterisk's."""
    fields: dict[str, str] = {}
    text = data.removesuffix(b"\n").decode(errors="replace")  # Asterisk's own, of some errors
    for line in text.split(END_OF_LINE):
        found = None if has_control_character(line) else _FIELD.fullmatch(line)
        if found is None or found["name"].lower() in fields:
            return None
        if not fields and found["name"] not in _FIRST:
            return None
        fields[found["name"].lower()] = found["value"]
    return Message(fields)


def read_line(data: bytes) -> Message:
    """Read one line of a list, which may be damaged."""
    return read_message(data) or Message({}, data)
