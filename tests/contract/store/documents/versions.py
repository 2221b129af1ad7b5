"""Stores as engines without versions of documents have left them."""

from engine.store.redis.store import RedisStore
from engine.store.store import Store
from tests.harness.memory_store.store import MemoryStore

TABLES = ("{route:numbers}", "{phones}", "{agents:a1}", "{requests:a1}", "{callbacks:a1}")
TABLES_WITH_TAG = ("flows:{a1}",)


async def forget_versions(store: Store, accounts: tuple[str, ...] = ("a1", "a2")) -> None:
    """Remove the versions of all documents of a few accounts."""
    if isinstance(store, MemoryStore):
        store.documents.forget_versions()
        return
    assert isinstance(store, RedisStore)
    client = store.documents.client
    for table in (*TABLES, *TABLES_WITH_TAG):
        names = ["owners", "sums", "deleted", *(f"versions:{each}" for each in accounts)]
        for name in names:
            await client.unlink(f"{table}:{name}")
