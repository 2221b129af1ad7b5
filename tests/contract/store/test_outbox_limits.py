"""Limits of the outbox: an account that fills a shard takes no other account's share."""

from engine.store.callback_queue import CallbackQueueLimits, Settlement
from tests.contract.store.outboxes import CALL, OTHER, change, numbers
from tests.harness.shards import SHARD
from tests.harness.store.stores import Opener, claim_shard


async def test_too_many_of_one_account(opened: Opener) -> None:
    """Events over the limit become dead letters, are counted, and affect no other account."""
    store = opened(outbox_limits=CallbackQueueLimits(max_per_shard=0, min_per_account=2))
    token = await claim_shard(store, SHARD)
    assert await store.commit(SHARD, token, [change(CALL, 0, 1, 2, 3)]) == 2
    assert await store.commit(SHARD, token, [change(OTHER, 0, account="other")]) == 0
    dead_letters = await store.callback_queue.dead_letters(SHARD, "acme", "", 10)
    assert [(each.seq, each.reason) for each in dead_letters] == [(2, "overflow"), (3, "overflow")]
    assert await store.callback_queue.resend(SHARD, "acme", [], 10) == 0
    await store.callback_queue.settle(SHARD, token, [Settlement(CALL, delivered=(0, 1))])
    assert await store.callback_queue.resend(SHARD, "acme", [], 10) == 2


async def test_too_many_in_a_shard(opened: Opener) -> None:
    """The shard has a limit; the call itself is still stored."""
    limits = CallbackQueueLimits(max_per_shard=1, fair_share_divisor=1, min_per_account=0)
    store = opened(outbox_limits=limits)
    token = await claim_shard(store, SHARD)
    changes = [change(CALL, 0), change(OTHER, 0, account="other")]
    assert await store.commit(SHARD, token, changes) == 1
    assert await store.read(SHARD, OTHER) == b"state"
    assert await numbers(store, OTHER) == []


async def test_one_account_cannot_fill_a_shard(opened: Opener) -> None:
    """However many targets an account has, other accounts have their share."""
    store = opened(outbox_limits=CallbackQueueLimits(max_per_shard=10, min_per_account=1))
    token = await claim_shard(store, SHARD)
    calls = [f"3-pbx1-0000000{index}" for index in range(4)]
    filling = [change(each, 0, target=f"grpc://127.0.0.1:900{each[-1]}") for each in calls]
    assert await store.commit(SHARD, token, filling) == 2
    others = change(OTHER, 0, 1, 2, account="other")
    assert await store.commit(SHARD, token, [others]) == 1
    assert await numbers(store, OTHER) == [0, 1]


async def test_there_is_always_room_for_another_account(opened: Opener) -> None:
    """Five accounts with failing targets leave most room free; each one shrinks the share."""
    store = opened(outbox_limits=CallbackQueueLimits(max_per_shard=500, min_per_account=10))
    token = await claim_shard(store, SHARD)
    filling = {f"bad{index}": f"3-pbx1-0000000{index}" for index in range(5)}
    for account, call in filling.items():
        await store.commit(SHARD, token, [change(call, *range(500), account=account)])
    has = [len(await numbers(store, call)) for call in filling.values()]
    assert has == sorted(has, reverse=True)
    assert has[0] == 100
    others = change(OTHER, *range(30), account="other")
    assert await store.commit(SHARD, token, [others]) == 0
    assert (await store.callback_queue.claim_due(SHARD, token, 0, 0)).pending < 400


async def test_accounts_that_fill_a_shard_together_have_equal_shares(opened: Opener) -> None:
    """Accounts that fill a shard together have equal shares; a later one has room left."""
    store = opened(outbox_limits=CallbackQueueLimits(max_per_shard=100, min_per_account=5))
    token = await claim_shard(store, SHARD)
    accounts = [f"bad{index}" for index in range(20)]
    for seq in range(20):
        commits = [change(f"3-pbx1-{each:0>8}", seq, account=each) for each in accounts]
        await store.commit(SHARD, token, commits)
    has = {len(await numbers(store, f"3-pbx1-{each:0>8}")) for each in accounts}
    assert has == {5}
    assert await store.commit(SHARD, token, [change(OTHER, *range(6), account="other")]) == 1
