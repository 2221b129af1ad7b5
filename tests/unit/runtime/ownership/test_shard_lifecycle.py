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
from engine.runtime.admission.no_capacity import NoCapacity
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.shard.errors import NotOwner
from tests.harness.until import until
from tests.unit.calls.harness.builders import CHANNEL, HTTPS, outbound, say, tree
from tests.unit.runtime.harness.owner_bench import SHARD, SLOT, OwnerBench
from wire.rpc import NumberRoute
from wire.shard import ShardId

OTHER = ShardId("pbx1", 1)


async def test_a_taken_shard_is_listened_to(bench: OwnerBench) -> None:
    """Its shard is open and paused; the owner of the first one serves the node, too."""
    await bench.owner.take(SHARD, await bench.lease())
    await bench.owner.take(OTHER, await bench.lease(OTHER))
    await asyncio.sleep(0)
    assert sorted(bench.factory.notes) == ["hear pbx1 0", "hear pbx1 1"]
    assert bench.node.shards[SLOT].is_paused


async def test_calls_that_ended_while_nobody_looked(bench: OwnerBench) -> None:
    """The next owner knows when their legs were last seen."""
    await bench.begin()
    await bench.owner.drain(SHARD)
    bench.owner.drop(SHARD)
    token = await bench.store.claim(SHARD, "me", 0) or 0
    await bench.store.renew(SHARD, token, 0)
    await bench.owner.take(SHARD, await bench.lease())
    seen_ms = bench.node.shards[SLOT].last_seen_ms
    assert seen_ms == await bench.store.last_seen_ms(SHARD) > 0


async def test_calls_pass_from_owner_to_owner(bench: OwnerBench) -> None:
    """Calls of a dropped shard stay in the store, for its next owner."""
    call = await bench.begin()
    assert (bench.owner.calls(SHARD), bench.owner.calls_by_node()["pbx1"]) == (1, 1)
    await bench.owner.drain(SHARD)
    with pytest.raises(NotOwner):
        await bench.service.hang_up(call, "system")
    bench.owner.drop(SHARD)
    assert bench.service.releasing == set()
    await asyncio.sleep(0)
    assert (bench.service.live_calls, bench.node.shards) == (0, {})
    assert "no hear pbx1 0" in bench.factory.notes
    await bench.owner.take(SHARD, await bench.lease())
    assert [*bench.node.shards[SLOT].calls] == [call]


async def test_a_customers_response_moves_with_its_call(bench: OwnerBench) -> None:
    """A drain waits for webhooks in flight; the next owner continues after the response."""
    call = await bench.begin(HTTPS)
    shard = bench.node.shards[SLOT]
    shard.feed(shard.calls[call], LegAnswered(f"{call}.l0"))
    await until(lambda: bool(bench.factory.io.running), what="the webhook")
    command, done = bench.factory.io.running[0]
    draining = asyncio.create_task(bench.owner.drain(SHARD))
    await until(lambda: shard.is_paused)
    done(ActionReceived(command.request, None))
    await draining
    bench.owner.drop(SHARD)
    await bench.owner.take(SHARD, await bench.lease())
    live_call = bench.node.shards[SLOT].calls[call]
    assert isinstance(live_call.call.state, Ending)
    assert not [each for each in live_call.outbox if isinstance(each, SendWebhook)]


async def test_a_slow_customer_does_not_delay_a_handover(bench: OwnerBench) -> None:
    """The next owner sends the webhook again, with the same id."""
    call = await bench.begin(HTTPS)
    shard = bench.node.shards[SLOT]
    shard.feed(shard.calls[call], LegAnswered(f"{call}.l0"))
    await until(lambda: bool(bench.factory.io.running), what="the webhook")
    await bench.owner.drain(SHARD)
    bench.owner.drop(SHARD)
    await bench.owner.take(SHARD, await bench.lease())
    live_call = bench.node.shards[SLOT].calls[call]
    assert [each for each in live_call.outbox if isinstance(each, SendWebhook)]


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_channel_that_enters_during_a_handover_is_left(
    bench: OwnerBench, is_known: bool
) -> None:
    """If it were answered here, its call could not be stored any more."""
    await bench.begin()
    await bench.store.put_route("+47", msgspec.json.encode(NumberRoute("acme", tree(say()))))
    shard, drained = bench.node.shards[SLOT], bench.owner.drain(SHARD)
    if is_known:
        await drained
        bench.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4799", "+47"))
    else:  # while its number's route is read
        bench.service.handle_incoming(shard, IncomingChannel(CHANNEL, "+4799", "+47"))
        await drained
    for _ in range(5):
        await asyncio.sleep(0)
    assert shard.find_by_channel(CHANNEL) is None
    assert not [line for line in bench.pbx.lines if CHANNEL in line]


async def test_a_pause(bench: OwnerBench) -> None:
    """A paused shard is not listened to; its calls stay in memory."""
    call = await bench.begin()
    bench.owner.pause(SHARD)
    await asyncio.sleep(0)
    assert "no hear pbx1 0" in bench.factory.notes
    assert bench.node.shards[SLOT].is_paused
    bench.owner.resume(SHARD)
    await until(lambda: bench.factory.notes.count("hear pbx1 0") == 2)
    assert [*bench.node.shards[SLOT].calls] == [call]


async def test_a_hangup_while_the_node_is_disconnected_moves_with_the_shard(
    bench: OwnerBench,
) -> None:
    """It is stored when it is accepted, so the next owner ends the call."""
    call = await bench.begin()
    bench.node.pause_slot(SLOT)
    assert await bench.service.hang_up(call, "system")
    bench.owner.drop(SHARD)
    await bench.owner.take(SHARD, await bench.lease())
    live_call = bench.node.shards[SLOT].calls[call]
    assert isinstance(live_call.call.state, Ending)
    assert live_call.call.ended_by == "system"
    assert Hangup(f"{call}.l0", NORMAL) in live_call.outbox


async def test_a_hangup_without_a_lease_is_rejected(bench: OwnerBench) -> None:
    """It could not be stored any more, and changes nothing."""
    call = await bench.begin()
    shard = bench.node.shards[SLOT]
    before = shard.calls[call].call
    bench.now_s = 10.0
    with pytest.raises(NoCapacity):
        await bench.service.hang_up(call, "system")
    assert shard.calls[call].call is before
    assert shard.pause_buffer.events == []


async def test_a_fenced_writer_suspects_the_lease(bench: OwnerBench) -> None:
    """Another engine has the shard."""
    await bench.begin()
    await bench.store.claim(SHARD, "me", 0)
    bench.node.shards[SLOT].start_call(outbound())
    await until(lambda: bench.suspects == [SHARD], what="the suspicion")
