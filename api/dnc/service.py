"""Numbers put on an account's do-not-call list and taken off it, by who has the account's token."""

from collections.abc import Callable

import phonenumbers
from msgspec import Struct

from api.accounts.known import KnownAccounts
from api.auth.service import REFUSED
from api.dnc.schemas import Entry, EntryView
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokens
from api.errors import Unauthenticated
from api.terms.document import region_of
from wire.errors import BadInput


class DncService(Struct, frozen=True):
    """What can be done with lists; `changed` hears whose has changed."""

    tokens: DncTokens
    store: DncStore
    known: KnownAccounts
    changed: Callable[[str], None]

    async def subscribe(self, token: str, asked: Entry) -> EntryView:
        """Let a number be called no more, once engines know: a moment later."""
        account_id, number = await self._named(token, asked)
        await self.store.put(account_id, (number,), asked.provider, is_active=asked.is_active)
        self.changed(account_id)
        return EntryView(account_id, number, asked.provider, asked.is_active)

    async def unsubscribe(self, token: str, asked: Entry) -> EntryView:
        """Take a provider's entry off; one that is not there is off already."""
        account_id, number = await self._named(token, asked)
        await self.store.remove(account_id, number, asked.provider)
        self.changed(account_id)
        return EntryView(account_id, number, asked.provider, False)

    async def _named(self, token: str, asked: Entry) -> tuple[str, str]:
        account_id = await self.tokens.account_of(token)
        if account_id is None:
            raise Unauthenticated(REFUSED)
        if asked.account_id not in {None, account_id}:
            raise BadInput("accountId", "not the account of this token")
        known = await self.known.get(account_id)
        return account_id, _full(asked.phone_no, region_of(known.numbers))


def _full(text: str, region: str | None) -> str:
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        number = None
    if number is None or number.extension or not phonenumbers.is_possible_number(number):
        raise BadInput("phoneNo", "expected a phone number such as +4721930000")
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
