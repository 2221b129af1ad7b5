"""Terms are put into the engines' store, and do-not-call lists brought up to date there.

What is there says which version it has, so whatever is missed (a store that lost everything, a
process that died between the database and the engine) is seen by comparing, and put anew.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import structlog

from api.accounts.store import Account, AccountStore
from api.common.errors import ApiError, ServiceUnavailable
from api.dnc.store import Change, DncStore, ListVersions
from api.engine_client import EngineClient
from api.policy_sync.document import dial_policy_of
from wire.dial_policy import (
    AccountDialPolicy,
    DialPolicies,
    DialPolicyView,
    DncListChange,
    DncListState,
)

log = structlog.get_logger()
INTERVAL_S = 2.0
MAX_CHANGES = 5_000  # changes at once


class PolicySync:
    """Compares now and then, and at once what it is told of."""

    def __init__(self, engine: EngineClient, accounts: AccountStore, lists: DncStore) -> None:
        self._engine = engine
        self._accounts = accounts
        self._lists = lists
        self._engine_state: dict[str, DialPolicyView] = {}
        self._changed: set[str] = set()
        self._wakeup = asyncio.Event()

    def notify(self, account_id: str) -> None:
        """Hear that an account's list has changed."""
        self._changed.add(account_id)
        self._wakeup.set()

    async def run(self, every_s: float = INTERVAL_S) -> None:
        """Compare all every so often, and meanwhile those that have changed, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + every_s
            try:
                await self.sync_all()
            except ApiError as error:  # an older engine, too, has no terms: it will be replaced
                log.info("terms not compared", reason=error.detail)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due_s):
                    await self._sync_changed()

    async def sync_all(self) -> None:
        """Put whatever engines do not have as it is here; raises NotNow."""
        shown = await self._engine.request(DialPolicies, "GET", "/terms")
        self._engine_state = {each.account: each for each in shown.accounts}
        extents, numbers = await self._lists.extents(), await self._accounts.all_numbers()
        for account in await self._accounts.all():
            own = numbers.get(account.id, ())
            await self._sync(account, own, extents.get(account.id, ListVersions()))

    async def resend_all(self) -> None:
        """Put all lists from their beginnings; until it is there, who has one calls nobody."""
        for account_id in await self._lists.extents():
            await self._engine.request_raw("DELETE", f"/terms/{account_id}/dnc")
        await self.sync_all()

    async def sync_account(self, account_id: str) -> None:
        """Put what has changed of one account; raises NotNow."""
        account = await self._accounts.get(account_id)
        numbers = await self._accounts.numbers(account_id)
        await self._sync(account, numbers, await self._lists.extent(account_id))

    async def _sync_changed(self) -> None:
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            changed, self._changed = self._changed, set()
            for account_id in changed:
                with suppress(ApiError):  # the next comparison finds it
                    await self.sync_account(account_id)

    async def _sync(self, account: Account, numbers: Sequence[str], there: ListVersions) -> None:
        seen = self._engine_state.get(account.id, DialPolicyView(account.id))
        try:
            # The list first: terms that say there is one forbid all calls until it is there.
            stands = await self._sync_list(account.id, seen.list_version, there)
            terms = dial_policy_of(account, numbers, has_list=there.version > 0)
            if terms.version != seen.version:
                await self._put_policy(account.id, terms)
            self._engine_state[account.id] = DialPolicyView(account.id, terms.version, stands)
        except ServiceUnavailable:
            raise
        except ApiError as error:  # of one account, which is not to hold up the others
            log.warning("terms refused", account=account.id, reason=error.detail)

    async def _put_policy(self, account_id: str, terms: AccountDialPolicy) -> None:
        await self._engine.request(DialPolicyView, "PUT", f"/terms/{account_id}", terms)
        log.info("terms put", account=account_id, version=terms.version)

    async def _sync_list(self, account_id: str, stands: int, there: ListVersions) -> int:
        """Bring a list from where it stands in the engines to its end; tells where it stands."""
        while stands != there.version:
            if stands > there.version:
                there = await self._lists.extent(account_id)  # another process was faster
            # What stands elsewhere is of another database, or of one that was put back.
            after = stands if there.since < stands <= there.version else 0
            if after == there.version:
                break
            change = await self._change(account_id, after, there.version)
            path = f"/terms/{account_id}/dnc"
            stands = (await self._engine.request(DncListState, "PATCH", path, change)).version
        return stands

    async def _change(self, account_id: str, after: int, until: int) -> DncListChange:
        found = await self._lists.changes(account_id, after, until, MAX_CHANGES)
        is_last = len(found) < MAX_CHANGES or found[-1].version == until
        return DncListChange(
            after=after,
            version=until if is_last else found[-1].version,
            add=_numbers(found, listed=True),
            remove=_numbers(found, listed=False) if after else (),
            is_whole=is_last,
        )


def _numbers(changes: Sequence[Change], *, listed: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.number for each in changes if each.is_listed == listed))


@asynccontextmanager
async def run_policy_sync(pusher: PolicySync) -> AsyncIterator[None]:
    """Push for as long as the context lasts."""
    task = asyncio.create_task(pusher.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
