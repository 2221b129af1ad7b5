"""The count of live calls, which all processes share."""

import pytest

from api.accounts.store import Account, AccountStore
from api.db.database import Database
from api.voice.live_calls import COUNT_TTL_MS, PENDING_TTL_MS, LiveCalls
from tests.harness.api.manual_clock import ManualClock


@pytest.fixture
async def live(database: Database, clock: ManualClock) -> LiveCalls:
    """Provide the counts of two accounts."""
    accounts = AccountStore(database, clock)
    for account_id in ("acme", "other"):
        await accounts.add(Account(account_id, account_id))
    return LiveCalls(database, clock)


async def test_a_count_is_current_for_a_second(live: LiveCalls, clock: ManualClock) -> None:
    """Then it is replaced; the count of another account says nothing."""
    await live.set_count("other", 3)
    assert not await live.is_current("acme")
    await live.set_count("acme", 1)
    clock.now += COUNT_TTL_MS - 1
    assert await live.is_current("acme")
    clock.now += 1
    assert not await live.is_current("acme")
    await live.set_count("other", 0)
    assert not await live.is_current("acme")


async def test_calls_are_reserved_up_to_the_limit(live: LiveCalls, clock: ManualClock) -> None:
    """Only with a current count, which each reservation increments; accounts are counted apart."""
    assert await live.reserve("acme", 2) is None
    await live.set_count("acme", 1)
    await live.set_count("other", 0)
    assert await live.reserve("acme", 2) is not None
    assert await live.reserve("acme", 2) is None
    assert await live.reserve("other", 1) is not None
    clock.now += COUNT_TTL_MS
    assert await live.reserve("acme", 9) is None


async def test_a_current_count_is_not_replaced(live: LiveCalls, clock: ManualClock) -> None:
    """Calls are being admitted with it; an outdated one is replaced."""
    await live.set_count("acme", 1)
    await live.set_count("acme", 0)
    assert await live.reserve("acme", 1) is None
    clock.now += COUNT_TTL_MS
    await live.set_count("acme", 0)
    assert await live.reserve("acme", 1) is not None


async def test_reservations_are_pending_until_released(live: LiveCalls, clock: ManualClock) -> None:
    """Those of a process that died expire."""
    await live.set_count("acme", 0)
    await live.set_count("other", 0)
    first, second = await live.reserve("acme", 9), await live.reserve("acme", 9)
    assert first is not None
    assert second is not None
    assert [await live.pending(each) for each in ("acme", "other")] == [2, 0]
    await live.release(first)
    assert await live.pending("acme") == 1
    clock.now += PENDING_TTL_MS - 1
    assert await live.pending("acme") == 1
    clock.now += 1
    assert await live.pending("acme") == 0
