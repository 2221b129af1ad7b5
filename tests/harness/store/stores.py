"""Helpers of the store tests."""

from collections.abc import Callable
from typing import Any

from engine.store.change import Change
from engine.store.store import Store
from tests.harness.shards import SHARD
from wire.shard import ShardId

Opener = Callable[..., Store]


async def claim_shard(store: Store, shard: ShardId, owner: str = "engine1") -> int:
    """Claim a shard whose lease ends at once, so that any engine may claim it next."""
    token = await store.claim(shard, owner, 0)
    assert token is not None, f"shard {shard} has another owner"
    return token


def change(call_id: str = "c1", seq: int = 0, **fields: Any) -> Change:
    """Return the change of step `seq` of a call."""
    defaults: dict[str, Any] = {
        "node": "pbx1",
        "state": b"\x00state %d\xff" % seq,
        "log": (b"\xc1entry %d" % seq,),
    }
    return Change(call_id=call_id, seq=seq, **(defaults | fields))


async def live_calls(store: Store, shard: ShardId = SHARD) -> list[tuple[str, str, bytes]]:
    """Read all live calls."""
    return sorted([call async for call in store.live(shard)])
