"""What an operator has stopped, kept in the store: accounts, and nodes that are drained.

Every engine polls both within a second.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from engine.store.errors import StoreDown
from engine.store.store import DialPolicyStore, Store

log = structlog.get_logger()
POLL_INTERVAL_S = 0.5
# Hangs up the live calls of accounts; called as long as there are stopped accounts.
HangUpCalls = Callable[[frozenset[str]], Awaitable[None]]


class StoppedAccounts:
    """The stopped accounts as last read; unchanged while the store is down."""

    def __init__(self, store: DialPolicyStore) -> None:
        self.accounts: frozenset[str] = frozenset()
        self._store = store

    def has(self, account: str) -> bool:
        return account in self.accounts

    async def run(self, hang_up_calls: HangUpCalls) -> None:
        """Poll until cancelled; calls that start while an account is stopped end, too."""
        while True:
            await self.poll(hang_up_calls)
            await asyncio.sleep(POLL_INTERVAL_S)

    async def poll(self, hang_up_calls: HangUpCalls) -> None:
        """Read the accounts, and hang up their calls."""
        try:
            stopped = await self._store.stopped()
        except StoreDown as error:
            log.info("stopped accounts not read", error=str(error))
            stopped = self.accounts
        for account in sorted(stopped ^ self.accounts):
            log.warning("account stopped" if account in stopped else "account started", id=account)
        self.accounts = stopped
        if stopped:
            await hang_up_calls(stopped)


class DrainedNodes:
    """The drained nodes as last read; unchanged while the store is down."""

    def __init__(self, store: Store) -> None:
        self.nodes: frozenset[str] = frozenset()
        self._store = store

    async def run(self) -> None:
        while True:
            try:
                await self.refresh()
            except StoreDown as error:
                log.info("drained nodes not read", error=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def refresh(self) -> None:
        """Read the drained nodes; raises StoreDown."""
        drained = await self._store.drained()
        for node in sorted(drained ^ self.nodes):
            log.info("node drained" if node in drained else "node undrained", node=node)
        self.nodes = drained

    async def set_drained(self, node: str, is_drained: bool) -> None:
        """Drain a node, or end its drain; raises StoreDown."""
        await self._store.put_drained(node, is_drained)
        await self.refresh()
