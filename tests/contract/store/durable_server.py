"""A durable server for fault tests, and the changes written to it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from engine.store.change import Change
from engine.store.redis.store import RedisStore
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import at
from tests.harness.until import MAX_WAIT_S


class DurableValkey(Valkey):
    """A server that replies to a write once it is on disk."""

    def command(self) -> Sequence[str]:
        """Return the server's command line."""
        return [*super().command(), "--appendfsync", "always"]


@asynccontextmanager
async def open_store(url: str, timeout_s: float = MAX_WAIT_S) -> AsyncIterator[RedisStore]:
    """Open a store for the length of a test."""
    store = RedisStore(url, timeout_s=timeout_s)
    try:
        yield store
    finally:
        await store.close()


def change(number: int, call_id: str = "c1") -> Change:
    """Return the change of step `number`, whose log entry and event are that number."""
    body = b"%d" % number
    return Change(call_id, "pbx1", body, number, (body,), (body,))


async def all_events(store: RedisStore) -> list[bytes]:
    """Read all events of shard 3."""
    return [event for _, _, event in await store.stream.read_after({at(3): "0"}, limit=100_000)]
