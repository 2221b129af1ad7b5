"""The store: CPU and time of a commit for engine and Valkey, single and grouped."""

import time
from collections.abc import Iterator

from engine.calls.model.storage_format import LogEntry, StoredCall, encode
from engine.store.change import Change
from engine.store.redis.store import RedisStore
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import SHARD
from tools.bench.cpu import cpu_s
from tools.bench.engine.standard import STARTED_MS, standard_call, standard_events
from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

CHANGES = 20_000
GROUPS = (1, 8, 64)


async def store(setting: Setting) -> list[Figure]:
    """Commit changes of the size that the standard call makes, one at a time and in groups."""
    figures: list[Figure] = []
    changes = CHANGES // 10 if setting.quick else CHANGES
    async with Valkey(setting.folder / "valkey") as valkey:
        store_client = RedisStore(valkey.url)
        token = await store_client.claim(SHARD, "bench", 60_000)
        assert token is not None
        for size in GROUPS:
            prepared = _changes(f"g{size}", changes)
            valkey_s, began_s, cpu = cpu_s(valkey.pid), time.monotonic(), time.process_time()
            for group in _grouped(prepared, size):
                await store_client.commit(SHARD, token, group)
            name = f"in_groups_of_{size}"
            spent = {
                "engine_cpu": time.process_time() - cpu,
                "valkey_cpu": cpu_s(valkey.pid) - valkey_s,
                "time": time.monotonic() - began_s,
            }
            figures += [
                figure("store", f"{what}_{name}", seconds * 1e6 / changes, "µs/commit")
                for what, seconds in spent.items()
            ]
        await store_client.close()
    return figures


def _changes(prefix: str, count: int) -> list[Change]:
    state = encode(StoredCall(standard_call()))
    entry = encode(LogEntry(STARTED_MS, standard_events()[1]))
    return [Change(f"{prefix}.{number}", "pbx1", state, 0, (entry,)) for number in range(count)]


def _grouped(changes: list[Change], size: int) -> Iterator[list[Change]]:
    for first in range(0, len(changes), size):
        yield changes[first : first + size]
