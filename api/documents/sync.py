"""Keeps the engines' store the same as the documents of the database.

A change is sent at once. Comparing at intervals finds what is missing: a store that lost its data
or has an old snapshot, and what a process that died between database and engine did not send.
"""

import asyncio
from contextlib import suppress

import structlog

from api.common.clock import Clock
from api.common.errors import ApiError
from api.documents.comparison import DocumentComparison
from api.documents.sync_store import BATCH_SIZE, Place, SyncStore
from wire.documents.versioned import MAX_ACCOUNTS

log = structlog.get_logger()
INTERVAL_S = 1.0
MAX_RECENT = 50  # collections that were changed last, which are compared each time
MAINTENANCE_INTERVAL_MS = 3_600_000


class DocumentSync:
    """Compares the accounts in turn; several processes may do so at once."""

    def __init__(
        self,
        store: SyncStore,
        comparison: DocumentComparison,
        now_ms: Clock,
    ) -> None:
        self._store = store
        self._comparison = comparison
        self._now_ms = now_ms
        self._last_account = ""
        self._has_compared_all = False
        self._maintenance_ms = 0
        self._changed: set[str] = set()
        self._wakeup = asyncio.Event()

    def notify(self, account_id: str) -> None:
        """Schedule sending the changes of an account."""
        self._changed.add(account_id)
        self._wakeup.set()

    async def push(self, account_id: str) -> None:
        """Send the changes of an account now; after a failure, `run` repeats it."""
        if not await self._send(account_id):
            self.notify(account_id)

    async def run(self, interval_s: float = INTERVAL_S) -> None:
        """Compare accounts at intervals, and send changes at once, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due_s = loop.time() + interval_s
            try:
                await (self.compare_next() if self._has_compared_all else self.compare_all())
                await self._maintain()
            except ApiError as error:  # also from an engine of an older version
                log.info("document sync failed", reason=error.detail)
            except Exception:
                log.exception("document sync failed")  # the next one may succeed
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due_s):
                    await self._send_notified()

    async def compare_next(self) -> None:
        """Compare some accounts in turn, and those that were changed last; raises ApiError.

        All are compared if any has lost documents. A store with an old snapshot lacks what was
        changed last: if it does, the accounts that were changed before are compared, too.
        """
        limit = MAX_ACCOUNTS - MAX_RECENT
        accounts = await self._store.accounts(self._last_account, limit)
        self._last_account = accounts[-1] if len(accounts) == limit else ""
        recent = await self._store.last_changed(None, MAX_RECENT)
        found = await self._comparison.compare({*accounts, *(each[1] for each in recent)})
        if found.is_lost:
            await self.compare_all()
        elif found.is_outdated:
            await self._compare_changed()

    async def _compare_changed(self) -> None:
        """Compare accounts by their last change, until some have nothing outdated."""
        last: Place | None = None
        while places := await self._store.last_changed(last, MAX_ACCOUNTS):
            found = await self._comparison.compare({each[1] for each in places})
            if last and not (found.is_outdated or found.is_lost):
                return
            last = places[-1]

    async def compare_all(self) -> None:
        """Compare all accounts; raises ApiError."""
        last = ""
        while accounts := await self._store.accounts(last, MAX_ACCOUNTS):
            await self._comparison.compare(accounts)
            last = accounts[-1]
        self._has_compared_all = True

    async def compare_account(self, account_id: str) -> None:
        """Compare one account now; raises ApiError."""
        self._comparison.retry_now(account_id)
        await self._comparison.compare([account_id])

    async def _maintain(self) -> None:
        if self._now_ms() < self._maintenance_ms:
            return
        while (count := await self._store.encrypt_again()) == BATCH_SIZE:
            log.info("documents encrypted with the new secret", count=count)
        await self._store.remove_old_deletions()
        self._maintenance_ms = self._now_ms() + MAINTENANCE_INTERVAL_MS

    async def _send_notified(self) -> None:
        while True:
            await self._wakeup.wait()
            self._wakeup.clear()
            changed, self._changed = self._changed, set()
            for account_id in changed:
                await self._send(account_id)

    async def _send(self, account_id: str) -> bool:
        """Return whether engines have answered; if not, the next comparison sends the changes."""
        try:
            await self._comparison.send_changes(account_id)
        except ApiError as error:
            log.info("documents not sent", account=account_id, reason=error.detail)
            return False
        except Exception:
            log.exception("documents not sent", account=account_id)
        return True
