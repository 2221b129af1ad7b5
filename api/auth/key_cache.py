"""The state of API keys, cached for two seconds; requests with one key share one read."""

import asyncio
from collections.abc import Awaitable, Callable

from api.auth.key_store import ApiKey
from api.auth.throttle import Throttle
from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.db.database import work_of

KEY_CACHE_MS = 2_000


class KeyCache:
    def __init__(
        self, read: Callable[[str], Awaitable[ApiKey | None]], throttle: Throttle, now_ms: Clock
    ) -> None:
        self._read = read
        self._throttle = throttle
        self._now_ms = now_ms
        self._known: BoundedDict[str, tuple[int, ApiKey]] = BoundedDict()
        # Apart from the known ones, which strangers must not displace.
        self._unknown: BoundedDict[str, int] = BoundedDict()
        self._reads: dict[str, asyncio.Task[ApiKey | None]] = {}

    async def get(self, key_id: str, address: str) -> ApiKey | None:
        """Return a key; raises ServiceUnavailable if many unknown ones wait for its network.

        A known key is read again without a turn, and for its account: others at its address, and
        strangers, do not delay it.
        """
        now_ms = self._now_ms()
        until_ms, key = self._known.get(key_id) or (0, None)
        if until_ms > now_ms:
            return key
        if (self._unknown.get(key_id) or 0) > now_ms:
            return None
        if key is not None:
            return await self._read_once(key_id, key.account_id)
        async with self._throttle.lookup(address):
            return await self._read_once(key_id)

    def put(self, key: ApiKey) -> None:
        """Store a key that is current now."""
        self._known.put(key.id, (self._now_ms() + KEY_CACHE_MS, key))

    async def _read_once(self, key_id: str, account_id: str | None = None) -> ApiKey | None:
        if key_id not in self._reads:
            read = self._reread(key_id, account_id)
            self._reads[key_id] = asyncio.get_running_loop().create_task(read)
        return await asyncio.shield(self._reads[key_id])  # a cancelled caller fails no other

    async def _reread(self, key_id: str, account_id: str | None) -> ApiKey | None:
        if account_id is not None:
            work_of.set(account_id)  # of this task only
        try:
            found = await self._read(key_id)
        finally:
            del self._reads[key_id]
        if found is None:
            self._unknown.put(key_id, self._now_ms() + KEY_CACHE_MS)
        else:
            self.put(found)
        return found
