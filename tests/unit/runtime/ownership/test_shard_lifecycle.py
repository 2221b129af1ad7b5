"""Shards that open and close with leases, over one store in memory."""

import asyncio

import msgspec
import pytest

from engine.calls.model.call_states import Ending
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegAnswered
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import ActionReceived
from engine.runtime.admission.node_selection import NoCapacity
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.policy.capacity_limits import TRUNK
from engine.runtime.shard.control_requests import NotOwner
from tests.harness.calls.builders import CHANNEL, HTTPS, outbound, say, tree
from tests.harness.runtime.owner_scene import SHARD, SLOT, OwnerScene
from tests.harness.store.documents import put_route
from tests.harness.until import until
from wire.rpc import NumberRoute
from wire.shard import ShardId

OTHER = ShardId("pbx1", 1)


async def test_a_taken_shard_is_listened_to(scene: OwnerScene) -> None:
    """Its shard is open and paused; the owner of the first one serves the node, too."""
    await scene.owner.take(SHARD, await scene.lease())
    await scene.owner.take(OTHER, await scene.lease(OTHER))
    await asyncio.sleep(0)
    assert sorted(scene.factory.notes) == ["hear pbx1 0", "hear pbx1 1"]
    assert scene.node.shards[SLOT].is_paused


async def test_calls_that_ended_while_nobody_looked(scene: OwnerScene) -> None:
    """The next owner knows when their legs were last seen, and that it is a new one."""
    await scene.begin()
    await scene.owner.drain(SHARD)
    scene.owner.drop(SHARD)
    token = await scene.store.claim(SHARD, "me", 0) or 0
    await scene.store.renew(SHARD, token, 0)
    scene.clock.offset_ms = 7
    await scene.owner.take(SHARD, await scene.lease())
    shard = scene.node.shards[SLOT]
    assert shard.last_seen_ms - 7 == await scene.store.last_seen_ms(SHARD) > 0
    assert shard.new_owner == "pbx-7"
    shard.resume()
    assert (shard.last_seen_ms, shard.new_owner) == (0, "")


async def test_calls_pass_from_owner_to_owner(scene: OwnerScene) -> None:
    """Calls of a dropped shard stay in the store, for its next owner."""
    call = await scene.begin()
    assert (scene.owner.calls(SHARD), scene.owner.calls_by_node()["pbx1"]) == (1, 1)
    await scene.owner.drain(SHARD)
    with pytest.raises(NotOwner):
        await scene.service.hang_up(call, "system")
    scene.owner.drop(SHARD)
    assert scene.service.releasing == set()
    await asyncio.sleep(0)
    assert (scene.service.live_calls, scene.node.shards) == (0, {})
    assert "no hear pbx1 0" in scene.factory.notes
    await scene.owner.take(SHARD, await scene.lease())
    assert [*scene.node.shards[SLOT].calls] == [call]


async def test_a_customers_response_moves_with_its_call(scene: OwnerScene) -> None:
    """A drain waits for webhooks in flight; the next owner continues after the response."""
    call = await scene.begin(HTTPS)
    shard = scene.node.shards[SLOT]
    shard.feed(shard.calls[call], LegAnswered(f"{call}.l0"))
    await until(lambda: bool(scene.factory.io.running), what="the webhook")
    command, done = scene.factory.io.running[0]
    draining = asyncio.create_task(scene.owner.drain(SHARD))
    await until(lambda: shard.is_paused)
    done(ActionReceived(command.request, None))
    await draining
    scene.owner.drop(SHARD)
    await scene.owner.take(SHARD, await scene.lease())
    live_call = scene.node.shards[SLOT].calls[call]
    assert isinstance(live_call.call.state, Ending)
    assert not [each for each in live_call.outbox.commands if isinstance(each, SendWebhook)]


async def test_a_slow_customer_does_not_delay_a_handover(scene: OwnerScene) -> None:
    """The next owner sends the webhook again, with the same id."""
    call = await scene.begin(HTTPS)
    shard = scene.node.shards[SLOT]
    shard.feed(shard.calls[call], LegAnswered(f"{call}.l0"))
    await until(lambda: bool(scene.factory.io.running), what="the webhook")
    await scene.owner.drain(SHARD)
    scene.owner.drop(SHARD)
    await scene.owner.take(SHARD, await scene.lease())
    live_call = scene.node.shards[SLOT].calls[call]
    assert [each for each in live_call.outbox.commands if isinstance(each, SendWebhook)]


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_channel_that_enters_during_a_handover_is_left(
    scene: OwnerScene, is_known: bool
) -> None:
    """If it were answered here, its call could not be stored any more."""
    await scene.begin()
    await put_route(scene.store, "+47", msgspec.json.encode(NumberRoute("acme", tree(say()))))
    shard, drained = scene.node.shards[SLOT], scene.owner.drain(SHARD)
    if is_known:
        await drained
        scene.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4799", "+47"))
    else:  # while its number's route is read
        scene.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4799", "+47"))
        await drained
    for _ in range(5):
        await asyncio.sleep(0)
    assert shard.find_by_channel(CHANNEL) is None
    assert not [line for line in scene.pbx.lines if CHANNEL in line]


async def test_a_pause(scene: OwnerScene) -> None:
    """A paused shard is not listened to; its calls stay in memory."""
    call = await scene.begin()
    scene.owner.pause(SHARD)
    await asyncio.sleep(0)
    assert "no hear pbx1 0" in scene.factory.notes
    assert scene.node.shards[SLOT].is_paused
    scene.owner.resume(SHARD)
    await until(lambda: scene.factory.notes.count("hear pbx1 0") == 2)
    assert [*scene.node.shards[SLOT].calls] == [call]
    scene.owner.resume(SHARD)
    await until(lambda: scene.factory.notes.count("no hear pbx1 0") == 2)
    scene.owner.pause(OTHER)
    scene.owner.resume(OTHER)
    assert scene.owner.calls(OTHER) == 0


async def test_a_hangup_while_the_node_is_disconnected_moves_with_the_shard(
    scene: OwnerScene,
) -> None:
    """It is stored when it is accepted, so the next owner ends the call."""
    call = await scene.begin()
    scene.node.pause_slot(SLOT)
    assert await scene.service.hang_up(call, "system")
    scene.owner.drop(SHARD)
    await scene.owner.take(SHARD, await scene.lease())
    live_call = scene.node.shards[SLOT].calls[call]
    assert isinstance(live_call.call.state, Ending)
    assert live_call.call.ended_by == "system"
    assert Hangup(f"{call}.l0", NORMAL) in live_call.outbox.commands


async def test_a_hangup_without_a_lease_is_rejected(scene: OwnerScene) -> None:
    """It could not be stored any more, and changes nothing."""
    call = await scene.begin()
    shard = scene.node.shards[SLOT]
    before = shard.calls[call].call
    scene.now_s = 10.0
    with pytest.raises(NoCapacity):
        await scene.service.hang_up(call, "system")
    assert shard.calls[call].call is before
    assert shard.pause_buffer.events == []


async def test_a_fenced_writer_suspects_the_lease(scene: OwnerScene) -> None:
    """Another engine has the shard."""
    await scene.begin()
    await scene.store.claim(SHARD, "me", 0)
    scene.node.shards[SLOT].start_call(outbound())
    await until(lambda: scene.suspects == [SHARD], what="the suspicion")


async def test_what_an_engine_tells_of_itself(scene: OwnerScene) -> None:
    """Its calls, its legs, and for how long it hears digits: a minute at most."""
    await scene.begin()
    assert scene.owner.heard_s() == {}
    scene.node.recent_digits.on_connected()
    for passed_ms, heard_s in ((2_900, 2), (57_099, 59), (60_000, 60)):
        scene.clock.now += passed_ms
        assert scene.owner.heard_s() == {"pbx1": heard_s}
    assert scene.owner.calls_by_node() == {"pbx1": 1, TRUNK: 1}
    assert scene.owner.account_uses() == {"acme": (1, 0, 1)}
    assert list(scene.owner.tokens()) == [SHARD]
    scene.now_s = 10.0
    assert scene.owner.tokens() == {}


async def test_a_drain_waits_until_the_pbx_has_the_commands(scene: OwnerScene) -> None:
    """For a moment: the next owner may take a prompt for heard."""
    call = await scene.begin(say())
    shard = scene.node.shards[SLOT]
    live_call = shard.calls[call]
    await until(lambda: live_call.is_busy, what="the request of the leg")
    draining = asyncio.create_task(scene.owner.drain(SHARD))
    await until(lambda: shard.is_paused)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not draining.done()
    scene.pbx.settle()
    await draining
    assert not live_call.is_busy
