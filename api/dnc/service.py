"""Numbers put on an account's do-not-call list and taken off it, by who has the account's token."""

from collections.abc import Callable

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.service import NOT_AUTHENTICATED
from api.common.errors import Unauthenticated
from api.contacts.phone_numbers import InvalidNumber, e164
from api.dnc.schemas import Entry, EntryView
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore
from wire.errors import BadInput


class DncService(Struct, frozen=True):
    """What can be done with lists; `changed` hears whose has changed."""

    tokens: DncTokenStore
    store: DncStore
    known: AccountCache
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
            raise Unauthenticated(NOT_AUTHENTICATED)
        if asked.account_id not in {None, account_id}:
            raise BadInput("accountId", "not the account of this token")
        known = await self.known.get(account_id)
        try:
            return account_id, e164(asked.phone_no, known.account.region)
        except InvalidNumber as error:
            raise BadInput("phoneNo", f"{error}; expected a number such as +4721930000") from None
