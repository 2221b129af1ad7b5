"""Outbound calls start in a slot that this engine still has, or another engine starts them."""

import asyncio

import pytest

from engine.calls.model.call_id_format import slot_of
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.admission.outbound import OutboundCalls
from engine.runtime.base.context import EngineContext
from engine.runtime.shard.errors import NotOwner
from tests.unit.runtime.harness.owner_bench import SLOT, OwnerBench
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.rpc import Originate

SLOTS = 2


async def test_a_slot_released_while_the_account_is_read() -> None:
    """Raises NotOwner, so that the new owner gets the request."""
    bench = OwnerBench()
    await bench.begin()

    async def default_target(_account: str) -> None:
        bench.service.releasing.add(SLOT)

    context = EngineContext(bench.store, ManualClock())
    calls = OutboundCalls(context, bench.service, AdmissionConfig(SLOTS, 3_600_000), default_target)
    names = (f"request{number:04}" for number in range(100))
    name = next(each for each in names if slot_of(each, SLOTS) == SLOT)
    request = Originate(account="acme", from_="+4721930000", to="+4722222222", request_id=name)
    with pytest.raises(NotOwner) as elsewhere:
        await calls.originate(request)
    assert elsewhere.value.slot == SLOT
    await bench.tasks.close()


async def test_the_same_request_twice_at_once() -> None:
    """One call is started, although both wait for the account's target, and then for the store."""
    bench = OwnerBench()
    await bench.begin()
    before = bench.service.live_calls

    async def default_target(_account: str) -> None:
        await asyncio.sleep(0)  # lets the other request begin

    context = EngineContext(bench.store, ManualClock())
    calls = OutboundCalls(context, bench.service, AdmissionConfig(SLOTS, 3_600_000), default_target)
    names = (f"request{number:04}" for number in range(100))
    name = next(each for each in names if slot_of(each, SLOTS) == SLOT)
    request = Originate(account="acme", from_="+4721930000", to="+4722222222", request_id=name)
    first, second = await asyncio.gather(calls.originate(request), calls.originate(request))
    assert first.id == second.id
    assert bench.service.live_calls == before + 1
    await bench.tasks.close()
