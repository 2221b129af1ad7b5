"""Helpers of the outbox tests."""

from engine.store.change import Change
from engine.store.store import Store
from tests.harness.callbacks.scene import commit_of
from tests.harness.shards import SHARD

CALL = "3-pbx1-aaaaaaaa"
OTHER = "3-pbx1-bbbbbbbb"


def change(call: str, *numbers: int, account: str = "acme", target: str = "auto-set") -> Change:
    """Return a commit with some of a call's events."""
    return commit_of(call, *numbers, account=account, target=target)


async def numbers(store: Store, call: str = CALL) -> list[int]:
    """Return the numbers of a call's pending events."""
    return [seq for seq, _ in (await store.callback_queue.pending_events(SHARD, call, 100)).events]
