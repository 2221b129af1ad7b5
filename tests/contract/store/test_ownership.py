"""Shard ownership in every store: each claim's token fences earlier owners."""

import pytest

from engine.store.errors import Fenced
from engine.store.store import Store
from tests.harness.shards import at
from tests.harness.store.stores import change, claim_shard, live_calls


async def test_each_claim_gives_a_larger_token(store: Store) -> None:
    """Fencing tokens only grow."""
    tokens = [await claim_shard(store, at(3), f"engine{number}") for number in range(5)]
    assert tokens == sorted(set(tokens))


async def test_a_stale_owner_is_fenced(store: Store) -> None:
    """After a claim by another, the old owner's commit is rejected as a whole."""
    old = await claim_shard(store, at(3), "engine1")
    await store.commit(at(3), old, [change(seq=0)])
    new = await claim_shard(store, at(3), "engine2")
    with pytest.raises(Fenced, match="shard pbx1/3 belongs to engine2"):
        await store.commit(at(3), old, [change(seq=1), change("c2", events=(b"t",))])
    with pytest.raises(Fenced):
        await store.create(at(3), old, change("c3"))
    assert await live_calls(store) == [("c1", "pbx1", b"\x00state 0\xff")]
    assert await store.log(at(3), "c1") == [b"\xc1entry 0"]
    assert await store.stream.read_after({at(3): "0"}) == []
    await store.commit(at(3), new, [change(seq=1)])
    assert await store.read(at(3), "c1") == b"\x00state 1\xff"


async def test_an_unclaimed_shard_rejects_commits(store: Store) -> None:
    """A commit needs a claim."""
    with pytest.raises(Fenced, match="shard pbx1/3 belongs to no engine"):
        await store.commit(at(3), 7, [change()])


async def test_shards_have_separate_owners(store: Store) -> None:
    """Claims and calls of one shard do not affect another."""
    token = await claim_shard(store, at(3), "engine1")
    await claim_shard(store, at(4), "engine2")
    await store.commit(at(3), token, [change()])
    assert await live_calls(store, at(4)) == []
    assert await store.read(at(4), "c1") is None
