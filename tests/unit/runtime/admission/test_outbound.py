"""Calls that are made: in a slot that is this engine's when they begin, or handed on."""

import pytest

from engine.calls.model.ids import slot_of
from engine.runtime.admission.outbound import OutboundCalls
from engine.runtime.admission.settings import CallSettings
from engine.runtime.base.context import EngineContext
from engine.runtime.shard.commit_ack import NotOwner
from tests.unit.runtime.harness.owner_bench import SLOT, OwnerBench
from tests.unit.runtime.harness.shard_bench import ManualClock
from wire.rpc import Originate

SLOTS = 2


async def test_a_slot_that_goes_while_the_account_is_read() -> None:
    """The call is another engine's, who is asked in its place: no node is away."""
    bench = OwnerBench()
    await bench.begin()

    async def told(_account: str) -> None:
        bench.service.releasing.add(SLOT)

    context = EngineContext(bench.store, ManualClock())
    calls = OutboundCalls(context, bench.service, CallSettings(SLOTS, 3_600_000), told)
    names = (f"request{number:04}" for number in range(100))
    name = next(each for each in names if slot_of(each, SLOTS) == SLOT)
    request = Originate(account="acme", from_="+4721930000", to="+4722222222", request_id=name)
    with pytest.raises(NotOwner) as elsewhere:
        await calls.originate(request)
    assert elsewhere.value.slot == SLOT
    await bench.tasks.close()
