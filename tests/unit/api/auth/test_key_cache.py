"""Reads of API keys: shared by requests, and by turns only for keys that are not known."""

import asyncio

import pytest

from api.auth.key_cache import KEY_CACHE_MS, KeyCache
from api.auth.key_store import ApiKey
from api.auth.throttle import MAX_FAILURES, MAX_LOOKUPS, MAX_WAITING, Throttle
from api.common.errors import ServiceUnavailable
from api.db.database import work_of

ADDRESS = "192.0.2.1"
KEY = ApiKey("known", "acme", None, "", "", 0, None, (), (), None, is_account_active=True)


class Reads:
    """A key store whose reads end when they may, in a network that fails often."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.ids: list[str] = []
        self.works = set[tuple[str, str]]()  # by key, and whose turn it takes
        self.may_end = asyncio.Event()
        throttle = Throttle(lambda: self.now_ms)
        for _ in range(MAX_FAILURES):
            throttle.record_failure(ADDRESS)
        self.cache = KeyCache(self._read, throttle, lambda: self.now_ms)

    async def _read(self, key_id: str) -> ApiKey | None:
        self.ids.append(key_id)
        self.works.add((key_id[:7], work_of.get()))
        await self.may_end.wait()
        return KEY if key_id == KEY.id else None


async def test_a_known_key_needs_no_turn() -> None:
    """Its customer is served while strangers at its address wait and are rejected."""
    reads = Reads()
    work_of.set("?")
    reads.cache.put(KEY)
    reads.now_ms = KEY_CACHE_MS + 1
    strangers = [
        asyncio.create_task(reads.cache.get(f"unknown-{number}", ADDRESS))
        for number in range(MAX_LOOKUPS + MAX_WAITING)
    ]
    await asyncio.sleep(0)
    with pytest.raises(ServiceUnavailable):
        await reads.cache.get("unknown", ADDRESS)
    customer = asyncio.create_task(reads.cache.get(KEY.id, ADDRESS))
    await asyncio.sleep(0)
    reads.may_end.set()
    assert await customer == KEY
    assert await asyncio.gather(*strangers) == [None] * len(strangers)
    assert reads.works == {("unknown", "?"), ("known", "acme")}


async def test_requests_share_a_read() -> None:
    """It continues when the request that started it is cancelled."""
    reads = Reads()
    reads.cache.put(KEY)
    reads.now_ms = KEY_CACHE_MS + 1
    requests = [asyncio.create_task(reads.cache.get(KEY.id, ADDRESS)) for _ in range(200)]
    await asyncio.sleep(0)
    requests[0].cancel()
    reads.may_end.set()
    assert await asyncio.gather(*requests[1:]) == [KEY] * 199
    assert reads.ids == [KEY.id]


async def test_an_unknown_key_is_read_once_in_a_while() -> None:
    """A stranger who repeats it costs no reads."""
    reads = Reads()
    reads.may_end.set()
    for _ in range(3):
        assert await reads.cache.get("unknown", ADDRESS) is None
    assert reads.ids == ["unknown"]
    reads.now_ms += KEY_CACHE_MS + 1
    assert await reads.cache.get("unknown", ADDRESS) is None
    assert reads.ids == ["unknown"] * 2
