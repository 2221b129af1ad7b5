"""Calls in the store: lost with it, of a later version, or with the times of another clock."""

import asyncio

import msgspec
import pytest

from engine.ari.request import Reply
from engine.calls.model.causes import NORMAL
from engine.calls.model.events import LegAnswered, LegEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.requests import HangupRequested, ReferReceived
from engine.calls.model.storage_format import FORMAT, decode_stored_call
from engine.calls.states import deadline_ms
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.pbx_nodes.reaper import Reaper
from engine.runtime.shard.control_requests import COMMIT_TIMEOUT_S
from engine.store.errors import StoreDown
from tests.harness.calls.builders import HTTPS
from tests.harness.runtime.ari_messages import ari, channel
from tests.harness.runtime.owner_scene import SHARD, SLOT, OwnerScene
from tests.harness.until import until


async def test_lost_calls_are_restored(scene: OwnerScene) -> None:
    """After the store has lost everything, calls are stored under the new token, and continue."""
    call = await scene.begin()
    scene.store.lose_all()
    await scene.owner.restore(SHARD, await scene.lease())

    async def is_stored() -> bool:
        return await scene.live() == [call]

    await until(is_stored, what="the call to be restored")
    state = await scene.store.read(SHARD, call)
    assert state is not None
    assert decode_stored_call(state).call.id == call
    assert [*scene.node.shards[SLOT].calls] == [call]


async def test_requests_of_lost_calls_are_reserved_again(scene: OwnerScene) -> None:
    """Also if the store is down at first: the same request must not start a second call."""
    call = await scene.begin()
    scene.store.lose_all()
    await scene.owner.restore(SHARD, await scene.lease())
    scene.store.is_down = True
    await until(lambda: scene.store.reservations > 0, what="the first attempt")
    scene.store.is_down = False

    async def is_reserved() -> bool:
        return await scene.store.request_of(call.rpartition("-")[2]) == call

    await until(is_reserved, what="the request to be reserved")


async def test_an_end_is_not_lost_with_the_store(scene: OwnerScene) -> None:
    """A call that ended while the store was down is in no shard, but its pending end is stored."""
    call = await scene.begin()
    shard = scene.node.shards[SLOT]
    shard.feed(shard.calls[call], HangupRequested("api"))
    shard.feed(shard.calls[call], LegEnded(f"{call}.l0", NORMAL))
    assert call not in shard.calls
    await scene.owner.restore(SHARD, await scene.lease())

    async def is_ended() -> bool:
        return await scene.live() == []

    await until(is_ended, what="the call's end to be stored")
    state = await scene.store.read(SHARD, call)
    assert state is not None
    assert decode_stored_call(state).call.is_ended


async def test_changes_lost_by_a_failover_are_rewritten(scene: OwnerScene) -> None:
    """A missing call is stored; unknown log entries are left empty."""
    call = await scene.begin()
    before = await scene.store.log(SHARD, call)
    scene.store.lose_calls()
    scene.owner.rewrite_lost(SHARD)

    async def is_stored() -> bool:
        return await scene.live() == [call]

    await until(is_stored, what="the call to be rewritten")
    assert await scene.store.log(SHARD, call) == [b""] * len(before)
    assert scene.owner.last_commit(SHARD) == 1


async def test_stored_changes_are_not_rewritten(scene: OwnerScene) -> None:
    """Its log stays complete, and can be replayed."""
    call = await scene.begin()
    before = await scene.store.log(SHARD, call), await scene.store.read(SHARD, call)
    number = scene.owner.last_commit(SHARD)
    assert number > 0
    scene.owner.rewrite_lost(SHARD)
    await until(lambda: scene.owner.last_commit(SHARD) == 1)
    assert (await scene.store.log(SHARD, call), await scene.store.read(SHARD, call)) == before
    assert before[0].count(b"") == 0


async def test_pending_requests_when_the_store_loses_all(scene: OwnerScene) -> None:
    """Requests that wait for a commit fail at once; buffered events are kept."""
    call = await scene.begin()
    scene.store.lose_all()
    request = asyncio.create_task(scene.service.hang_up(call, "api"))
    await asyncio.sleep(0)
    scene.node.shards[SLOT].pause()
    shard = scene.node.shards[SLOT]
    shard.feed(shard.calls[call], ReferReceived(f"{call}.l0", "1002"))
    await scene.owner.restore(SHARD, await scene.lease())
    async with asyncio.timeout(COMMIT_TIMEOUT_S / 2):
        with pytest.raises(StoreDown):
            await request
    shard = scene.node.shards[SLOT]
    assert [type(event) for _, event in shard.pause_buffer.events] == [ReferReceived]
    assert shard.pause_buffer.events[0][0] is shard.calls[call]


def of_later_version(state: bytes) -> bytes:
    """Return a stored call as a later version stores it, with a state that is unknown here."""
    fields = msgspec.msgpack.decode(state)
    fields[0][7] = ["queueing", 1]
    fields[3] = FORMAT + 1
    return msgspec.msgpack.encode(fields)


async def test_a_call_of_a_later_version_is_left_alone(scene: OwnerScene) -> None:
    """Its legs are neither hung up nor removed as orphans, whether or not its engine named them."""
    call = await scene.begin()
    await scene.owner.drain(SHARD)
    scene.owner.drop(SHARD)
    state = await scene.store.read(SHARD, call)
    assert state is not None
    stored = of_later_version(state)
    scene.store._shards[SHARD].live[call] = "pbx1", stored  # noqa: SLF001 - as its engine stored it
    await scene.owner.take(SHARD, await scene.lease())
    shard = scene.node.shards[SLOT]
    assert (shard.calls, scene.owner.required_format(SHARD)) == ({}, FORMAT + 1)
    assert scene.owner.unreadable_calls == 1
    entered = {**channel(f"{call}.l0", "Up"), "name": "PJSIP/trunk-00000001"}
    scene.pbx.shows["channels"] = Reply(200, msgspec.json.encode([entered]))
    before = list(scene.pbx.lines)
    scene.node.on_connected(SLOT)
    await until(lambda: not shard.is_paused)
    scene.node.on_event(SLOT, ari("StasisStart", channel=entered, args=["inbound"]))
    reaper = Reaper(scene.node, 1)
    for _ in range(3):
        await reaper.sweep()
    assert scene.pbx.lines == before
    assert await scene.live() == [call]
    scene.owner.drop(SHARD)
    assert (scene.owner.required_format(SHARD), scene.owner.unreadable_calls) == (0, 0)


async def test_the_call_of_a_later_version_cannot_be_read(scene: OwnerScene) -> None:
    """A request for it may be repeated; it is not an unknown call."""
    call = await scene.begin()
    state = await scene.store.read(SHARD, call)
    assert state is not None
    scene.owner.drop(SHARD)
    stored = of_later_version(state)
    scene.store._shards[SHARD].live[call] = "pbx1", stored  # noqa: SLF001 - as its engine stored it
    with pytest.raises(NoCapacity, match="later version"):
        await scene.service.read(call)


@pytest.mark.parametrize("offset_ms", [14_400_000, -14_400_000])
async def test_a_takeover_between_clocks_that_differ_by_hours(
    scene: OwnerScene, offset_ms: int
) -> None:
    """No deadline passes, and none is later: the call's times move to the new owner's clock."""
    call = await scene.begin()
    before = scene.node.shards[SLOT].calls[call]
    due_ms, armed_ms = deadline_ms(before.call), before.armed_ms
    assert due_ms is not None
    await scene.owner.drain(SHARD)
    scene.owner.drop(SHARD)
    scene.clock.offset_ms = offset_ms
    scene.clock.now += offset_ms
    await scene.owner.take(SHARD, await scene.lease())
    shard = scene.node.shards[SLOT]
    assert deadline_ms(shard.calls[call].call) == due_ms + offset_ms
    assert shard.calls[call].armed_ms in {0, armed_ms + offset_ms}

    async def is_stored() -> bool:
        state = await scene.store.read(SHARD, call)
        return state is not None and decode_stored_call(state).clock_offset_ms == offset_ms

    await until(is_stored, what="the moved times to be stored")


async def test_a_corrected_clock_moves_the_deadlines(scene: OwnerScene) -> None:
    """The engine's own calls, while they run."""
    call = await scene.begin()
    shard = scene.node.shards[SLOT]
    due_ms = deadline_ms(shard.calls[call].call)
    assert due_ms is not None
    scene.clock.now += 7_200_000
    scene.service.change_clock(7_200_000)
    live_call = shard.calls[call]
    assert deadline_ms(live_call.call) == due_ms + 7_200_000
    assert live_call.armed_ms == due_ms + 7_200_000


async def ended_in_a_gather(scene: OwnerScene) -> str:
    """Let a caller hang up in a gather; return the call, whose webhook is in flight."""
    gather = {"type": "gather", "data": {"maxDigits": 8}, "action": HTTPS}
    call = await scene.begin(gather)
    shard = scene.node.shards[SLOT]
    shard.feed(shard.calls[call], LegAnswered(f"{call}.l0"))
    shard.feed(shard.calls[call], LegEnded(f"{call}.l0", NORMAL))
    await until(lambda: bool(scene.factory.io.running), what="the webhook")
    return call


async def test_the_last_webhook_is_sent_by_the_next_owner(scene: OwnerScene) -> None:
    """Its call has ended; without a response the engine that died had perhaps not sent it."""
    call = await ended_in_a_gather(scene)
    (lost, _) = scene.factory.io.running.pop()
    scene.owner.drop(SHARD)
    await scene.owner.take(SHARD, await scene.lease())
    repeated, done = scene.factory.io.running.pop()
    assert isinstance(repeated, SendWebhook)
    assert repeated == lost
    done(ActionReceived(repeated.request, None))
    await scene.owner.drain(SHARD)
    assert await scene.store.unsent(SHARD) == {}
    assert scene.owner.calls(SHARD) == 0
    assert await scene.store.read(SHARD, call) is not None


async def test_a_last_webhook_with_a_response_is_not_repeated(scene: OwnerScene) -> None:
    """Another owner has nothing to send."""
    await ended_in_a_gather(scene)
    command, done = scene.factory.io.running.pop()
    done(ActionReceived(command.request, None))
    await scene.owner.drain(SHARD)
    scene.owner.drop(SHARD)
    await scene.owner.take(SHARD, await scene.lease())
    assert scene.factory.io.running == []


async def test_an_ended_call_that_is_not_kept_has_no_webhook(scene: OwnerScene) -> None:
    """It was erased, or its time is over."""
    call = await ended_in_a_gather(scene)
    scene.factory.io.running.clear()
    scene.owner.drop(SHARD)
    await scene.store.forget(SHARD, call)
    await scene.owner.take(SHARD, await scene.lease())
    await scene.owner.drain(SHARD)
    assert (scene.factory.io.running, await scene.store.unsent(SHARD)) == ([], {})
