"""An account's permissions: the caller ids it may show, and the destinations it may call."""

import re

from msgspec import Struct

from api.accounts.cache import CachedAccount
from wire.decoding.errors import BadInput
from wire.party import Party
from wire.phone_numbers.international_form import NEEDS_COUNTRY, dialled, own_number, to_dial
from wire.tree import number_errors, walk
from wire.verbs import Action, Dial

_DIGITS = re.compile(r"\+?[0-9]{2,20}")


class Permissions(Struct, frozen=True):
    """An account's numbers, the default one first, and the prefixes it may call; None: any.

    `region` is that of numbers without a country; empty: none is known.
    """

    numbers: tuple[str, ...]
    destinations: tuple[str, ...] | None = None
    region: str = ""

    @classmethod
    def of(cls, entry: CachedAccount) -> "Permissions":
        """Return the permissions of an account."""
        return cls(entry.numbers, entry.account.destinations, entry.region or "")

    def own(self, text: str) -> str | None:
        """Return the account's number that the text denotes, in any of its spellings."""
        if not _DIGITS.fullmatch(text):
            return None
        return own_number(text, self.numbers, self.region) or None

    def check_caller_id(self, text: str, path: str) -> None:
        """Check that a number is one of the account's; raises BadInput."""
        if self.own(text) is None:
            raise BadInput(path, f"{text} is not a caller id of this account", "not_your_number")

    def check_party(self, party: str, path: str) -> None:
        """Check that a party may be called; raises BadInput."""
        if Party.parse(party).kind == "agent":
            return
        if errors := list(number_errors(party, path)):
            raise errors[0]
        allowed = self.destinations
        if allowed is not None and not dialled(party, self.region).startswith(allowed):
            prefixes = ", ".join(allowed) or "none"
            begins = f"; {NEEDS_COUNTRY}" if party[0].isdigit() else ""
            raise BadInput(path, f"may not be called; allowed: {prefixes}{begins}", "not_allowed")
        if to_dial(party, self.region) is None:
            detail = f"the country of {party} is not certain: {NEEDS_COUNTRY}"
            raise BadInput(path, detail, "number_without_country")

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
