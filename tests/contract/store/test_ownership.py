"""Whose a slot is, as every store has it: each claim's token keeps earlier owners out."""

import pytest

from engine.store.errors import Fenced
from engine.store.store import Store
from tests.contract.store.stores import change, claimed, live


async def test_each_claim_gives_a_larger_token(store: Store) -> None:
    """Fencing tokens only grow."""
    tokens = [await claimed(store, 3, f"engine{number}") for number in range(5)]
    assert tokens == sorted(set(tokens))


async def test_a_stale_owner_is_refused(store: Store) -> None:
    """After a claim by another, the old owner's commit is refused and leaves nothing."""
    old = await claimed(store, 3, "engine1")
    await store.commit(3, old, [change(seq=0)])
    new = await claimed(store, 3, "engine2")
    with pytest.raises(Fenced, match="slot 3 belongs to engine2"):
        await store.commit(3, old, [change(seq=1), change("c2", events=(b"t",))])
    with pytest.raises(Fenced):
        await store.create(3, old, change("c3"))
    assert await live(store) == [("c1", "pbx1", b"\x00state 0\xff")]
    assert await store.log(3, "c1") == [b"\xc1entry 0"]
    assert await store.stream.read_after({3: "0"}) == []
    await store.commit(3, new, [change(seq=1)])
    assert await store.read(3, "c1") == b"\x00state 1\xff"


async def test_a_slot_that_nobody_claimed_takes_nothing(store: Store) -> None:
    """A commit needs a claim."""
    with pytest.raises(Fenced, match="slot 3 belongs to nobody"):
        await store.commit(3, 7, [change()])


async def test_slots_have_owners_of_their_own(store: Store) -> None:
    """A claim of one slot leaves another's owner in peace, and calls stay apart."""
    token = await claimed(store, 3, "engine1")
    await claimed(store, 4, "engine2")
    await store.commit(3, token, [change()])
    assert await live(store, 4) == []
    assert await store.read(4, "c1") is None
