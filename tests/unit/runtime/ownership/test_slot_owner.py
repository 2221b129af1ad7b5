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
from tests.unit.runtime.harness.owner_bench import SLOT, House
from wire.rpc import NumberRoute


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """Give a house, which loses no task."""
    made = House()
    yield made
    await made.tasks.close()
    assert made.faults == []


async def test_a_slot_that_is_taken_is_heard(house: House) -> None:
    """Its desk is open and held; the first slot's owner hears who registers, too."""
    await house.slots.take(SLOT, await house.lease())
    await house.slots.take(1, await house.lease(1))
    await asyncio.sleep(0)
    assert PRESENCE_SLOT == SLOT
    assert sorted(house.builder.notes) == ["hear pbx1 0", "hear pbx1 1", "watch pbx1 0"]
    assert house.node.shards[SLOT].is_paused


async def test_calls_pass_from_owner_to_owner(house: House) -> None:
    """What is dropped stays in the store, and is there for who takes the slot."""
    call = await house.begin()
    assert (house.slots.calls(SLOT), house.slots.calls_by_node()["pbx1"]) == (1, 1)
    await house.slots.drain(SLOT)
    with pytest.raises(NotOwner):
        await house.switch.hang_up(call, "someone")
    house.slots.drop(SLOT)
    assert house.switch.releasing == set()
    await asyncio.sleep(0)
    assert (house.switch.live, house.node.shards) == (0, {})
    assert "no hear pbx1 0" in house.builder.notes
    await house.slots.take(SLOT, await house.lease())
    assert [*house.node.shards[SLOT].actors] == [call]


@pytest.mark.parametrize("is_known", [True, False])
async def test_who_comes_while_a_slot_goes_is_the_heirs(house: House, is_known: bool) -> None:
    """Answered here, the call would be nobody's: what it decides can't be stored any more."""
    await house.begin()
    await house.store.put_route("+47", msgspec.json.encode(NumberRoute("acme", tree(say()))))
    desk, settled = house.node.shards[SLOT], house.slots.drain(SLOT)
    if is_known:
        await settled
        house.switch.handle_incoming(desk, IncomingChannel(CHANNEL, "+4799", "+47"))
    else:  # its number's route is still being read
        house.switch.handle_incoming(desk, IncomingChannel(CHANNEL, "+4799", "+47"))
        await settled
    for _ in range(5):
        await asyncio.sleep(0)
    assert desk.find_by_channel(CHANNEL) is None
    assert not [line for line in house.pbx.lines if CHANNEL in line]


async def test_a_pause(house: House) -> None:
    """Nobody listens while it lasts, the calls stay in memory; then it is heard again."""
    call = await house.begin()
    house.slots.pause(SLOT)
    await asyncio.sleep(0)
    assert "no hear pbx1 0" in house.builder.notes
    assert house.node.shards[SLOT].is_paused
    house.slots.resume(SLOT)
    await until(lambda: house.builder.notes.count("hear pbx1 0") == 2)
    assert [*house.node.shards[SLOT].actors] == [call]


async def test_lost_calls_are_stored_again(house: House) -> None:
    """The store has lost all: what is in memory is stored under the new token, and goes on."""
    call = await house.begin()
    house.store.lose_all()
    await house.slots.restore(SLOT, await house.lease())

    async def is_stored() -> bool:
        return await house.live() == [call]

    await until(is_stored, what="the call to be stored again")
    state = await house.store.read(SLOT, call)
    assert state is not None
    assert decode_stored_call(state).call.id == call
    assert [*house.node.shards[SLOT].actors] == [call]


async def test_an_end_is_not_lost_with_the_store(house: House) -> None:
    """A call that ended while the store was away is at no desk: what waits is stored, too."""
    call = await house.begin()
    desk = house.node.shards[SLOT]
    desk.feed(desk.actors[call], HangupRequested("api"))
    desk.feed(desk.actors[call], LegEnded(f"{call}.l0", NORMAL))
    assert call not in desk.actors
    await house.slots.restore(SLOT, await house.lease())

    async def is_ended() -> bool:
        return await house.live() == []

    await until(is_ended, what="the call's end to be stored")
    state = await house.store.read(SLOT, call)
    assert state is not None
    assert decode_stored_call(state).call.is_ended


async def test_what_a_failover_has_lost_is_written_again(house: House) -> None:
    """A call that the store lacks is stored, and what of it can't be known is left empty."""
    call = await house.begin()
    before = await house.store.log(SLOT, call)
    house.store.lose_calls()
    house.slots.rewrite_lost(SLOT)

    async def is_stored() -> bool:
        return await house.live() == [call]

    await until(is_stored, what="the call to be written again")
    assert await house.store.log(SLOT, call) == [b""] * len(before)
    assert house.slots.last_commit(SLOT) == 1


async def test_what_is_not_lost_is_not_written_again(house: House) -> None:
    """Its log stays whole: it can be replayed."""
    call = await house.begin()
    before = await house.store.log(SLOT, call), await house.store.read(SLOT, call)
    number = house.slots.last_commit(SLOT)
    assert number > 0
    house.slots.rewrite_lost(SLOT)
    await until(lambda: house.slots.last_commit(SLOT) == 1)
    assert (await house.store.log(SLOT, call), await house.store.read(SLOT, call)) == before
    assert before[0].count(b"") == 0


async def test_what_was_asked_is_not_lost_with_the_store(house: House) -> None:
    """Who waits for the store is told at once; what waited for the node waits on."""
    call = await house.begin()
    house.store.lose_all()
    asked = asyncio.create_task(house.switch.hang_up(call, "api"))
    await asyncio.sleep(0)
    house.node.shards[SLOT].pause()
    desk = house.node.shards[SLOT]
    desk.feed(desk.actors[call], ReferReceived(f"{call}.l0", "1002"))
    await house.slots.restore(SLOT, await house.lease())
    async with asyncio.timeout(COMMIT_TIMEOUT_S / 2):
        with pytest.raises(StoreDown):
            await asked
    desk = house.node.shards[SLOT]
    assert [type(event) for _, event in desk.pause_buffer.events] == [ReferReceived]
    assert desk.pause_buffer.events[0][0] is desk.actors[call]


async def test_a_hangup_while_the_node_is_away_goes_with_the_slot(house: House) -> None:
    """It is stored when it is granted: who has the slot next ends the call."""
    call = await house.begin()
    house.node.pause_slot(SLOT)
    assert await house.switch.hang_up(call, "someone")
    house.slots.drop(SLOT)
    await house.slots.take(SLOT, await house.lease())
    heir = house.node.shards[SLOT].actors[call]
    assert isinstance(heir.call.state, Ending)
    assert heir.call.ended_by == "someone"
    assert Hangup(f"{call}.l0", NORMAL) in heir.outbox


async def test_who_can_not_be_sure_of_a_slot_promises_nothing(house: House) -> None:
    """A hangup that could not be stored any more is refused, and changes nothing."""
    call = await house.begin()
    desk = house.node.shards[SLOT]
    before = desk.actors[call].call
    house.now_s = 10.0
    with pytest.raises(NoCapacity):
        await house.switch.hang_up(call, "someone")
    assert desk.actors[call].call is before
    assert desk.pause_buffer.events == []


async def test_a_fenced_writer_is_a_doubt(house: House) -> None:
    """Somebody else has the slot: the keeper is told to look."""
    doubted: list[int] = []
    house.slots.on_lease_suspect = doubted.append
    await house.begin()
    await house.store.claim(SLOT, "me", 0)
    house.node.shards[SLOT].start_call(outbound())
    await until(lambda: doubted == [SLOT], what="the doubt")
