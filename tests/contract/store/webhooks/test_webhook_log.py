"""The webhook log in all stores: order, calls, limits, accounts."""

from engine.store.store import Store
from engine.store.webhook_log import (
    MAX_OF_CALL,
    NEWEST,
    NewAttempt,
    StoredAttempt,
    WebhookLogLimits,
)
from tests.harness.store.stores import Opener
from tests.harness.until import until

CALL = "3-pbx1-aaaaaaaa"
OTHER = "3-pbx1-bbbbbbbb"


def attempts(*bodies: bytes, call: str = CALL) -> list[NewAttempt]:
    """Return attempts of a call."""
    return [NewAttempt(call, body) for body in bodies]


def bodies(found: list[StoredAttempt]) -> list[bytes]:
    """Return what was stored."""
    return [each.body for each in found]


async def test_both_directions(store: Store) -> None:
    """Attempts are read from the latest back, and from the earliest on, page by page."""
    log = store.webhook_log
    await log.append("acme", attempts(b"\x00one", b"two"))
    await log.append("acme", attempts(b"three\xff"))
    latest = await log.read_before("acme", NEWEST, 2)
    assert bodies(latest) == [b"three\xff", b"two"]
    assert bodies(await log.read_before("acme", latest[-1].id, 2)) == [b"\x00one"]
    first = await log.read_after("acme", "0-0", 1)
    assert bodies(first) == [b"\x00one"]
    assert bodies(await log.read_after("acme", first[0].id, 9)) == [b"two", b"three\xff"]
    assert await log.read_after("acme", latest[0].id, 9) == []


async def test_attempts_of_a_call(store: Store) -> None:
    """The attempts of a call are found without reading those of others."""
    log = store.webhook_log
    await log.append("acme", attempts(b"one") + attempts(b"other", call=OTHER))
    await log.append("acme", [*attempts(b"two"), NewAttempt("", b"of no call")])
    assert bodies(await log.of_call("acme", CALL)) == [b"one", b"two"]
    assert bodies(await log.of_call("acme", OTHER)) == [b"other"]
    assert await log.of_call("acme", "3-pbx1-cccccccc") == []
    first, *_ = await log.of_call("acme", CALL)
    assert bodies(await log.of_call("acme", CALL, first.id)) == [b"two"]


async def test_a_call_with_many_attempts(store: Store) -> None:
    """The latest are found by the call: all at once they would fill the memory of an engine."""
    log, extra = store.webhook_log, 7
    for start in range(0, MAX_OF_CALL + extra, 100):
        numbers = range(start, min(start + 100, MAX_OF_CALL + extra))
        await log.append("acme", attempts(*(b"%d" % each for each in numbers)))
    found = bodies(await log.of_call("acme", CALL))
    assert found == [b"%d" % each for each in range(extra, MAX_OF_CALL + extra)]


async def test_accounts_are_apart(store: Store) -> None:
    """An account sees nothing of another one, by list, id or call."""
    log = store.webhook_log
    await log.append("acme", attempts(b"one"))
    (stored,) = await log.read_before("acme", NEWEST, 9)
    assert await log.read("acme", stored.id) == stored
    assert await log.read("other", stored.id) is None
    assert await log.read_before("other", NEWEST, 9) == []
    assert await log.read_after("other", "0-0", 9) == []
    assert await log.of_call("other", CALL) == []
    assert await log.remove("other", [stored.id]) == 0


async def test_removed_attempts(store: Store) -> None:
    """A removed attempt is in no list; the others stay."""
    log = store.webhook_log
    await log.append("acme", attempts(b"one", b"two"))
    first, second = await log.of_call("acme", CALL)
    assert await log.remove("acme", [first.id]) == 1
    assert await log.remove("acme", [first.id]) == 0
    assert await log.of_call("acme", CALL) == [second]
    assert await log.read_before("acme", NEWEST, 9) == [second]
    assert await log.read("acme", first.id) is None


async def test_the_ceiling_of_an_account(opened: Opener) -> None:
    """An account has about as many attempts as allowed: the oldest make room."""
    store = opened(webhook_log_limits=WebhookLogLimits(max_attempts=100))
    for number in range(500):
        await store.webhook_log.append("acme", attempts(b"%d" % number))
    await store.webhook_log.append("other", attempts(b"other"))
    kept = bodies(await store.webhook_log.read_before("acme", NEWEST, 1_000))
    assert 100 <= len(kept) <= 200
    assert kept[0] == b"499"
    assert set(bodies(await store.webhook_log.of_call("acme", CALL))) <= set(kept)
    assert bodies(await store.webhook_log.of_call("other", CALL)) == [b"other"]


async def test_attempts_expire(opened: Opener) -> None:
    """Attempts are forgotten after a while, with the list of their call."""
    store = opened(webhook_log_limits=WebhookLogLimits(kept_ms=50))
    log = store.webhook_log
    await log.append("acme", attempts(b"old"))

    async def is_forgotten() -> bool:
        return await log.read_before("acme", NEWEST, 9) == [] == await log.of_call("acme", CALL)

    await until(is_forgotten)
