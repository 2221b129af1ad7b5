"""Changes an account's do-not-call list, authorized by a token."""

from collections.abc import Callable

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.throttle import NOT_AUTHENTICATED
from api.common.errors import Unauthenticated
from api.common.phone_numbers import InvalidNumber, e164
from api.dnc.schemas import DncEntry, DncEntryView
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore
from wire.decoding.errors import BadInput


class DncService(Struct, frozen=True):
    """Operations on lists; `on_change` is called with the account whose list has changed."""

    tokens: DncTokenStore
    store: DncStore
    accounts: AccountCache
    on_change: Callable[[str], None]

    async def subscribe(self, token: str, entry: DncEntry) -> DncEntryView:
        """Put a number on the list; engines apply it a moment later."""
        account_id, number = await self._resolve(token, entry)
        await self.store.put(account_id, (number,), entry.provider, is_active=entry.is_active)
        self.on_change(account_id)
        return DncEntryView(account_id, number, entry.provider, entry.is_active)

    async def unsubscribe(self, token: str, entry: DncEntry) -> DncEntryView:
        """Take a provider's entry off; without one, do nothing."""
        account_id, number = await self._resolve(token, entry)
        await self.store.remove(account_id, number, entry.provider)
        self.on_change(account_id)
        return DncEntryView(account_id, number, entry.provider, False)

    async def _resolve(self, token: str, entry: DncEntry) -> tuple[str, str]:
        account_id = await self.tokens.account_of(token)
        if account_id is None:
            raise Unauthenticated(NOT_AUTHENTICATED)
        if entry.account_id not in {None, account_id}:
            raise BadInput("accountId", "not the account of this token")
        region = (await self.accounts.get(account_id)).region
        try:
            return account_id, e164(entry.phone_no, region)
        except InvalidNumber as error:
            raise BadInput("phoneNo", f"{error}; expected a number such as +4721930000") from None
