"""What every store does with events that customers wait for."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from engine.store.errors import Fenced
from engine.store.outbox import GivenUp, OutboxLimits, Settlement
from engine.store.store import Store
from tests.contract.store.outboxes import CALL, OTHER, SLOT, change, numbers
from tests.contract.store.stores import Opener, claimed


async def test_what_is_committed_is_due(store: Store) -> None:
    """Events lie in the order of their numbers, with where they go; others' calls have none."""
    token = await claimed(store, SLOT)
    made = change(CALL, 0, 1, 2)
    await store.commit(
        SLOT, token, [made, replace(change(OTHER, 0), delivery_key="", callbacks=())]
    )
    waiting = await store.outbox.pending_events(SLOT, CALL, 100)
    assert waiting.events == tuple(enumerate(made.callbacks))
    assert (waiting.delivery_key, waiting.tries) == ("acme auto-set", 0)
    assert await numbers(store, OTHER) == []
    assert len((await store.outbox.pending_events(SLOT, CALL, 2)).events) == 2


async def test_a_repeated_commit_adds_nothing(store: Store) -> None:
    """A commit whose answer was lost is made again: what was delivered meanwhile stays so."""
    token = await claimed(store, SLOT)
    made = change(CALL, 0, 1)
    await store.commit(SLOT, token, [made])
    await store.outbox.settle(SLOT, token, [Settlement(CALL, delivered=(0,))])
    await store.commit(SLOT, token, [made])
    assert await numbers(store) == [1]
    assert (await store.outbox.claim_due(SLOT, token, 0, 10)).pending == 1


async def test_who_commits_has_it_first(opened: Opener) -> None:
    """Nothing that was just committed is taken by a look; a takeover looks further ahead."""
    store = opened(outbox_limits=OutboxLimits(claim_ms=60_000))
    token = await claimed(store, SLOT)
    await store.commit(SLOT, token, [change(CALL, 0)])
    assert (await store.outbox.claim_due(SLOT, token, 0, 10)).calls == ()
    taken = await store.outbox.claim_due(SLOT, token, 60_000, 10)
    assert [(due.call_id, due.delivery_key) for due in taken.calls] == [(CALL, "acme auto-set")]
    assert taken.pending == 1


async def test_a_stale_owner_settles_nothing(store: Store) -> None:
    """What is fenced deletes nothing, and takes nothing."""
    old = await claimed(store, SLOT, "engine1")
    await store.commit(SLOT, old, [change(CALL, 0)])
    await claimed(store, SLOT, "engine2")
    with pytest.raises(Fenced):
        await store.outbox.settle(SLOT, old, [Settlement(CALL, delivered=(0,))])
    with pytest.raises(Fenced):
        await store.outbox.claim_due(SLOT, old, 0, 10)
    assert await numbers(store) == [0]


async def test_tried_again_later(opened: Opener) -> None:
    """A failed first keeps its count, and is looked at when its moment has come, oldest first."""
    store = opened(outbox_limits=OutboxLimits(claim_ms=0))
    token = await claimed(store, SLOT)
    await store.commit(SLOT, token, [change(CALL, 0, 1), change(OTHER, 0)])
    later = [Settlement(CALL, tries=2, retry_after_ms=60_000), Settlement(OTHER, retry_after_ms=0)]
    await store.outbox.settle(SLOT, token, later)
    assert (await store.outbox.pending_events(SLOT, CALL, 10)).tries == 2
    taken = await store.outbox.claim_due(SLOT, token, 0, 10)
    assert [due.call_id for due in taken.calls] == [OTHER]
    taken = await store.outbox.claim_due(SLOT, token, 61_000, 10)
    assert {due.call_id for due in taken.calls} == {CALL, OTHER}
    await store.outbox.settle(SLOT, token, [Settlement(CALL, delivered=(0,), tries=0)])
    assert (await store.outbox.pending_events(SLOT, CALL, 10)).tries == 0


async def test_the_last_one_leaves_nothing(store: Store) -> None:
    """A call of which all is delivered is forgotten; settling it again is harmless."""
    token = await claimed(store, SLOT)
    await store.commit(SLOT, token, [change(CALL, 0, 1)])
    for _ in range(2):
        await store.outbox.settle(SLOT, token, [Settlement(CALL, delivered=(0, 1))])
    taken = await store.outbox.claim_due(SLOT, token, 60_000, 10)
    assert (taken.calls, taken.pending, taken.oldest_ms) == ((), 0, 0)


async def test_dead_letters(store: Store) -> None:
    """What is given up lies with its account, in order, and becomes due again when asked for."""
    token = await claimed(store, SLOT)
    made = change(CALL, 0, 1, 2)
    await store.commit(SLOT, token, [made, change(OTHER, 0, account="other")])
    given = (GivenUp(0, "status_500", 6),)
    for _ in range(2):
        await store.outbox.settle(SLOT, token, [Settlement(CALL, (), given, tries=0)])
    await store.outbox.settle(SLOT, token, [Settlement(CALL, give_up_reason="gone")])
    await store.outbox.settle(SLOT, token, [Settlement(OTHER, give_up_reason="gone")])
    letters = await store.outbox.dead_letters(SLOT, "acme", "", 10)
    assert [(each.seq, each.reason, each.tries) for each in letters] == [
        (0, "status_500", 6), (1, "gone", 0), (2, "gone", 0),
    ]  # fmt: skip
    assert [each.event for each in letters] == list(made.callbacks)
    after = await store.outbox.dead_letters(SLOT, "acme", letters[0].entry, 10)
    assert [each.seq for each in after] == [1, 2]
    assert await store.outbox.resend(SLOT, "acme", [letters[2].entry, "1-1"], 10) == 1
    assert await store.outbox.resend(SLOT, "acme", [], 10) == 2
    assert await numbers(store) == [0, 1, 2]
    taken = await store.outbox.claim_due(SLOT, token, 0, 10)
    assert [due.call_id for due in taken.calls] == [CALL]
    assert await store.outbox.dead_letters(SLOT, "acme", "", 10) == []


async def test_the_longest_wait(store: Store) -> None:
    """A call's wait counts from its first event that is due."""
    token = await claimed(store, SLOT)
    await store.commit(SLOT, token, [change(CALL, 0)])
    seen = [await store.outbox.claim_due(SLOT, token, 60_000, 10) for _ in range(3)]
    ages = [taken.calls[0].age_ms for taken in seen]
    assert all(before <= after < 5_000 for before, after in pairwise(ages))


async def test_accounts_are_kept(store: Store) -> None:
    """Each has its own configuration."""
    assert await store.outbox.swap_account("acme", None, b"{}")
    assert await store.outbox.account("acme") == b"{}"
    assert await store.outbox.account("other") is None
    assert await store.outbox.swap_account("acme", b"{}", None)
    assert await store.outbox.account("acme") is None


async def test_an_account_is_changed_from_what_was_read(store: Store) -> None:
    """Of two who change it at once, one is told to read it again; asked again, it is done once."""
    outbox = store.outbox
    assert await outbox.swap_account("acme", None, b"[1]")
    assert not await outbox.swap_account("acme", None, b"[2]")
    assert not await outbox.swap_account("acme", b"[0]", None)
    assert await outbox.swap_account("acme", b"[1]", b"[2]")
    assert await outbox.swap_account("acme", b"[1]", b"[2]")
    assert await outbox.account("acme") == b"[2]"
