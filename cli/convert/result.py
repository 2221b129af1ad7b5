"""The result of a conversion, which is checked with the parser of engines."""

import json

from msgspec import Struct

from cli.convert.actions import Action
from cli.convert.remarks import Place, Remark, Remarks
from wire.decoding.errors import BadInput, errors_in
from wire.party import Party
from wire.tree import DEFAULT_LIMITS, Limits, parse_action

MAX_BYTES = 65_536  # as Twilio's
MAX_DEPTH = DEFAULT_LIMITS.depth


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
