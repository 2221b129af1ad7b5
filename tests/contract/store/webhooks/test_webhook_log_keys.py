"""What the webhook log of an account occupies in Redis is bounded by its ceiling."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from engine.store.redis.store import RedisStore
from engine.store.webhook_log import NEWEST, NewAttempt, WebhookLogLimits
from tests.harness.servers.valkey import Valkey
from tests.harness.until import MAX_WAIT_S

CEILING = 100
SLACK = 100  # a stream is trimmed by whole nodes


@pytest.fixture
async def client(shared_valkey: Valkey) -> AsyncIterator[Redis]:
    """Empty the server, and provide a client of it."""
    async with Redis(port=shared_valkey.port) as made:
        await made.flushall()
        yield made


@pytest.fixture
async def store(shared_valkey: Valkey, client: Redis) -> AsyncIterator[RedisStore]:
    """Provide a store with a low ceiling."""
    limits = WebhookLogLimits(max_attempts=CEILING)
    made = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S, webhook_log_limits=limits)
    yield made
    await made.close()


async def append(store: RedisStore, *calls: str) -> None:
    """Store one attempt of each call."""
    await store.webhook_log.append("acme", [NewAttempt(call, b"body") for call in calls])


async def test_calls_without_attempts_are_forgotten(store: RedisStore, client: Redis) -> None:
    """There are no more lists of calls than attempts, however many calls there were."""
    for number in range(1_000):
        await append(store, f"call-{number}")
    kept = await store.webhook_log.read_before("acme", NEWEST, 10_000)
    assert len(kept) <= CEILING + SLACK
    lists = await client.keys("{webhooks:acme}:call:*")
    assert len(lists) <= len(kept) + 1
    assert await client.zcard("{webhooks:acme}:calls_by_last") == len(lists)
    assert len(await store.webhook_log.of_call("acme", "call-999")) == 1
    for key in await client.keys("*"):
        assert await client.pttl(key) > 0, key


async def test_calls_of_one_millisecond_are_forgotten(store: RedisStore, client: Redis) -> None:
    """Attempts stored together have one time; those before the oldest are removed all the same."""
    for batch in range(10):
        await append(store, *(f"call-{batch}-{number}" for number in range(150)))
    kept = await store.webhook_log.read_before("acme", NEWEST, 10_000)
    assert len(await client.keys("{webhooks:acme}:call:*")) == len(kept)


async def test_a_call_forgets_the_ids_of_removed_attempts(store: RedisStore, client: Redis) -> None:
    """Its list is as short as what is left of it in the stream."""
    for _ in range(CEILING):
        await append(store, "long")
    for number in range(4 * CEILING):
        await append(store, f"call-{number}")
    await append(store, "long")
    assert await client.llen("{webhooks:acme}:call:long") == 1
    assert len(await store.webhook_log.of_call("acme", "long")) == 1
