"""How much may wait in a slot: whoever fills it takes nobody else's room."""

from engine.store.outbox import OutboxLimits, Settlement
from tests.contract.store.outboxes import CALL, OTHER, SLOT, change, numbers
from tests.contract.store.stores import Opener, claimed


async def test_too_many_of_one_account(opened: Opener) -> None:
    """What finds no room becomes a dead letter, is counted, and holds up nobody else."""
    store = opened(outbox_limits=OutboxLimits(max_per_slot=0, min_per_account=2))
    token = await claimed(store, SLOT)
    assert await store.commit(SLOT, token, [change(CALL, 0, 1, 2, 3)]) == 2
    assert await store.commit(SLOT, token, [change(OTHER, 0, account="other")]) == 0
    letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [(each.seq, each.reason) for each in letters] == [(2, "overflow"), (3, "overflow")]
    assert await store.outbox.resend(SLOT, "acme", [], 10) == 0
    await store.outbox.settle(SLOT, token, [Settlement(CALL, delivered=(0, 1))])
    assert await store.outbox.resend(SLOT, "acme", [], 10) == 2


async def test_too_many_in_a_slot(opened: Opener) -> None:
    """The slot has a limit; the call itself is stored all the same."""
    limits = OutboxLimits(max_per_slot=1, fair_share_divisor=1, min_per_account=0)
    store = opened(outbox_limits=limits)
    token = await claimed(store, SLOT)
    changes = [change(CALL, 0), change(OTHER, 0, account="other")]
    assert await store.commit(SLOT, token, changes) == 1
    assert await store.read(SLOT, OTHER) == b"state"
    assert await numbers(store, OTHER) == []


async def test_who_fills_a_slot_takes_no_other_accounts_room(opened: Opener) -> None:
    """However many targets an account's calls name, others have their share."""
    store = opened(outbox_limits=OutboxLimits(max_per_slot=10, min_per_account=1))
    token = await claimed(store, SLOT)
    calls = [f"3-pbx1-0000000{place}" for place in range(4)]
    filling = [change(each, 0, target=f"grpc://127.0.0.1:900{each[-1]}") for each in calls]
    assert await store.commit(SLOT, token, filling) == 2
    others = change(OTHER, 0, 1, 2, account="other")
    assert await store.commit(SLOT, token, [others]) == 1
    assert await numbers(store, OTHER) == [0, 1]


async def test_however_many_fill_a_slot_there_is_room_for_one_more(opened: Opener) -> None:
    """Five accounts whose targets fail leave most of it free; what one has shrinks with each."""
    store = opened(outbox_limits=OutboxLimits(max_per_slot=500, min_per_account=10))
    token = await claimed(store, SLOT)
    filling = {f"bad{place}": f"3-pbx1-0000000{place}" for place in range(5)}
    for account, call in filling.items():
        await store.commit(SLOT, token, [change(call, *range(500), account=account)])
    has = [len(await numbers(store, call)) for call in filling.values()]
    assert has == sorted(has, reverse=True)
    assert has[0] == 100
    others = change(OTHER, *range(30), account="other")
    assert await store.commit(SLOT, token, [others]) == 0
    assert (await store.outbox.claim_due(SLOT, token, 0, 0)).pending < 400


async def test_who_fills_a_slot_at_once_with_others_has_as_much(opened: Opener) -> None:
    """Of those who come together none has more than another; the last has its share left."""
    store = opened(outbox_limits=OutboxLimits(max_per_slot=100, min_per_account=5))
    token = await claimed(store, SLOT)
    accounts = [f"bad{place}" for place in range(20)]
    for seq in range(20):
        told = [change(f"3-pbx1-{each:0>8}", seq, account=each) for each in accounts]
        await store.commit(SLOT, token, told)
    has = {len(await numbers(store, f"3-pbx1-{each:0>8}")) for each in accounts}
    assert has == {5}
    assert await store.commit(SLOT, token, [change(OTHER, *range(6), account="other")]) == 1
