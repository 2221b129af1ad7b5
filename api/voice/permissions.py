"""An account's permissions: the caller ids it may show, and the destinations it may call."""

import re

import phonenumbers
from msgspec import Struct

from wire.decoding.errors import BadInput
from wire.party import Party
from wire.tree import walk
from wire.verbs import Action, Dial

_NO_COUNTRY = "a number needs its country code and a plus sign, such as +4721930000"
_DIGITS = re.compile(r"\+?[0-9]{2,20}")


class Permissions(Struct, frozen=True):
    """An account's numbers, the default one first, and the prefixes it may call; None: any."""

    numbers: tuple[str, ...]
    destinations: tuple[str, ...] | None = None

    def own(self, text: str) -> str | None:
        """Return the account's number that the text denotes, with or without its plus sign."""
        number = f"+{text.removeprefix('+')}" if _DIGITS.fullmatch(text) else ""
        return number if number in self.numbers else None

    def check_caller_id(self, text: str, path: str) -> None:
        """Check that a number is one of the account's; raises BadInput."""
        if self.own(text) is None:
            raise BadInput(path, f"{text} is not a caller id of this account", "not_your_number")

    def check_party(self, party: str, path: str) -> None:
        """Check that a party may be called; raises BadInput."""
        if Party.parse(party).kind == "agent":
            return
        if party.startswith("+"):
            _check_possible(party, path)
        allowed = self.destinations
        if allowed is not None and not party.startswith(allowed):
            prefixes = ", ".join(allowed) or "none"
            begins = f"; {_NO_COUNTRY}" if party[0].isdigit() else ""
            raise BadInput(path, f"may not be called; allowed: {prefixes}{begins}", "not_allowed")

    def check_tree(self, action: Action, path: str) -> None:
        """Check the parties and caller ids of an action tree's dial actions; raises BadInput."""
        for where, node, _depth in walk(action, path):
            if isinstance(node, Dial):
                data = f"{where}.data"
                for party in _numbers(node):
                    self.check_party(party, f"{data}.number")
                if node.data.caller_id is not None:
                    self.check_caller_id(node.data.caller_id, f"{data}.callerId")


def _numbers(dial: Dial) -> tuple[str, ...]:
    number = dial.data.number
    if number is None:
        return ()
    return (number,) if isinstance(number, str) else number


def _check_possible(number: str, path: str) -> None:
    try:
        is_possible = phonenumbers.is_possible_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        is_possible = False
    if not is_possible:
        raise BadInput(path, f"{number} can't be a phone number (E.164)", "impossible_number")
