"""Withdraws the logins of phones in browsers whose API key has ended, and ends their websockets.

A key ends by REST, by the command line, with its account, or by itself: the database knows them
all. So each process looks there, which also finds what ended while none was running.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection

import structlog

from api.auth.key_store import KeyStore
from api.common.clock import Clock
from api.documents.agent_store import AgentStore
from api.http.phone_websockets import AccountKey

log = structlog.get_logger()
INTERVAL_S = 0.5


class EndedKeys:
    """Remembers the keys whose logins it has withdrawn."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        keys: KeyStore,
        agents: AgentStore,
        push: Callable[[str], Awaitable[None]],
        end_websockets: Callable[[Collection[AccountKey]], None],
        life_s: float,
        now_ms: Clock,
    ) -> None:
        self._keys = keys
        self._agents = agents
        self._push = push
        self._end_websockets = end_websockets
        self._life_ms = round(life_s * 1_000)  # of a login: those of older keys have expired
        self._now_ms = now_ms
        self._done: set[AccountKey] = set()

    async def run(self, interval_s: float = INTERVAL_S) -> None:
        """Withdraw logins until cancelled."""
        while True:
            try:
                await self.withdraw()
            except Exception:
                log.exception("logins of ended keys not withdrawn")  # the next time may succeed
            await asyncio.sleep(interval_s)

    async def withdraw(self) -> None:
        """Withdraw the logins of the keys that have ended since the last time."""
        found = set(await self._keys.ended(self._now_ms() - self._life_ms))
        self._end_websockets(found)
        self._done &= found  # an account may be active again
        by_account = defaultdict[str, set[str]](set)
        for account_id, key_id in found - self._done:
            by_account[account_id].add(key_id)
        for account_id, key_ids in by_account.items():
            if await self._agents.withdraw_logins(account_id, key_ids):
                log.info("phone logins withdrawn", account=account_id, keys=sorted(key_ids))
                await self._push(account_id)
            self._done |= {(account_id, each) for each in key_ids}
