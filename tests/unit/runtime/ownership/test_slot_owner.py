"""Desks that come and go with leases, over one store in memory."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from engine.calls.model.causes import NORMAL
from engine.calls.model.codec import decode_stored_call
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegEnded
from engine.calls.model.requests import HangupRequested, ReferReceived
from engine.calls.model.state import Ending
from engine.runtime.admission.placement import NoCapacity
from engine.runtime.nodes.incoming import IncomingChannel
from engine.runtime.ownership.slot_owner import PRESENCE_SLOT
from engine.runtime.shard.commit_ack import COMMIT_TIMEOUT_S, NotOwner
from engine.store.errors import StoreDown
from tests.harness.until import until
from tests.unit.calls.harness.builders import CHANNEL, outbound, say, tree
from tests.unit.runtime.harness.owner_bench import SLOT, OwnerBench
from wire.rpc import NumberRoute


@pytest.fixture
async def bench() -> AsyncIterator[OwnerBench]:
    """Give a bench, which loses no task."""
    made = OwnerBench()
    yield made
    await made.tasks.close()
    assert made.faults == []


async def test_a_slot_that_is_taken_is_heard(bench: OwnerBench) -> None:
    """Its desk is open and held; the first slot's owner hears who registers, too."""
    await bench.owner.take(SLOT, await bench.lease())
    await bench.owner.take(1, await bench.lease(1))
    await asyncio.sleep(0)
    assert PRESENCE_SLOT == SLOT
    assert sorted(bench.factory.notes) == ["hear pbx1 0", "hear pbx1 1", "watch pbx1 0"]
    assert bench.node.shards[SLOT].is_paused


async def test_calls_pass_from_owner_to_owner(bench: OwnerBench) -> None:
    """What is dropped stays in the store, and is there for who takes the slot."""
    call = await bench.begin()
    assert (bench.owner.calls(SLOT), bench.owner.calls_by_node()["pbx1"]) == (1, 1)
    await bench.owner.drain(SLOT)
    with pytest.raises(NotOwner):
        await bench.service.hang_up(call, "system")
    bench.owner.drop(SLOT)
    assert bench.service.releasing == set()
    await asyncio.sleep(0)
    assert (bench.service.live_calls, bench.node.shards) == (0, {})
    assert "no hear pbx1 0" in bench.factory.notes
    await bench.owner.take(SLOT, await bench.lease())
    assert [*bench.node.shards[SLOT].actors] == [call]


@pytest.mark.parametrize("is_known", [True, False])
async def test_who_comes_while_a_slot_goes_is_the_heirs(bench: OwnerBench, is_known: bool) -> None:
    """Answered here, the call would be nobody's: what it decides can't be stored any more."""
    await bench.begin()
    await bench.store.put_route("+47", msgspec.json.encode(NumberRoute("acme", tree(say()))))
    shard, settled = bench.node.shards[SLOT], bench.owner.drain(SLOT)
    if is_known:
        await settled
        bench.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4799", "+47"))
    else:  # its number's route is still being read
        bench.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4799", "+47"))
        await settled
    for _ in range(5):
        await asyncio.sleep(0)
    assert shard.find_by_channel(CHANNEL) is None
    assert not [line for line in bench.pbx.lines if CHANNEL in line]


async def test_a_pause(bench: OwnerBench) -> None:
    """Nobody listens while it lasts, the calls stay in memory; then it is heard again."""
    call = await bench.begin()
    bench.owner.pause(SLOT)
    await asyncio.sleep(0)
    assert "no hear pbx1 0" in bench.factory.notes
    assert bench.node.shards[SLOT].is_paused
    bench.owner.resume(SLOT)
    await until(lambda: bench.factory.notes.count("hear pbx1 0") == 2)
    assert [*bench.node.shards[SLOT].actors] == [call]


async def test_lost_calls_are_stored_again(bench: OwnerBench) -> None:
    """The store has lost all: what is in memory is stored under the new token, and goes on."""
    call = await bench.begin()
    bench.store.lose_all()
    await bench.owner.restore(SLOT, await bench.lease())

    async def is_stored() -> bool:
        return await bench.live() == [call]

    await until(is_stored, what="the call to be stored again")
    state = await bench.store.read(SLOT, call)
    assert state is not None
    assert decode_stored_call(state).call.id == call
    assert [*bench.node.shards[SLOT].actors] == [call]


async def test_an_end_is_not_lost_with_the_store(bench: OwnerBench) -> None:
    """A call that ended while the store was away is at no desk: what waits is stored, too."""
    call = await bench.begin()
    shard = bench.node.shards[SLOT]
    shard.feed(shard.actors[call], HangupRequested("api"))
    shard.feed(shard.actors[call], LegEnded(f"{call}.l0", NORMAL))
    assert call not in shard.actors
    await bench.owner.restore(SLOT, await bench.lease())

    async def is_ended() -> bool:
        return await bench.live() == []

    await until(is_ended, what="the call's end to be stored")
    state = await bench.store.read(SLOT, call)
    assert state is not None
    assert decode_stored_call(state).call.is_ended


async def test_what_a_failover_has_lost_is_written_again(bench: OwnerBench) -> None:
    """A call that the store lacks is stored, and what of it can't be known is left empty."""
    call = await bench.begin()
    before = await bench.store.log(SLOT, call)
    bench.store.lose_calls()
    bench.owner.rewrite_lost(SLOT)

    async def is_stored() -> bool:
        return await bench.live() == [call]

    await until(is_stored, what="the call to be written again")
    assert await bench.store.log(SLOT, call) == [b""] * len(before)
    assert bench.owner.last_commit(SLOT) == 1


async def test_what_is_not_lost_is_not_written_again(bench: OwnerBench) -> None:
    """Its log stays whole: it can be replayed."""
    call = await bench.begin()
    before = await bench.store.log(SLOT, call), await bench.store.read(SLOT, call)
    number = bench.owner.last_commit(SLOT)
    assert number > 0
    bench.owner.rewrite_lost(SLOT)
    await until(lambda: bench.owner.last_commit(SLOT) == 1)
    assert (await bench.store.log(SLOT, call), await bench.store.read(SLOT, call)) == before
    assert before[0].count(b"") == 0


async def test_what_was_asked_is_not_lost_with_the_store(bench: OwnerBench) -> None:
    """Who waits for the store is told at once; what waited for the node waits on."""
    call = await bench.begin()
    bench.store.lose_all()
    asked = asyncio.create_task(bench.service.hang_up(call, "api"))
    await asyncio.sleep(0)
    bench.node.shards[SLOT].pause()
    shard = bench.node.shards[SLOT]
    shard.feed(shard.actors[call], ReferReceived(f"{call}.l0", "1002"))
    await bench.owner.restore(SLOT, await bench.lease())
    async with asyncio.timeout(COMMIT_TIMEOUT_S / 2):
        with pytest.raises(StoreDown):
            await asked
    shard = bench.node.shards[SLOT]
    assert [type(event) for _, event in shard.pause_buffer.events] == [ReferReceived]
    assert shard.pause_buffer.events[0][0] is shard.actors[call]


async def test_a_hangup_while_the_node_is_away_goes_with_the_slot(bench: OwnerBench) -> None:
    """It is stored when it is granted: who has the slot next ends the call."""
    call = await bench.begin()
    bench.node.pause_slot(SLOT)
    assert await bench.service.hang_up(call, "system")
    bench.owner.drop(SLOT)
    await bench.owner.take(SLOT, await bench.lease())
    heir = bench.node.shards[SLOT].actors[call]
    assert isinstance(heir.call.state, Ending)
    assert heir.call.ended_by == "system"
    assert Hangup(f"{call}.l0", NORMAL) in heir.outbox


async def test_who_can_not_be_sure_of_a_slot_promises_nothing(bench: OwnerBench) -> None:
    """A hangup that could not be stored any more is refused, and changes nothing."""
    call = await bench.begin()
    shard = bench.node.shards[SLOT]
    before = shard.actors[call].call
    bench.now_s = 10.0
    with pytest.raises(NoCapacity):
        await bench.service.hang_up(call, "system")
    assert shard.actors[call].call is before
    assert shard.pause_buffer.events == []


async def test_a_fenced_writer_is_a_doubt(bench: OwnerBench) -> None:
    """Somebody else has the slot: the keeper is told to look."""
    await bench.begin()
    await bench.store.claim(SLOT, "me", 0)
    bench.node.shards[SLOT].start_call(outbound())
    await until(lambda: bench.suspects == [SLOT], what="the suspicion")
