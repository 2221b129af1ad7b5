"""Which legs count as calls over the trunk."""

from engine.calls.model.call import Call, update_leg
from engine.runtime.admission.capacity_limits import TrunkLegs
from tests.unit.calls.harness.builders import MAIN, bridged_call
from tests.unit.runtime.harness.shard_bench import ManualClock


def count(call: Call) -> int:
    return TrunkLegs(ManualClock(), lambda: [call]).count


def test_half_of_a_local_channel_is_no_call_over_the_trunk() -> None:
    """Its party's own leg counts in its own call."""
    call = bridged_call("+4722222222").call
    assert count(call) == 2
    assert count(update_leg(call, MAIN, replaces="1700000000.9")) == 1
