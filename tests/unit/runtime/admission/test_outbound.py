"""Outbound calls start in a shard that this engine still has, or another engine starts them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.outbound import OutboundCalls
from engine.runtime.base.context import EngineContext
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.shard.control_requests import NotOwner
from tests.harness.runtime.owner_scene import SHARD, OwnerScene
from tests.harness.runtime.shard_scene import ManualClock
from wire.call_id_format import call_id
from wire.rpc import Originate
from wire.shard import ShardId

OTHER = ShardId("pbx1", 1)

SHARDS = ShardMap(2, ["pbx1"])
REQUEST = Originate(
    account="acme", from_="+4721930000", to="+4722222222", request_id="request_0001"
)
Lookup = Callable[[str], Awaitable[None]]


async def no_target(_account: str) -> None:
    """Have no default target."""


def calls_of(scene: OwnerScene, default_target: Lookup = no_target) -> OutboundCalls:
    """Return what starts calls in the shards of a scene."""
    context = EngineContext(scene.store, ManualClock())
    return OutboundCalls(context, scene.service, AdmissionConfig(SHARDS, 3_600_000), default_target)


@pytest.fixture
async def scene() -> AsyncIterator[OwnerScene]:
    """Return the owner of a shard with one call."""
    made = OwnerScene()
    await made.begin()
    yield made
    await made.tasks.close()


async def test_a_shard_released_while_the_account_is_read(scene: OwnerScene) -> None:
    """Raises NotOwner, so that the new owner gets the request."""

    async def default_target(_account: str) -> None:
        scene.service.releasing.add(SHARD)

    with pytest.raises(NotOwner):
        await calls_of(scene, default_target).originate(REQUEST)


async def test_the_same_request_twice_at_once(scene: OwnerScene) -> None:
    """One call is started, although both wait for the account's target, and then for the store."""
    before = scene.service.live_calls

    async def default_target(_account: str) -> None:
        await asyncio.sleep(0)  # lets the other request begin

    calls = calls_of(scene, default_target)
    first, second = await asyncio.gather(calls.originate(REQUEST), calls.originate(REQUEST))
    assert first.id == second.id
    assert scene.service.live_calls == before + 1


async def test_a_request_whose_call_another_engine_may_start(scene: OwnerScene) -> None:
    """The engine with the call's shard decides, also after the number of slots has changed."""
    elsewhere = call_id(ShardId("pbx2", 63), "request_0001")
    await scene.store.reserve_request("request_0001", elsewhere)
    with pytest.raises(NotOwner) as raised:
        await calls_of(scene).originate(REQUEST)
    assert raised.value.shard == ShardId("pbx2", 63)


async def test_a_request_that_found_no_room(scene: OwnerScene) -> None:
    """Its repetition starts the call where there is room by then."""
    await scene.owner.take(OTHER, await scene.lease(OTHER))
    scene.node.shards[OTHER.slot].resume()
    await scene.store.reserve_request("request_0001", call_id(SHARD, "request_0001"))
    scene.node.pause_slot(SHARD.slot)
    call = await calls_of(scene).originate(REQUEST)
    assert call.id == call_id(OTHER, "request_0001")
    assert await calls_of(scene).originate(REQUEST) == call
    assert await scene.store.request_of("request_0001") == call.id
