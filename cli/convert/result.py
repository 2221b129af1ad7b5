"""Trees of verbs that a conversion builds, and remarks on what is different."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from wire.decoding.errors import BadInput, errors_in
from wire.party import Party
from wire.tree import DEFAULT_LIMITS, Limits, parse_action

Action = dict[str, Any] | str | None
MAX_REPEATS = 10  # of a text
FOREVER = 100  # the most that a play repeats
MAX_WAIT_S = 600
MAX_PARTIES = 10
MAX_BYTES = 65_536  # as Twilio's
MAX_DEPTH = DEFAULT_LIMITS.depth


class Place(Protocol):
    """What a remark is about: a part of the document."""

    @property
    def line(self) -> int:
        """Its line, from 1."""
        ...

    @property
    def label(self) -> str:
        """What a reader finds there, such as `<Say>`."""
        ...


class Remark(Struct, frozen=True):
    """A difference, or with `is_lost` something that the tree does not do."""

    line: int
    text: str
    is_lost: bool = False


class Remarks:
    """Collects the remarks of one conversion."""

    def __init__(self) -> None:
        self._found: list[Remark] = []

    def note(self, place: Place, text: str) -> None:
        """Say what is different in the tree."""
        self._found.append(Remark(place.line, f"{place.label} {text}"))

    def lose(self, place: Place, text: str) -> None:
        """Say what the tree does not do."""
        self._found.append(Remark(place.line, f"{place.label} {text}", is_lost=True))

    def sorted(self) -> tuple[Remark, ...]:
        """Return each remark once, in the order of the lines."""
        return tuple(sorted(dict.fromkeys(self._found), key=lambda each: each.line))


def verb(kind: str, data: Mapping[str, Any], follows: Action = None) -> dict[str, Any]:
    """Return a verb, without an empty action."""
    return {"type": kind, "data": dict(data)} | ({"action": follows} if follows else {})


class DocumentError(Exception):
    """The document is not one of its platform at all; the line is 0 if it has none."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(f"line {line}: {text}" if line else text)


class Converted(Struct, frozen=True):
    """The tree, or the address that is requested first, and what the reader should know."""

    action: Action
    remarks: tuple[Remark, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether the tree does all that the document did."""
        return not any(each.is_lost for each in self.remarks)


def checked(place: Place, action: Action, remarks: Remarks, divided: str) -> Converted:
    """Return the result; raises DocumentError for a tree that is too deep.

    What engines would reject is remarked at `place`; `divided` says how a document is divided.
    """
    if _depth(action) > MAX_DEPTH:
        raise DocumentError(0, f"more than {MAX_DEPTH} verbs in a row: divide it by {divided}")
    hosts = tuple(sorted(_sip_hosts(action)))
    try:
        parse_action(json.dumps(action).encode(), Limits(allow_insecure=True, sip_hosts=hosts))
    except BadInput as found:
        for error in errors_in(found):
            if error.code != "insecure_url":  # remarked where it is
                remarks.lose(place, f"engines reject the tree: {error}")
    return Converted(action, remarks.sorted())


def _depth(action: Action) -> int:
    """Return how many verbs follow one another, without recursion: it may be thousands."""
    deepest, found = 0, [(action, 1)]
    while found:
        each, depth = found.pop()
        if isinstance(each, dict):
            deepest = max(deepest, depth)
            found += [(each.get("action"), depth + 1), (each["data"].get("fallback"), depth + 1)]
    return deepest


def _sip_hosts(action: object) -> set[str]:
    """Return the hosts of all SIP addresses in a tree, which an operator has to allow."""
    match action:
        case dict():
            return {host for each in action.values() for host in _sip_hosts(each)}
        case list():
            return {host for each in action for host in _sip_hosts(each)}
        case str() if action.startswith(("sip:", "sips:")):
            return {Party.parse(action).host}
        case _:
            return set()
