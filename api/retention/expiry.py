"""Removes call records, recordings and digits once their account's time for them is over."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal, Self

import structlog
from msgspec import Struct

from api.accounts.store import Account, AccountStore
from api.cdrs.query.queries import Position
from api.cdrs.removal import FIRST, CdrRemoval, StoredCall
from api.common.clock import Clock
from api.common.errors import ApiError
from api.http.services import CommonServices
from api.retention.calls import CallRemoval

DAY_MS = 86_400_000
PAGE_SIZE = 200
Kind = Literal["records", "recordings", "digits"]
Find = Callable[[str, int, Position, int], Awaitable[list[StoredCall]]]
Remove = Callable[[StoredCall], Awaitable[object]]
log = structlog.get_logger()


class Expiry(Struct, frozen=True):
    accounts: AccountStore
    removal: CdrRemoval
    calls: CallRemoval
    now_ms: Clock

    @classmethod
    def build(cls, common: CommonServices) -> Self:
        return cls(
            common.accounts,
            CdrRemoval(common.database),
            CallRemoval.build(common),
            common.now_ms,
        )

    async def run_once(self) -> None:
        """Remove what has expired of all accounts; a fault concerns its call or account only."""
        for account in await self.accounts.all():
            try:
                await self._expire_all(account)
            except Exception:
                log.exception("expired data not removed", account=account.id)

    async def _expire_all(self, account: Account) -> None:
        counts = {kind: await self._expire(account, kind) for kind in _days(account)}
        if removed := {kind: count for kind, count in counts.items() if count}:
            log.info("expired data removed", account=account.id, **removed)

    async def _expire(self, account: Account, kind: Kind) -> int:
        before_ms = self.now_ms() - _days(account)[kind] * DAY_MS
        find, remove = self._steps(kind)
        removed = 0
        async for call in _all(find, account.id, before_ms):
            try:
                await remove(call)
                removed += 1
            except ApiError as error:
                log.warning("not removed", kind=kind, call_id=call.req_id, reason=error.detail)
            except Exception:
                log.exception("not removed", kind=kind, call_id=call.req_id)
        return removed

    def _steps(self, kind: Kind) -> tuple[Find, Remove]:
        match kind:
            case "records":
                return self.removal.calls_before, self.calls.remove
            case "recordings":
                return self.removal.recorded_before, self.calls.remove_recordings
            case "digits":
                return self.removal.with_digits_before, self.removal.remove_digits


async def _all(find: Find, account_id: str, before_ms: int) -> AsyncIterator[StoredCall]:
    """Yield all calls page by page; what could not be removed is not met twice."""
    after = FIRST
    while found := await find(account_id, before_ms, after, PAGE_SIZE):
        for call in found:
            yield call
        after = found[-1].position


def _days(account: Account) -> dict[Kind, int]:
    """Return for how many days what is kept; kinds without a limit are absent."""
    days: dict[Kind, int | None] = {
        "records": account.keep_records_days,  # first: with them go the others
        "recordings": account.keep_recordings_days,
        "digits": account.keep_digits_days,
    }
    return {kind: limit for kind, limit in days.items() if limit is not None}
