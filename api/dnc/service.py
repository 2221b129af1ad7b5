"""Lists and changes an account's do-not-call list: for its keys, and for those with a token."""

from typing import Protocol, Self

from msgspec import Struct
from prometheus_client import Gauge

from api.accounts.cache import AccountCache
from api.auth.throttle import NOT_AUTHENTICATED
from api.common.errors import Unauthenticated
from api.common.timestamps import format_ms
from api.db.database import work_of
from api.db.row_quota import RowQuota
from api.dnc.schemas import DncEntry, DncEntryRow, DncEntryView, DncPage, EntryQuery, RemovedEntry
from api.dnc.store import DncStore, EntryFilter, StoredEntry, entry_limit
from api.dnc.tokens import DncTokenStore
from api.http.services import CommonServices
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber


class Engines(Protocol):
    """What calls an account's numbers, and has its list."""

    async def apply(self, account_id: str) -> None:
        """Send what has changed of an account's list; engines that do not answer get it later."""

    def list_version(self, account_id: str) -> int:
        """Return the version of an account's list that engines have."""

    async def count_waiting(self) -> int:
        """Return how many changes of all lists engines do not have yet."""


class DncService(Struct, frozen=True):
    tokens: DncTokenStore
    store: DncStore
    accounts: AccountCache
    engines: Engines
    not_in_force: Gauge
    quota: RowQuota

    @classmethod
    def build(cls, common: CommonServices, engines: Engines) -> Self:
        database, now_ms = common.database, common.now_ms
        return cls(
            DncTokenStore(database, now_ms),
            DncStore(database, now_ms),
            common.account_cache,
            engines,
            common.metrics.dnc_not_in_force,
            RowQuota(database, now_ms, entry_limit(common.settings.max_dnc_entries)),
        )

    async def list(self, account_id: str, query: EntryQuery) -> DncPage:
        """Return a page of the list; those of a number are none if it is not on the list."""
        number = await self._number(account_id, query.phone_no) if query.phone_no else None
        number_after, _, provider_after = query.cursor.partition(",")
        after = (number_after, provider_after) if query.cursor else None
        filters = EntryFilter(number, query.is_active, after)
        found = await self.store.page(account_id, filters, query.limit + 1)
        shown = found[: query.limit]
        has_more = len(found) > query.limit
        cursor = f"{shown[-1].number},{shown[-1].provider}" if has_more else None
        version = self.engines.list_version(account_id)
        return DncPage(tuple(_row(each, version) for each in shown), query.limit, cursor)

    async def add(self, account_id: str, entry: DncEntry) -> DncEntryView:
        """Put a number on the list, and give it to the engines; raises Conflict (`quota`)."""
        _check_account(entry, account_id)
        number = await self._number(account_id, entry.phone_no)
        if await self.store.get(account_id, number, entry.provider) is None:
            await self.quota.check(account_id)
        await self.store.put(account_id, (number,), entry.provider, is_active=entry.is_active)
        return await self._view(account_id, number, entry.provider)

    async def remove(self, account_id: str, entry: RemovedEntry | DncEntry) -> DncEntryView:
        """Take a provider's entry off; without one, do nothing."""
        number = await self._number(account_id, entry.phone_no)
        await self.store.remove(account_id, number, entry.provider)
        return await self._view(account_id, number, entry.provider)

    async def subscribe(self, token: str, entry: DncEntry) -> DncEntryView:
        """Put a number on the list of a token's account."""
        return await self.add(await self._account_of(token), entry)

    async def unsubscribe(self, token: str, entry: DncEntry) -> DncEntryView:
        """Take a provider's entry off the list of a token's account."""
        account_id = await self._account_of(token)
        _check_account(entry, account_id)
        return await self.remove(account_id, entry)

    async def measure(self) -> None:
        """Count the entries that look as if they were in force, and are not."""
        self.not_in_force.labels("waiting").set(await self.engines.count_waiting())
        self.not_in_force.labels("refused").set(await self.store.count_refused())

    async def _account_of(self, token: str) -> str:
        account_id = await self.tokens.account_of(token)
        if account_id is None:
            raise Unauthenticated(NOT_AUTHENTICATED)
        work_of.set(account_id)
        return account_id

    async def _view(self, account_id: str, number: str, provider: str) -> DncEntryView:
        """Return an entry as it is once engines have it, or do not answer."""
        await self.engines.apply(account_id)
        entry = await self.store.get(account_id, number, provider)
        if entry is None:  # one that is not on the list is removed
            return DncEntryView(account_id, number, provider, is_active=False, is_in_force=True)
        is_in_force = _is_in_force(entry, self.engines.list_version(account_id))
        return DncEntryView(account_id, number, provider, entry.is_active, is_in_force)

    async def _number(self, account_id: str, phone_no: str) -> str:
        region = (await self.accounts.get(account_id)).region
        try:
            return e164(phone_no, region)
        except InvalidNumber as error:
            raise BadInput("phoneNo", f"{error}; expected a number such as +4721930000") from None


def _check_account(entry: DncEntry, account_id: str) -> None:
    if entry.account_id not in {None, account_id}:
        raise BadInput("accountId", "not the account of this token")


def _row(entry: StoredEntry, list_version: int) -> DncEntryRow:
    return DncEntryRow(
        entry.number,
        entry.provider,
        entry.is_active,
        format_ms(entry.changed_ms),
        _is_in_force(entry, list_version),
        entry.refusal or None,
    )


def _is_in_force(entry: StoredEntry, list_version: int) -> bool:
    return entry.version <= list_version and not (entry.refusal and entry.is_active)
