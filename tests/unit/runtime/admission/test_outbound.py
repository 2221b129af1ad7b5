"""Calls that are made: in a slot that is this engine's when they begin, or handed on."""

import os

import pytest

from engine.calls.model.ids import slot_of
from engine.runtime.admission.outbound import OutboundCalls
from engine.runtime.admission.settings import CallIds, CallSettings
from engine.runtime.shard.commit_ack import NotOwner
from tests.unit.runtime.harness.owner_bench import SLOT, House
from tests.unit.runtime.harness.shard_bench import HandClock
from wire.rpc import Originate

SLOTS = 2


async def test_a_slot_that_goes_while_the_account_is_read() -> None:
    """The call is another engine's, who is asked in its place: no node is away."""
    house = House()
    await house.begin()

    async def told(_account: str) -> None:
        house.switch.releasing.add(SLOT)

    maker = OutboundCalls(
        house.switch, HandClock(), CallSettings(SLOTS, 3_600_000), CallIds(os.urandom), told
    )
    names = (f"request{number:04}" for number in range(100))
    name = next(each for each in names if slot_of(each, SLOTS) == SLOT)
    asked = Originate(account="acme", from_="+4721930000", to="+4722222222", request_id=name)
    with pytest.raises(NotOwner) as elsewhere:
        await maker.originate(asked)
    assert elsewhere.value.slot == SLOT
    await house.tasks.close()
