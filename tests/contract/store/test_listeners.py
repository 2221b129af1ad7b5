"""Listeners in all stores: leases, requests and responses."""

import asyncio

from engine.store.listeners import FIRST, MAX_LISTENERS
from engine.store.redis.pool import MAX_BLOCKED_READS, MAX_REQUESTS
from engine.store.store import Store
from wire.listeners import Listener

LEASE_MS = 60_000


async def listener(store: Store, name: str = "a", account: str = "acme", **to: str) -> Listener:
    """Return a listener of a number, unless `to` says what else."""
    now_ms = await store.time_ms()
    return Listener(name, account, now_ms, now_ms + 600_000, **{"number": "+4711111111", **to})


async def test_a_listener_lives_until_it_is_removed(store: Store) -> None:
    """It is found with what it listens to; another account cannot remove or renew it."""
    made = await listener(store, account="acme inc")
    assert await store.listeners.live() == []
    assert await store.listeners.add(made, LEASE_MS)
    assert await store.listeners.live() == [made]
    assert not await store.listeners.remove("other", made.id)
    assert await store.listeners.renew("other", made.id, LEASE_MS) == "ended"
    assert await store.listeners.renew("acme inc", made.id, LEASE_MS) == "live"
    assert await store.listeners.remove("acme inc", made.id)
    assert not await store.listeners.remove("acme inc", made.id)
    assert await store.listeners.live() == []
    assert await store.listeners.renew("acme inc", made.id, LEASE_MS) == "ended"


async def test_a_listener_without_a_lease_is_not_live(store: Store) -> None:
    """It is live again once its lease is renewed, unless it is past its end."""
    made = await listener(store)
    await store.listeners.add(made, 0)
    assert await store.listeners.live() == []
    assert await store.listeners.renew("acme", made.id, LEASE_MS) == "live"
    assert await store.listeners.live() == [made]
    over = Listener("b", "acme", 0, 1, "+4711111111", call_id="3-pbx1-12345678")
    await store.listeners.add(over, LEASE_MS)
    assert await store.listeners.live() == [made]
    assert await store.listeners.renew("acme", "b", LEASE_MS) == "ended"


async def test_a_newer_listener_replaces_that_of_the_same_number(store: Store) -> None:
    """The earlier one learns of it; listeners of other accounts, numbers and calls stay."""
    others = [
        await listener(store, "b", "other"),
        await listener(store, "c", number="+4722222222"),
        await listener(store, "d", call_id="3-pbx1-12345678"),
    ]
    for each in (await listener(store), *others, await listener(store, "new")):
        assert await store.listeners.add(each, LEASE_MS)
    assert {each.id for each in await store.listeners.live()} == {"b", "c", "d", "new"}
    assert await store.listeners.renew("acme", "a", LEASE_MS) == "replaced"
    assert await store.listeners.renew("other", "b", LEASE_MS) == "live"


async def test_an_account_has_a_limited_number_of_listeners(store: Store) -> None:
    """One that replaces another is always possible, and those of other accounts do not count."""
    for number in range(MAX_LISTENERS):
        made = await listener(store, f"l{number}", number=f"+47222222{number:02}")
        assert await store.listeners.add(made, LEASE_MS)
    assert not await store.listeners.add(await listener(store, "x"), LEASE_MS)
    assert await store.listeners.add(await listener(store, "y", number="+4722222200"), LEASE_MS)
    assert await store.listeners.add(await listener(store, "z", "other"), LEASE_MS)
    assert len(await store.listeners.live()) == MAX_LISTENERS + 1


async def test_requests_are_read_after_a_position_until_they_are_withdrawn(store: Store) -> None:
    """A reader that lost a response reads the same requests again."""
    listeners = store.listeners
    first = await listeners.offer("a", "r1", b"one\xff", LEASE_MS)
    second = await listeners.offer("a", "r2", b"two", LEASE_MS)
    found = await listeners.requests("a", FIRST, 0, 10)
    assert [(each.position, each.body) for each in found] == [(first, b"one\xff"), (second, b"two")]
    assert await listeners.requests("a", FIRST, 0, 1) == found[:1]
    assert await listeners.requests("a", first, 0, 10) == found[1:]
    assert list(await listeners.requests("b", FIRST, 0, 10)) == []
    await listeners.withdraw("a", "r1", first)
    assert await listeners.requests("a", FIRST, 0, 10) == found[1:]
    await listeners.withdraw("a", "r1", first)


async def test_a_request_has_one_response(store: Store) -> None:
    """The first response counts; none is stored for a request that no engine waits for."""
    listeners = store.listeners
    position = await listeners.offer("a", "r1", b"one", LEASE_MS)
    assert await listeners.response("a", "r1", 1) is None
    assert not await listeners.respond("b", "r1", b"x")
    assert await listeners.respond("a", "r1", b"\x00first")
    assert not await listeners.respond("a", "r1", b"second")
    assert await listeners.response("a", "r1", 0) == b"\x00first"
    await listeners.withdraw("a", "r1", position)
    assert await listeners.response("a", "r1", 1) is None
    assert not await listeners.respond("a", "r1", b"late")


async def test_readers_wait_for_requests_and_responses(store: Store) -> None:
    """They return as soon as there is one."""
    listeners = store.listeners
    reading = asyncio.create_task(listeners.requests("a", FIRST, 20_000, 10))
    waiting = asyncio.create_task(listeners.response("a", "r1", 20_000))
    await asyncio.sleep(0)  # both have begun
    assert not reading.done()
    await listeners.offer("a", "r1", b"one", LEASE_MS)
    assert [each.body for each in await reading] == [b"one"]
    assert await listeners.respond("a", "r1", b"done")
    assert await waiting == b"done"


async def test_waiting_readers_leave_connections_for_others(store: Store) -> None:
    """However many there are, and however many other requests at once."""
    listeners = store.listeners
    polls = [
        asyncio.create_task(listeners.requests("a", FIRST, 20_000, 10))
        for _ in range(MAX_BLOCKED_READS + 1)
    ]
    await asyncio.gather(*(store.ping() for _ in range(2 * MAX_REQUESTS)))
    assert not any(each.done() for each in polls)
    await listeners.offer("a", "r1", b"one", LEASE_MS)
    assert {found[0].body for found in await asyncio.gather(*polls)} == {b"one"}
