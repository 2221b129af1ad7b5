"""The callback queue in every store."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from engine.store.callback_queue import CallbackQueueLimits, GivenUp, Settlement
from engine.store.errors import Fenced
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument
from tests.contract.store.outboxes import CALL, OTHER, change, numbers
from tests.harness.shards import SHARD
from tests.harness.store.stores import Opener, claim_shard
from wire.documents.versioned import CALLBACK_ID


async def test_committed_callbacks_are_pending(store: Store) -> None:
    """Events are in the order of their numbers, with their delivery key."""
    token = await claim_shard(store, SHARD)
    committed = change(CALL, 0, 1, 2)
    await store.commit(
        SHARD, token, [committed, replace(change(OTHER, 0), delivery_key="", callbacks=())]
    )
    pending = await store.callback_queue.pending_events(SHARD, CALL, 100)
    assert pending.events == tuple(enumerate(committed.callbacks))
    assert (pending.delivery_key, pending.tries) == ("acme auto-set", 0)
    assert await numbers(store, OTHER) == []
    assert len((await store.callback_queue.pending_events(SHARD, CALL, 2)).events) == 2


async def test_a_repeated_commit_adds_nothing(store: Store) -> None:
    """A commit whose reply was lost is repeated: events delivered meanwhile stay delivered."""
    token = await claim_shard(store, SHARD)
    committed = change(CALL, 0, 1)
    await store.commit(SHARD, token, [committed])
    await store.callback_queue.settle(SHARD, token, [Settlement(CALL, delivered=(0,))])
    await store.commit(SHARD, token, [committed])
    assert await numbers(store) == [1]
    assert (await store.callback_queue.claim_due(SHARD, token, 0, 10)).pending == 1


async def test_the_committing_engine_delivers_first(opened: Opener) -> None:
    """New events are not due for polling; a takeover claims ahead."""
    store = opened(outbox_limits=CallbackQueueLimits(claim_ms=60_000))
    token = await claim_shard(store, SHARD)
    await store.commit(SHARD, token, [change(CALL, 0)])
    assert (await store.callback_queue.claim_due(SHARD, token, 0, 10)).calls == ()
    batch = await store.callback_queue.claim_due(SHARD, token, 60_000, 10)
    assert [(due.call_id, due.delivery_key) for due in batch.calls] == [(CALL, "acme auto-set")]
    assert batch.pending == 1


async def test_undelivered_events_are_removed(store: Store) -> None:
    """With any owner; an account's calls are found, and a call without events is not."""
    token = await claim_shard(store, SHARD)
    await store.commit(SHARD, token, [change(CALL, 0, 1, 2), change(OTHER, 0, account="acme-2")])
    assert await store.callback_queue.pending_calls(SHARD, "acme", 0) == (0, [CALL])
    assert await store.callback_queue.remove_pending(SHARD, CALL, [0, 2, 7]) == 2
    assert await numbers(store) == [1]
    assert await store.callback_queue.remove_pending(SHARD, CALL, [1]) == 1
    assert await store.callback_queue.remove_pending(SHARD, CALL, [1]) == 0
    assert await store.callback_queue.pending_calls(SHARD, "acme", 0) == (0, [])
    assert (await store.callback_queue.claim_due(SHARD, token, 60_000, 10)).pending == 1


async def test_a_stale_owner_settles_nothing(store: Store) -> None:
    """A fenced owner neither settles nor claims."""
    old = await claim_shard(store, SHARD, "engine1")
    await store.commit(SHARD, old, [change(CALL, 0)])
    await claim_shard(store, SHARD, "engine2")
    with pytest.raises(Fenced):
        await store.callback_queue.settle(SHARD, old, [Settlement(CALL, delivered=(0,))])
    with pytest.raises(Fenced):
        await store.callback_queue.claim_due(SHARD, old, 0, 10)
    assert await numbers(store) == [0]


async def test_retry_later(opened: Opener) -> None:
    """A failed event keeps its attempts until they are set; it is due at its time, oldest first."""
    store = opened(outbox_limits=CallbackQueueLimits(claim_ms=0))
    token = await claim_shard(store, SHARD)
    await store.commit(SHARD, token, [change(CALL, 0, 1), change(OTHER, 0)])
    later = [Settlement(CALL, tries=2, retry_after_ms=60_000), Settlement(OTHER, retry_after_ms=0)]
    await store.callback_queue.settle(SHARD, token, later)
    assert (await store.callback_queue.pending_events(SHARD, CALL, 10)).tries == 2
    batch = await store.callback_queue.claim_due(SHARD, token, 0, 10)
    assert [due.call_id for due in batch.calls] == [OTHER]
    batch = await store.callback_queue.claim_due(SHARD, token, 61_000, 10)
    assert {due.call_id for due in batch.calls} == {CALL, OTHER}
    for settlement, tries in (
        (Settlement(CALL, delivered=(0,)), 2),
        (Settlement(CALL, tries=0), 0),
    ):
        await store.callback_queue.settle(SHARD, token, [settlement])
        assert (await store.callback_queue.pending_events(SHARD, CALL, 10)).tries == tries


async def test_the_last_one_leaves_nothing(store: Store) -> None:
    """A call without pending events is deleted; settling it again is harmless."""
    token = await claim_shard(store, SHARD)
    await store.commit(SHARD, token, [change(CALL, 0, 1)])
    for _ in range(2):
        await store.callback_queue.settle(SHARD, token, [Settlement(CALL, delivered=(0, 1))])
    batch = await store.callback_queue.claim_due(SHARD, token, 60_000, 10)
    assert (batch.calls, batch.pending, batch.oldest_ms) == ((), 0, 0)


async def test_dead_letters(store: Store) -> None:
    """They are stored by account, in order, and can be resent."""
    token = await claim_shard(store, SHARD)
    committed = change(CALL, 0, 1, 2)
    await store.commit(SHARD, token, [committed, change(OTHER, 0, account="other")])
    given_up = (GivenUp(0, "status_500", 6),)
    for _ in range(2):
        await store.callback_queue.settle(SHARD, token, [Settlement(CALL, (), given_up, tries=0)])
    await store.callback_queue.settle(SHARD, token, [Settlement(CALL, give_up_reason="gone")])
    await store.callback_queue.settle(SHARD, token, [Settlement(OTHER, give_up_reason="gone")])
    dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [(each.seq, each.reason, each.tries) for each in dead_letters] == [
        (0, "status_500", 6), (1, "gone", 0), (2, "gone", 0),
    ]  # fmt: skip
    assert [each.event for each in dead_letters] == list(committed.callbacks)
    after = await store.callback_queue.dead_letters(SHARD, "acme", dead_letters[0].entry, 10)
    assert [each.seq for each in after] == [1, 2]
    assert await store.callback_queue.resend(SHARD, "acme", [dead_letters[2].entry, "1-1"], 10) == 1
    assert await store.callback_queue.resend(SHARD, "acme", [], 10) == 2
    assert await numbers(store) == [0, 1, 2]
    batch = await store.callback_queue.claim_due(SHARD, token, 0, 10)
    assert [due.call_id for due in batch.calls] == [CALL]
    assert await store.callback_queue.dead_letters(SHARD, "acme", "", 10) == []


async def test_age(store: Store) -> None:
    """A call's age counts from its first pending event."""
    token = await claim_shard(store, SHARD)
    await store.commit(SHARD, token, [change(CALL, 0)])
    batches = [await store.callback_queue.claim_due(SHARD, token, 60_000, 10) for _ in range(3)]
    ages = [batch.calls[0].age_ms for batch in batches]
    assert all(before <= after < 5_000 for before, after in pairwise(ages))


async def test_accounts_are_kept(store: Store) -> None:
    """Each account has its own settings, and its own mark of a target that is stopped."""
    settings = VersionedDocument(CALLBACK_ID, 1, b"{}")
    await store.documents.put("acme", "callback", [settings])
    assert await store.callback_queue.account("acme") == (b"{}", -1)
    assert await store.callback_queue.account("other") == (None, -1)
    await store.callback_queue.stop_account("acme", 7)
    assert await store.callback_queue.account("acme") == (b"{}", 7)
    await store.documents.put("acme", "callback", [VersionedDocument(CALLBACK_ID, 2, None)])
    assert await store.callback_queue.account("acme") == (None, 7)
